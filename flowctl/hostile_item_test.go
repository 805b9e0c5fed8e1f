// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// More of the items of docs/spec/02-link.md §12.

// Item 1: a RESET has a name of 16 bytes behind a header of 40, or it is none; the name
// ends at its NUL or after 15 bytes, and shows no byte that does not print.
//
// Proves: hostile.docs
func TestHostileItem1ShortReset(t *testing.T) {
	whole := reset(nil)
	for n := range len(whole) {
		if n >= frame.ShortLen { // the size field follows, or Parse has the say
			b := bytes.Clone(whole[:n])
			b[2], b[3] = 0, byte(n)
			if m, err := frame.Parse(b); err == nil {
				if _, err = frame.ParseLink(m); err == nil {
					t.Errorf("a RESET of %d bytes is taken", n)
				}
			}
		}
		if _, err := frame.Parse(whole[:n]); err == nil {
			t.Errorf("a RESET cut to %d bytes is taken", n)
		}
	}
	for name, want := range map[string]string{
		"eth0\x00garbage":    "eth0",
		"0123456789abcdefgh": "0123456789abcde",
		"a\x1b[31m\n\xff":    "a.[31m..",
		"":                   "",
	} {
		r := newScriptedPeer(t)
		r.hear(reset(func(f *frame.ResetFields) { f.IfName = [frame.IfNameLen]byte{}; copy(f.IfName[:], name) }))
		if r.peerIf != want || len(r.Name("525400aa0001", "525400ab0001")) > 67 {
			t.Errorf("interface %q: got %q, want %q", name, r.peerIf, want)
		}
		r.done()
	}
}

// Item 2: no MTU of a peer raises ours, and none below the least is believed, whatever
// else the message says.
//
// Proves: hostile.docs
func TestHostileItem2MTU(t *testing.T) {
	for _, c := range []struct{ says, want int }{
		{0, 1500}, {4, 1500}, {96, 1500}, {100, 100}, {1496, 1496}, {1500, 1500}, {1504, 1500}, {9000, 1500}, {65532, 1500},
	} {
		r := newScriptedPeer(t)
		r.hear(reset(func(f *frame.ResetFields) { f.MaxPacket, f.Tolerance, f.Priority = c.says, 100, 31 }))
		taken := c.says >= frame.MinMTU
		if r.MTU() != c.want || (r.State() == Establishing) != taken || (r.Tolerance() == DefaultTolerance) == taken || (r.Priority() == 10) == taken {
			t.Errorf("max packet %d: got MTU %d, %v, %v, %d", c.says, r.MTU(), r.State(), r.Tolerance(), r.Priority())
		}
		r.done()
	}
	r := newScriptedPeer(t).up() // nor an ACTIVATE of the session while the link is up
	defer r.done()
	for _, says := range []int{0, 96, 9000} {
		r.hear(activate(func(f *frame.ResetFields) { f.MaxPacket = says }))
		if r.MTU() != 1500 || !r.IsUp() {
			t.Errorf("ACTIVATE with max packet %d: got MTU %d, up %v", says, r.MTU(), r.IsUp())
		}
	}
}

// Item 3: a tolerance or priority out of its range is not adopted, and not that of
// another session; the link stays up.
//
// Proves: hostile.docs
func TestHostileItem3ToleranceAndPriority(t *testing.T) {
	for _, tol := range []uint16{1, 49, 30001, 65535} {
		r := newScriptedPeer(t).up()
		r.hear(r.stateMsg(func(f *frame.StateFields) { f.Tolerance = tol }))
		if got := r.Tolerance(); got != DefaultTolerance || !r.IsUp() {
			t.Errorf("tolerance %d: got %v, up %v", tol, got, r.IsUp())
		}
		r.done()
	}
	r := newScriptedPeer(t)
	r.hear(reset(func(f *frame.ResetFields) { f.Tolerance, f.Priority = 30001, 9 })) // a RESET's only upwards
	if r.Tolerance() != DefaultTolerance || r.Priority() != 10 {
		t.Errorf("RESET: got %v, %d", r.Tolerance(), r.Priority())
	}
	r.done()
	r = newScriptedPeer(t).up()
	defer r.done()
	for s := range frame.Seq(500) {
		r.hear(r.stateMsg(func(f *frame.StateFields) { f.Session, f.Priority, f.Tolerance = 701+s, 31, 50 }))
	}
	if r.Rejected != 500 || !r.IsUp() || r.Priority() != 10 || r.Tolerance() != DefaultTolerance {
		t.Errorf("forged: got %d refused, up %v, %d, %v", r.Rejected, r.IsUp(), r.Priority(), r.Tolerance())
	}
	for _, prio := range []uint8{0, 10} { // no change
		r.hear(r.stateMsg(func(f *frame.StateFields) { f.Priority = prio }))
		if !r.IsUp() {
			t.Errorf("priority %d takes the link down", prio)
		}
	}
}

// Item 4: the broadcast half of a record is skipped over, however long, and the unicast
// blocks behind it count; nothing is read past the data.
//
// Proves: hostile.docs
func TestHostileItem4BroadcastHalf(t *testing.T) {
	r := newGapAckPeer(t)
	defer r.done()
	r.send(10)
	r.seqs()
	hear := func(record []byte, ack frame.Seq, gap int) {
		s, _ := parseLink(t, r.stateMsg(func(f *frame.StateFields) { f.Ack, f.Gap = ack, gap })).State()
		f := s.Fields()
		r.hear(f.Append(nil, record))
		r.out()
	}
	// 64 broadcast blocks of anything, then <5, 0> of ours.
	record := []byte{1, 8, 1, 64}
	for i := range 64 {
		record = append(record, byte(i*37), byte(i), 255, byte(i))
	}
	record = append(record, 0, 5, 0, 0)
	hear(record, 0, 2)
	if r.Unacked() != 7 || r.BadBlocks != 0 || !r.IsUp() {
		t.Errorf("64 broadcast blocks: got %d unacknowledged, %d refused", r.Unacked(), r.BadBlocks)
	}
	// More broadcast blocks than a record may have, and fewer than it claims.
	for _, record := range [][]byte{{0, 8, 0, 255, 0, 9, 0, 0}, {0, 12, 1, 255, 0, 9, 0, 0, 0, 9, 0, 0}, {0, 8, 2, 1, 0, 9, 0, 0, 0, 9, 0, 0}} {
		hear(record, 0, 2)
		if !r.IsUp() || r.Unacked() < 5 {
			t.Errorf("record % x: got %d unacknowledged, up %v", record, r.Unacked(), r.IsUp())
		}
	}
}

