// SPDX-License-Identifier: Apache-2.0

package cores

import (
	"context"
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
)

// Every shape is measured, from one goroutine and from several, and the samples are of those they
// should be.
//
// Mutations it catches: labelled sets no label, or the sender's for all; send sends to the first peer alone; drained
// leaves the allowances taken; a round does not add its samples.
//
// Proves: bench.cores
func TestMeasure(t *testing.T) {
	p := Plan{Rounds: 1, For: 5 * time.Millisecond, Samples: 5, Goroutines: []int{3}}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	points := p.points()
	if err := measure(ctx, p, points, memory); err != nil {
		t.Fatal(err)
	}
	var all samples
	for _, x := range points {
		if len(x.rates) == 0 || slices.Min(x.rates) <= 0 || x.cpu <= 0 || x.messages < allowance {
			t.Errorf("%s: got rates %v, %v messages, %v of processor time", x.what(x.goroutines), x.rates, x.messages, x.cpu)
		}
		if x.samples.sender < p.Samples {
			t.Errorf("%s: got %+v, want %d samples of the sender", x.what(x.goroutines), x.samples, p.Samples)
		}
		all.add(x.samples)
	}
	if len(points) != len(shapes) || all.held == 0 || all.peers == 0 || all.sender < all.held || all.all < all.sender+all.peers {
		t.Errorf("got %d points, and of all %+v", len(points), all)
	}
}

// A message that is not the next of its goroutine is found.
//
// Mutation it catches: read compares no numbers.
//
// Proves: bench.cores
func TestWrongOrderIsFound(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := openCluster(ctx, must.Get(memory()))
	if err != nil {
		t.Fatal(err)
	}
	s := must.Get(c.nodes[0].ListenPacket(ctx, "tipcrdm", nil))
	var b [size]byte
	binary.BigEndian.PutUint64(b[8:], 1)
	if _, err := s.WriteTo(b[:], service(0)); err != nil {
		t.Fatal(err)
	}
	s.Close()
	for c.readers[0].wrong.Load() == 0 && ctx.Err() == nil {
		runtime.Gosched()
	}
	if err := c.close(); err == nil || !strings.Contains(err.Error(), "1 messages were lost") {
		t.Errorf("got %v", err)
	}
}
