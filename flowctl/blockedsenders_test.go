// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// full fills the backlog of an importance and has n more messages turned away.
func (r *scriptedPeer) full(imp frame.Importance, n int) *scriptedPeer {
	r.t.Helper()
	for !r.Link.Congested(imp) {
		if err := r.Send(r.now, r.message(4), imp); err != nil {
			r.t.Fatal(err)
		}
	}
	for range n {
		b := r.message(4)
		if r.Send(r.now, b, imp) != ErrCongested {
			r.t.Fatal("taken")
		}
		b.Release()
	}
	r.discard()
	return r
}

type rooms = [frame.System + 1]int

// Room is told for each importance in packets.
//
// Proves: link.importance
func TestTakeRoom(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.full(frame.Low, 3)
	if got := r.TakeRoom(); got != (rooms{}) {
		t.Errorf("before: got %v, want none", got)
	}
	r.ack(4, 0)
	if e := r.TakeEvents(); e != Room {
		t.Fatalf("got %q, want room", eventText(e))
	}
	r.ack(7, 0)
	if e := r.TakeEvents(); e != 0 {
		t.Errorf("got %q, want room once", eventText(e))
	}
	if got, want := r.TakeRoom(), (rooms{7}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := r.TakeRoom(); got != (rooms{}) {
		t.Errorf("again: got %v, want none", got)
	}
	r.discard()
}

// Each importance has its own room: medium is congested no longer, low still is.
func TestTakeRoomOfEach(t *testing.T) {
	r := newScriptedPeer(t, func(c *Config) { c.MinWindow, c.MaxWindow = 1, 1 }).up()
	defer r.done()
	r.full(frame.Medium, 1)
	r.full(frame.Low, 1)
	r.ack(2, 0) // two of medium leave
	r.ack(1, 0)
	if got, want := r.TakeRoom(), (rooms{frame.Medium: 1}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	for a := frame.Seq(2); r.Backlog() > 0; a++ {
		r.ack(a, 0)
		r.discard()
	}
	if got, want := r.TakeRoom(), (rooms{frame.Low: 2}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Nobody's wake-up is lost: neither when somebody was faster, nor when there was room
// for some only.
//
// Proves: link.importance
func TestNoLostRoom(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.full(frame.Low, 3)
	r.ack(1, 0)
	r.TakeEvents()
	r.send(1) // somebody else takes the room before the owner looks
	r.discard()
	if got := r.TakeRoom(); got != (rooms{}) {
		t.Errorf("got %v, want none left", got)
	}
	r.ack(2, 0)
	if e := r.TakeEvents(); e != Room {
		t.Errorf("somebody was faster: got %q, want room", eventText(e))
	}
	if got := r.TakeRoom(); got != (rooms{1}) {
		t.Errorf("got %v, want room for one", got)
	}
	r.send(1)
	r.Want(0, frame.Low) // two more wait
	if e := r.TakeEvents(); e != 0 {
		t.Errorf("without room: got %q", eventText(e))
	}
	r.ack(3, 0)
	if e := r.TakeEvents(); e != Room || r.TakeRoom() != (rooms{1}) {
		t.Errorf("more wait: got %q, want room for one", eventText(e))
	}
	r.Want(0, frame.Low) // there is room already
	if e := r.TakeEvents(); e != Room || r.TakeRoom() != (rooms{1}) {
		t.Errorf("room at once: got %q, want room for one", eventText(e))
	}
	r.discard()
}

// Time blocked is the time during which anybody was turned away.
//
// Proves: link.statistics
func TestTimeBlocked(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.now = 5 * time.Millisecond
	r.full(frame.Low, 2)
	r.now = 7 * time.Millisecond
	r.full(frame.High, 1)
	if got := r.Statistics(8 * time.Millisecond).Blocked; got != 3*time.Millisecond {
		t.Errorf("so far: got %v, want 3ms", got)
	}
	r.now = 9 * time.Millisecond
	r.ack(1, 0) // the first of the backlog is of low importance
	if got := r.Statistics(r.now).Blocked; got != 4*time.Millisecond {
		t.Errorf("one of two: got %v, want 4ms", got)
	}
	r.now = 20 * time.Millisecond
	for a := frame.Seq(2); r.Backlog() > 0; a++ {
		r.ack(a, 0)
		r.discard()
	}
	r.now = 30 * time.Millisecond
	if got := r.Statistics(r.now).Blocked; got != 15*time.Millisecond || r.Blocked != got {
		t.Errorf("in the end: got %v, want 15ms", got)
	}
	r.full(frame.Low, 1)
	r.now = 32 * time.Millisecond
	r.ResetStatistics(r.now)
	if got := r.Statistics(33 * time.Millisecond).Blocked; got != time.Millisecond {
		t.Errorf("after ResetStatistics: got %v, want 1ms", got)
	}
	r.Fail()
	r.Restart(40 * time.Millisecond)
	if got := r.Statistics(50 * time.Millisecond).Blocked; got != 8*time.Millisecond {
		t.Errorf("after a reset: got %v, want 8ms", got)
	}
	r.discard()
}