// Item 10: bearer and plane are 3 bits, and no index: every value is taken.
//
// Proves: hostile.docs
func TestHostileItem10BearerAndPlane(t *testing.T) {
	for x := range uint8(8) {
		r := newScriptedPeer(t)
		r.hear(reset(func(f *frame.ResetFields) { f.Bearer, f.Plane = x, x }))
		r.Up(0)
		r.out()
		r.hear(r.stateMsg(func(f *frame.StateFields) { f.Bearer, f.Plane = 7-x, 7-x }))
		if !r.IsUp() || r.PeerBearer() != x || r.ID() != uint32(x)<<16 {
			t.Errorf("bearer %d: got up %v, %d, id %x", x, r.IsUp(), r.PeerBearer(), r.ID())
		}
		r.done()
	}
}

// Item 11: a message of every session but the peer's, of every type, changes nothing at
// all. (TestRefusedMessageHasNoEffect has what each may not change.)
//
// Proves: hostile.docs
func TestHostileItem11SessionFirst(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.send(3)
	r.out()
	// look is all that a message may change, but the count of refusals.
	look := func() string {
		c := r.Counters
		c.Rejected = 0
		return fmt.Sprint(r.Look(), r.Link.session, r.peerSession, r.plane, r.MTU(), r.Tolerance(), r.Priority(), c)
	}
	before := look()
	refused := uint64(0)
	for s := 1; s < 1<<16; s += 13 {
		session := 700 + frame.Seq(s)
		evil := func(f *frame.LinkInfo) {
			f.Session, f.Tolerance, f.Priority, f.Plane, f.Bearer = session, 50, 31, 5, 2
		}
		r.hear(r.stateMsg(func(f *frame.StateFields) { evil(&f.LinkInfo); f.Ack, f.Gap, f.Probe = 3, 100, true }))
		refused++
		if s >= 32768 { // a RESET of a session that is newer is the peer's restart
			r.hear(reset(func(f *frame.ResetFields) { evil(&f.LinkInfo); f.PeerStopping, f.MaxPacket = true, 100 }))
			r.hear(activate(func(f *frame.ResetFields) { evil(&f.LinkInfo); f.PeerStopping, f.MaxPacket = true, 100 }))
			refused += 2
		}
	}
	if got := look(); r.Rejected != refused || got != before {
		t.Errorf("got %d of %d refused,\n%v, want\n%v", r.Rejected, refused, got, before)
	}
	if got := r.out(); got != nil {
		t.Errorf("sent %q", got)
	}
}

// Spec 04, "Validation": the deferred queue of the broadcast link has a bound, and the
// last broadcast that a STATE tells of is believed only within the window.
//
// Proves: hostile.docs
func TestHostileBroadcastWithoutEnd(t *testing.T) {
	r := newScriptedPeer(t)
	defer r.done()
	r.bc.Open(0)
	for s := 2; s < 1<<16; s++ {
		m, b := r.packet(frame.Seq(s), 0, "x")
		v, _ := r.bc.HandlePacket(m, b)
		b.Release()
		if in := s <= MaxWindow+1; (v == Deferred) != in {
			t.Fatalf("packet %d: got %v, want it deferred %v", s, v, in)
		}
	}
	if n := len(r.bc.deferred()); n != MaxWindow || r.arena.Total()-r.arena.Free() > maxLent {
		t.Errorf("got %d deferred, %d chunks in use", n, r.arena.Total()-r.arena.Free())
	}
	r.bc.Reset()
	r.bc.Open(0)
	for last := frame.Seq(bcastWindow + 1); last != 0; last++ {
		if r.bc.HandleState(last) || r.bc.Gap() != 0 {
			t.Fatalf("last broadcast %d: got a gap of %d", last, r.bc.Gap())
		}
	}
}

// A forged RESET that says the peer stops counts only in a session that is newer; the
// ACTIVATE of the session that is up neither ends it nor moves it.
//
// Proves: hostile.docs
func TestHostileForgedStopping(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.hear(reset(func(f *frame.ResetFields) { f.PeerStopping = true }))
	for d := frame.Seq(0); d < 100; d++ {
		r.hear(reset(func(f *frame.ResetFields) { f.Session, f.PeerStopping = 700-d, true }))
		r.hear(activate(func(f *frame.ResetFields) { f.Session, f.DestSession = 700-d, 100+d }))
	}
	r.hear(activate(func(f *frame.ResetFields) { f.DestSession = 200 })) // nor makes our session another
	if !r.IsUp() || r.Rejected != 1+100+99 || r.Link.session != 100 {
		t.Errorf("got up %v, %d refused, session %d", r.IsUp(), r.Rejected, r.Link.session)
	}
	r.now += time.Millisecond
	r.hear(r.stateMsg(nil))
	if !r.IsUp() || r.RecvStates != 1 {
		t.Errorf("then: got up %v, %d STATE messages", r.IsUp(), r.RecvStates)
	}
}
