// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"testing"

	"github.com/utipc/utipc/frame"
)

// live is the number of packets that the memory keeps alive.
func (d *deferral) live() (n int) {
	for _, e := range d.memory[:cap(d.memory)] {
		if e.Message.Bytes() != nil {
			n++
		}
	}
	return n
}

// What is deferred for long, with packets coming behind as others have their turn, takes
// no more memory than it holds at a time, and keeps nothing that was taken out.
func TestDeferralReusesMemory(t *testing.T) {
	r := newScriptedPeer(t)
	m, b := r.packet(1, 0, "data")
	var d deferral
	for i := range 10_000 {
		stamp(b, frame.Seq(i), 0)
		if d.add(m, nil, nil) != deferredNow {
			t.Fatalf("packet %d: not deferred", i)
		}
		if i < 20 {
			continue
		}
		if _, ok := d.take(frame.Seq(i - 20)); !ok {
			t.Fatalf("packet %d: gone", i-20)
		}
		if live := d.live(); live != 20 || len(d.deferred()) != 20 {
			t.Fatalf("packet %d: got %d in memory, %d deferred, want 20", i, live, len(d.deferred()))
		}
	}
	if got := cap(d.memory); got > 64 {
		t.Errorf("got room for %d, want at most 64 for 20", got)
	}
	d.forget()
	if n := len(d.deferred()); n != 20 {
		t.Errorf("forget: got %d packets, want 20", n)
	}
	for i := range 20 {
		d.take(frame.Seq(10_000 - 20 + i))
	}
	if d.bytes != 0 || len(d.packets) != 0 || cap(d.packets) != cap(d.memory) {
		t.Errorf("empty: got %d bytes, %d packets, room for %d of %d", d.bytes, len(d.packets), cap(d.packets), cap(d.memory))
	}
	d.forget()
	if d.deferredPackets != nil {
		t.Error("forget: memory is kept")
	}
	stamp(b, 1, 0)
	d.add(m, nil, nil)
	if d.clear(); d.deferredPackets != nil {
		t.Error("clear: memory is kept")
	}
	b.Release()
}

// Packets come in any order, and only once.
func TestDeferralOrder(t *testing.T) {
	r := newScriptedPeer(t)
	m, b := r.packet(1, 0, "data")
	var d deferral
	for i := range 1000 {
		seq := frame.Seq(65000 + i*617%1000) // 617 and 1000 have no common factor
		for _, want := range []deferResult{deferredNow, deferredTwice} {
			stamp(b, seq, 0)
			if got := d.add(m, nil, nil); got != want {
				t.Fatalf("packet %d: got %v, want %v", seq, got, want)
			}
		}
	}
	for i := range 1000 {
		if _, ok := d.take(frame.Seq(65000 + i)); !ok {
			t.Fatalf("packet %d is not there", i)
		}
	}
	b.Release()
}
