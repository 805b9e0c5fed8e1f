// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// What is held waits behind a window with room, and goes with Flush.
//
// Proves: link.bundles
func TestHoldAndFlush(t *testing.T) {
	r := newScriptedPeer(t, func(c *Config) { c.Alone, c.MinWindow, c.MaxWindow = false, 3, 3 }).up()
	hold := func(imp frame.Importance, data string) {
		t.Helper()
		if err := r.Hold(r.boxed(said(imp, data)), imp); err != nil {
			t.Fatal(err)
		}
	}
	r.Flush(0)
	wantLines(t, "nothing held", r.sent())
	hold(frame.Low, "a")
	wantLines(t, "held", r.sent())
	r.Flush(0)
	wantLines(t, "one alone needs no bundle", r.sent(), "a")
	hold(frame.Low, "b")
	hold(frame.Low, "c")
	hold(frame.High, "d")
	copy(r.Room(len(said(0, "e")), frame.High), said(frame.High, "e"))
	wantLines(t, "held", r.sent())
	r.say(frame.Low, "f")
	wantLines(t, "what does not wait cannot overtake, and takes all with it", r.sent(), "[b c f]", "[d e]")
	hold(frame.Low, "g")
	r.Flush(0)
	wantLines(t, "window full", r.sent())
	r.ack(1, 0)
	wantLines(t, "window open", r.sent(), "g")
	hold(frame.Low, "h")
	r.ack(3, 0)
	wantLines(t, "an acknowledgement flushes", r.sent(), "h")
	long := r.boxed(make([]byte, 1501))
	if err := r.Hold(long, frame.Low); err != ErrTooLong {
		t.Errorf("got %v, want %v", err, ErrTooLong)
	}
	long.Release()
	r.done()
}

// Where held messages fill the backlog behind a window with room, Flush makes room.
//
// Proves: link.bundles
func TestFlushTellsOfRoom(t *testing.T) {
	r := newScriptedPeer(t, func(c *Config) { c.Alone, c.MinWindow, c.MaxWindow = true, 4, 4 }).up()
	for range r.Limit(frame.Low) {
		if err := r.Hold(r.message(4), frame.Low); err != nil {
			t.Fatal(err)
		}
	}
	b := r.message(4)
	if err := r.Hold(b, frame.Low); err != ErrCongested {
		t.Errorf("got %v, want %v", err, ErrCongested)
	}
	b.Release()
	if e := r.TakeEvents(); e != 0 {
		t.Errorf("got %q before Flush", eventText(e))
	}
	r.Flush(0)
	if e := r.TakeEvents(); e != Room || r.Backlog() != 4 {
		t.Errorf("got %q with %d waiting, want room with 4", eventText(e), r.Backlog())
	}
	r.out()
	r.done()
}

// What one link bundles another takes apart, in order and across the wrap of the
// numbers; nothing is lost when every other packet is.
func TestBundlesBetweenLinks(t *testing.T) {
	r := newBundling(t, func(c *Config) { c.MinWindow, c.MaxWindow = 8, 8 }).at(65530, 1)
	other := newScriptedPeer(t).up().at(1, 65530)
	var want, got []string
	for i := range 400 {
		want = append(want, fmt.Sprint(i))
		r.say(frame.Low, want[i])
	}
	take := func(m frame.Message) {
		if m.User() != frame.UserBundler {
			got = append(got, string(m.Data()))
			return
		}
		u, err := frame.ParseBundle(m)
		if err != nil {
			t.Fatal(err)
		}
		for in, err := range u.Messages() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(in.Data()))
		}
	}
	for i := 0; r.Backlog()+r.Unacked() > 0 && i < 1000; i++ {
		for b := r.NextFrame(); b != nil; b = r.NextFrame() {
			m, err := frame.Parse(b.Bytes()[frame.EthernetLen:])
			if err != nil {
				t.Fatal(err)
			}
			if i++; m.User() != frame.UserLink && i%2 == 0 {
				if other.HandlePacket(r.now, m, b) == Deliver {
					take(m)
					for p, ok := other.Next(r.now); ok; p, ok = other.Next(r.now) {
						take(p.Message)
						p.Release()
					}
				}
			}
			b.Release()
		}
		other.discard()
		r.now += 2 * time.Millisecond
		r.ack(other.rcvNxt-1, 8)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %d messages %v, want %d in order", len(got), got, len(want))
	}
	if r.SentBundles == 0 || r.Retransmits == 0 || r.SentPackets > 40 {
		t.Errorf("got %d bundles, %d repeated, %d packets; want some, some, few", r.SentBundles, r.Retransmits, r.SentPackets)
	}
	r.discard()
	r.done()
	other.done()
}
