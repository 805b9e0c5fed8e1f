// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"testing"

	"github.com/utipc/utipc/frame"
)

// Who sends without its turn is kept no more than half of what is left of the pool, and
// its share when that is less; and all of it comes back.
//
// Proves: hostile.bounded
func TestPoolLeavesRoom(t *testing.T) {
	r := newScriptedPeer(t)
	m, b := r.packet(1, 0, "data")
	pool := &Pool{Limit: 10 * poolShare}
	fill := func(d *deferral) (n int) {
		for i := range 5000 {
			stamp(b, frame.Seq(2*i), 0)
			if d.add(m, nil, pool) == deferredNow {
				n++
			}
		}
		return n * (len(m.Bytes()) + earlyCost)
	}
	all := make([]deferral, 9)
	left := pool.Limit
	for i := range all {
		got := fill(&all[i])
		if most := max(left/2, poolShare); got > most+200 || got < most-300 {
			t.Errorf("peer %d has %d bytes of %d that were left", i, got, left)
		}
		left -= got
		if pool.Used() != pool.Limit-left {
			t.Errorf("%d bytes are counted, want %d", pool.Used(), pool.Limit-left)
		}
	}
	for i := range all {
		all[i].take(frame.Seq(0))
		all[i].clear()
	}
	if pool.Used() != 0 {
		t.Errorf("%d bytes did not come back", pool.Used())
	}
	b.Release()
}

// Fragments that never end count, whatever they claim, and come back however it ends.
func TestPoolOfFragments(t *testing.T) {
	msg := whole(60_000)
	pool := &Pool{Limit: 20 * poolShare}
	var all [50]Reassembly
	for i := range all {
		all[i].SetPool(pool)
		for k := 0; k < 50_000; k += 1000 {
			typ := frame.MiddleFragment
			if k == 0 {
				typ = frame.FirstFragment
			}
			if _, _, err := all[i].Add(fragment(t, typ, msg[k:k+1000])); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := pool.Used(); got < 50*50_000 || got > 50*60_000 {
		t.Errorf("%d bytes are counted", got)
	}
	for i := range all {
		all[i].Clear()
	}
	if pool.Used() != 0 {
		t.Errorf("%d bytes did not come back", pool.Used())
	}
	x := &all[0]
	for _, last := range []int{1000, 2000} { // the whole, and too much
		msg := whole(5000)
		x.Add(fragment(t, frame.FirstFragment, msg[:1000]))
		x.Add(fragment(t, frame.MiddleFragment, msg[1000:4000]))
		if pool.Used() == 0 {
			t.Error("nothing is counted")
		}
		_, done, err := x.Add(fragment(t, frame.LastFragment, make([]byte, last)))
		if done == (err != nil) || pool.Used() != 0 {
			t.Errorf("%d bytes: done %v, %v; %d bytes did not come back", last, done, err, pool.Used())
		}
	}
}
