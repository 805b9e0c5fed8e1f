// SPDX-License-Identifier: Apache-2.0

//go:build !race

package daemon_test

import (
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
)

// A message costs no allocation: neither on its way into the node, nor out of it, over the
// socket and over the ring.
func TestMessageAllocatesNothing(t *testing.T) {
	b := newBed(t, daemon.Config{})
	for _, ring := range []bool{false, true} {
		p := b.program(t)
		own := p.socket(attach.KindRDM)
		if ring {
			p.useRing(0)
		}
		p.c.SetDeadline(time.Time{})
		h, in := attach.Header{Op: attach.OpSend, Addr: own}, attach.Header{}
		data, buf := make([]byte, 64), make([]byte, 100)
		trip := func() {
			if err := p.c.Write(&h, data); err != nil {
				t.Fatal(err)
			}
			if _, err := p.c.Read(&in, buf); err != nil {
				t.Fatal(err)
			}
		}
		for range 1000 {
			trip()
		}
		if got := testing.AllocsPerRun(3000, trip); got != 0 {
			t.Errorf("ring %v: %v allocations a message, want 0", ring, got)
		}
	}
}
