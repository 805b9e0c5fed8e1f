// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"bytes"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// The record stands in every STATE where both ends announce it, and in none else.
//
// Proves: replay.found
func TestGapAckRecord(t *testing.T) {
	for _, c := range []struct {
		name string
		own  frame.Capabilities
		want []byte
	}{
		{"announced by both", frame.CapGapAckBlock, []byte{0, 4, 0, 0}},
		{"announced by the peer", 0, nil},
	} {
		r := newScriptedPeer(t, func(k *Config) { k.Capabilities = c.own }).up()
		r.SetCapabilities(allCaps | frame.CapGapAckBlock)
		r.Report(0)
		b := r.NextFrame()
		if got := parseLink(t, b.Bytes()[frame.EthernetLen:]).Data(); !bytes.Equal(got, c.want) {
			t.Errorf("%s: got %x, want %x", c.name, got, c.want)
		}
		b.Release()
		for _, record := range []struct {
			data []byte
			ok   bool
		}{
			{nil, c.want == nil},
			{[]byte{0, 4, 0}, c.want == nil},
			{[]byte{0, 4, 0, 0}, true},
			{[]byte{0, 8, 1, 0, 0, 9, 0, 0}, true},
			{[]byte{0, 8, 1, 0, 0, 9, 0}, c.want == nil},
			{[]byte{0, 4, 0, 0, 0, 16, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, true}, // a domain record behind it
		} {
			f := frame.StateFields{Common: frame.Common{Seq: r.rcvNxtState, Prev: peer}}
			f.LinkInfo = frame.LinkInfo{Session: 700, NextSent: 1, Orig: peer, Dest: self}
			if got := r.Accept(parseLink(t, f.Append(nil, record.data))); got != record.ok {
				t.Errorf("%s: STATE with %x: got accepted %v, want %v", c.name, record.data, got, record.ok)
			}
		}
		r.done()
	}
}

// A new priority is told once (capture 20, frame 28).
//
// Proves: replay.found
func TestSetPriority(t *testing.T) {
	r := newScriptedPeer(t)
	defer r.done()
	r.SetPriority(0, 7) // nobody to tell
	wantLines(t, "before the link is up", r.out())
	r.up()
	r.SetPriority(0, 15)
	r.SetPriority(0, 99)
	r.Report(0)
	wantLines(t, "told", r.out(),
		"link/state next=1 session=100 priority=15 seq=2 ack=0",
		"link/state next=1 session=100 priority=31 seq=3 ack=0",
		"link/state next=1 session=100 seq=4 ack=0")
	if r.Priority() != 31 {
		t.Errorf("got %d, want 31", r.Priority())
	}
}

// A tick that is served late moves the ones behind it, as in the kernel.
//
// Proves: replay.found
func TestTickCountsFromWhenItIsServed(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.HandleTimeout(500 * time.Millisecond)
	if got, want := r.Deadline(), 875*time.Millisecond; got != want {
		t.Errorf("next tick: got %v, want %v", got, want)
	}
	r.HandleTimeout(800 * time.Millisecond) // early: nothing
	r.Tick(810 * time.Millisecond)          // not due, but asked for
	if got, want := r.Deadline(), 1185*time.Millisecond; got != want {
		t.Errorf("behind a tick: got %v, want %v", got, want)
	}
}

// A reset does not make the next tick forget how many packets there were: with as
// many in the new session the tick probes (captures 20 and 21), with more or fewer
// it does not (capture 11, frame 66).
//
// Proves: replay.found
func TestCheckpointOutlivesReset(t *testing.T) {
	for _, c := range []struct {
		sent int
		want bool
	}{{2, true}, {1, false}, {3, false}} {
		r := newScriptedPeer(t).up()
		r.send(2)
		r.ack(2, 0)
		r.Tick(0)
		r.Fail()
		r.TakeEvents()
		r.Restart(0)
		r.up()
		r.send(c.sent)
		r.out()
		r.Tick(0)
		b := r.NextFrame()
		if b == nil {
			t.Fatalf("%d packets: no STATE", c.sent)
		}
		if s, _ := parseLink(t, b.Bytes()[frame.EthernetLen:]).State(); s.Probe() != c.want {
			t.Errorf("%d packets in the new session, 2 in the old: got probe %v, want %v", c.sent, s.Probe(), c.want)
		}
		b.Release()
		r.done()
	}
}
