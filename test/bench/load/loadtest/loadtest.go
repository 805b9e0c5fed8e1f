// SPDX-License-Identifier: Apache-2.0

// Package loadtest checks that two Loads are the ends of one measurement.
package loadtest

import (
	"context"
	"testing"
	"time"

	"github.com/utipc/utipc/test/bench/load"
)

// deadline is for one measurement.
const deadline = 2 * time.Minute

// Run runs j at both ends, as Ping and Pong or as Send and Receive, and returns what
// they have measured. a is the end that asks or sends.
func Run(t *testing.T, a, b load.Load, oneWay bool, j load.Job) (ra, rb load.Result) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	measures, serves := a, b
	jm, js := j, j
	jm.Kind, js.Kind = load.Ping, load.Pong
	if oneWay {
		measures, serves = b, a
		jm.Kind, js.Kind = load.Receive, load.Send
	}
	stop, done := context.WithCancel(ctx)
	type outcome struct {
		r   load.Result
		err error
	}
	served := make(chan outcome, 1)
	go func() {
		r, err := serves.Run(stop, js)
		served <- outcome{r, err}
	}()
	rm, err := measures.Run(ctx, jm)
	done()
	s := <-served
	if err != nil || s.err != nil {
		t.Fatalf("%s: %v; %s: %v", jm.Kind, err, js.Kind, s.err)
	}
	if ctx.Err() != nil {
		t.Fatalf("%s: not done within %v, %+v", jm.Kind, deadline, rm)
	}
	if oneWay {
		return s.r, rm
	}
	return rm, s.r
}

// Check runs round trips and then one way, twice, and looks at the results.
func Check(t *testing.T, a, b load.Load, j load.Job) {
	t.Helper()
	for j.Round = 1; j.Round <= 2; j.Round++ {
		if j.Per == 0 {
			r, _ := Run(t, a, b, false, j)
			if r.Count == 0 || r.P50 <= 0 || r.P50 > r.P99 || r.Elapsed <= 0 {
				t.Errorf("round trips: got %+v", r)
			}
		}
		sent, got := Run(t, a, b, true, j)
		if got.Count == 0 || got.Elapsed < j.For || got.Count > sent.Count {
			t.Errorf("one way: got %+v of %+v sent", got, sent)
		}
		// Of a stream, the first and the last message may be parts.
		if off := int64(got.Bytes) - int64(got.Count)*int64(j.Size); off <= -int64(j.Size) || off >= int64(j.Size) {
			t.Errorf("one way: got %d bytes of %d messages of %d", got.Bytes, got.Count, j.Size)
		}
	}
}
