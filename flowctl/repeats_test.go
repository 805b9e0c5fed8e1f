// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// Repeats tells of what is under way, across the wrap, and of nothing else.
func TestRepeats(t *testing.T) {
	for _, first := range []frame.Seq{1, 65534} {
		r := newScriptedPeer(t).up().at(first, 1)
		r.send(5)
		r.now += time.Second
		r.ack(first, 2) // the first came, the next two did not
		r.now += time.Second
		r.ack(first+1, 1)
		got := [7]int{}
		for i := range got {
			got[i] = r.Repeats(first + frame.Seq(i) - 1)
		}
		if want := [7]int{0, 0, 0, 2, 0, 0, 0}; got != want {
			t.Errorf("from %d on: got %v, want %v", first-1, got, want)
		}
		r.out()
		r.done()
	}
}
