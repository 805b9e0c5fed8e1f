// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// fragments are n packets of one message.
func (r *scriptedPeer) fragments(n int) (all []*netdev.Buffer) {
	for range n {
		b := r.message(4)
		b.Bytes()[frame.EthernetLen] = b.Bytes()[frame.EthernetLen]&^0x1e | byte(frame.UserFragment)<<1
		all = append(all, b)
	}
	return all
}

// All packets of a message are taken where the first finds room, as a kernel takes them,
// and none where it does not.
func TestSendAllLooksOnce(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.send(50 + 99)
	if err := r.SendAll(0, r.fragments(40), frame.Low); err != nil {
		t.Errorf("with room for one: got %v", err)
	}
	if got := r.Look().Waiting[frame.Low]; got != 139 {
		t.Errorf("got %d waiting, want 139", got)
	}
	more := r.fragments(2)
	if err := r.SendAll(0, more, frame.Low); err != ErrCongested || r.Look().Waiting[frame.Low] != 139 || r.Look().TurnedAway != [5]bool{true} {
		t.Errorf("without: got %v, %d waiting, turned away %v", err, r.Look().Waiting[frame.Low], r.Look().TurnedAway)
	}
	for _, b := range more {
		b.Release() // they stay the caller's
	}
	if r.SentFragmented != 1 || r.SentFragments != 40 {
		t.Errorf("counted: got %d messages in %d packets, want 1 in 40", r.SentFragmented, r.SentFragments)
	}
	r.discard()
	for a := frame.Seq(1); a <= 39; a++ {
		if r.ack(a, 0); r.TakeEvents() != 0 {
			t.Fatalf("room at %d", a)
		}
		r.discard()
	}
	if r.ack(40, 0); r.TakeEvents() != Room {
		t.Error("no room when the limit is passed")
	}
	r.discard()
}

// One packet that is too long refuses all.
func TestSendAllTooLong(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	all := append(r.fragments(2), r.message(1500))
	if err := r.SendAll(0, all, frame.Low); err != ErrTooLong || r.Unacked() != 0 {
		t.Errorf("got %v, %d sent, want %v, 0", err, r.Unacked(), ErrTooLong)
	}
	for _, b := range all {
		b.Release()
	}
}

// The packets follow each other whatever was held before and comes behind, and share
// with no message.
//
// Proves: link.long
func TestSendAllIsConsecutive(t *testing.T) {
	for _, held := range []bool{false, true} {
		r := newScriptedPeer(t, func(c *Config) { c.Alone, c.MinWindow, c.MaxWindow = false, 3, 3 }).up()
		want := []frame.User{frame.UserFragment, frame.UserFragment, frame.UserFragment, frame.UserFragment, frame.UserLow}
		if held {
			if err := r.Hold(r.message(4), frame.Low); err != nil {
				t.Fatal(err)
			}
			want = slices.Insert(want, 0, frame.UserLow)
		}
		if err := r.SendAll(0, r.fragments(4), frame.Low); err != nil {
			t.Fatal(err)
		}
		if r.Unacked() != 3 {
			t.Errorf("held %v: got %d sent at once, want a window", held, r.Unacked())
		}
		if err := r.Send(0, r.message(4), frame.Low); err != nil {
			t.Fatal(err)
		}
		got := r.users()
		if len(got) != 3 {
			t.Errorf("held %v: got %v before anything is acknowledged, want a window", held, got)
		}
		r.ack(3, 0)
		if got = append(got, r.users()...); !slices.Equal(got, want) {
			t.Errorf("held %v: got %v, want %v", held, got, want)
		}
		r.done()
	}
}

// What goes without admission is counted, and shares with nobody.
func TestSendUnlimited(t *testing.T) {
	r := newScriptedPeer(t, func(c *Config) { c.Alone, c.MinWindow, c.MaxWindow = false, 2, 2 }).up()
	defer r.done()
	r.full(frame.Critical, 0)
	n := r.Look().Waiting[frame.Critical]
	for range 3 {
		r.sendUnlimited(0, r.message(4), frame.Critical)
	}
	if got := r.Look().Waiting[frame.Critical]; got != n+3 || !r.Link.Congested(frame.Critical) {
		t.Errorf("got %d waiting, want %d", got, n+3)
	}
	if err := r.Hold(r.message(4), frame.Low); err != nil {
		t.Fatal(err)
	}
	if r.Room(40, frame.Low) == nil {
		t.Fatal("no message may share the packet that is held")
	}
	r.sendUnlimited(0, r.message(4), frame.Low)
	if r.Room(40, frame.Low) != nil {
		t.Error("a message may overtake")
	}
	for r.Unacked() > 0 {
		r.ack(r.sndNxt-1, 0)
		r.discard()
	}
	r.sendUnlimited(0, r.message(4), frame.Critical)
	if r.Unacked() != 1 || len(r.seqs()) != 1 {
		t.Errorf("with an open window: got %d under way, want 1", r.Unacked())
	}
}
