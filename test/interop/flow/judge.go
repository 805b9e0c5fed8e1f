// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"bytes"

	"github.com/utipc/utipc/test/interop/pattern"
)

// A Verdict says what became of a stream's messages.
type Verdict struct {
	Messages  int // received as they were sent, each once
	Bytes     int
	Lost      int
	Doubled   int
	Reordered int // received after a later one
	Corrupt   int // received, but no message of the stream
}

// Whole reports whether everything arrived, once, in order.
func (v Verdict) Whole() bool { return v.Lost+v.Doubled+v.Reordered+v.Corrupt == 0 }

// A judge compares what arrives with the plan.
type judge struct {
	plan    Plan
	want    uint32 // the next message
	missing map[uint32]bool
	scratch []byte
	Verdict
}

// horizon is how far ahead a message too short to carry its number is looked for.
const horizon = 64

func newJudge(p Plan) *judge {
	return &judge{plan: p, missing: map[uint32]bool{}, scratch: make([]byte, p.Longest)}
}

// take judges one message.
func (j *judge) take(b []byte) {
	seq, ok := j.identify(b)
	switch {
	case !ok:
		j.Corrupt++
		return
	case seq >= j.want:
		for ; j.want < seq; j.want++ {
			j.missing[j.want] = true
		}
		j.want++
	case j.missing[seq]:
		delete(j.missing, seq)
		j.Reordered++
	default:
		j.Doubled++
		return
	}
	j.Messages++
	j.Bytes += len(b)
}

// identify finds the number of a message.
func (j *judge) identify(b []byte) (seq uint32, ok bool) {
	if len(b) >= pattern.HeaderLen {
		seq, err := pattern.Check(b)
		return seq, err == nil && seq < j.want+1<<20 && j.plan.Size(seq) == len(b)
	}
	for seq := j.want; seq < j.want+horizon; seq++ {
		if j.is(seq, b) {
			return seq, true
		}
	}
	for seq := j.want; seq > 0 && seq+horizon > j.want; {
		if seq--; j.is(seq, b) {
			return seq, true
		}
	}
	return 0, false
}

// is reports whether b is the message with the number seq.
func (j *judge) is(seq uint32, b []byte) bool {
	if j.plan.Size(seq) != len(b) {
		return false
	}
	pattern.Fill(j.scratch[:len(b)], seq)
	return bytes.Equal(b, j.scratch[:len(b)])
}

// finish judges a stream that had total messages.
func (j *judge) finish(total uint32) Verdict {
	v := j.Verdict
	v.Lost = len(j.missing)
	if total > j.want {
		v.Lost += int(total - j.want)
	}
	return v
}
