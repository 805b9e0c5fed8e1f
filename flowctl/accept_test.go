// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"fmt"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// The acceptance table of spec 02 §4.3: the session of the message relative to
// the peer's, for sessions that wrap and others.
//
// Proves: contact.machines
func TestAccept(t *testing.T) {
	type cell struct{ reset, activate, state bool }
	for _, base := range []frame.Seq{700, 0, 1, 65535, 32767, 32768} {
		for _, c := range []struct {
			name      string
			inSession bool
			delta     frame.Seq
			up, not   cell // established, establishing
		}{
			{"not in session, same", false, 0, cell{true, true, false}, cell{true, true, false}},
			{"not in session, other", false, 9, cell{true, true, false}, cell{true, true, false}},
			{"not in session, older", false, 0xffff, cell{true, true, false}, cell{true, true, false}},
			{"same", true, 0, cell{false, true, true}, cell{false, true, true}},
			{"one more", true, 1, cell{true, true, false}, cell{true, true, false}},
			{"half way more", true, 0x7fff, cell{true, true, false}, cell{true, true, false}},
			{"one less", true, 0xffff, cell{false, false, false}, cell{false, false, false}},
			{"half way less", true, 0x8001, cell{false, false, false}, cell{false, false, false}},
		} {
			for _, up := range []bool{true, false} {
				r := newScriptedPeer(t).up()
				r.peerSession, r.inSession = base, c.inSession
				want := c.up
				if !up {
					r.Link.state, want = Establishing, c.not
				}
				s := base + c.delta
				got := cell{
					r.Accept(parseLink(t, reset(func(f *frame.ResetFields) { f.Session = s }))),
					r.Accept(parseLink(t, activate(func(f *frame.ResetFields) { f.Session = s }))),
					r.Accept(parseLink(t, r.stateMsg(func(f *frame.StateFields) { f.Session = s }))),
				}
				if got != want {
					t.Errorf("peer session %d, %s, up %v: got %+v, want %+v", base, c.name, up, got, want)
				}
				n := uint64(0)
				for _, ok := range []bool{got.reset, got.activate, got.state} {
					if !ok {
						n++
					}
				}
				if r.Rejected != n {
					t.Errorf("refused: got %v counted, want %v", r.Rejected, n)
				}
			}
		}
	}
}

// The further conditions on STATE.
func TestAcceptState(t *testing.T) {
	for _, c := range []struct {
		name  string
		state State
		caps  frame.Capabilities
		next  frame.Seq // expected
		seq   frame.Seq
		ack   frame.Seq
		want  bool
	}{
		{"expected", Established, allCaps, 5, 5, 9, true},
		{"one was lost", Established, allCaps, 5, 6, 9, true},
		{"repeated", Established, allCaps, 5, 4, 9, false},
		{"repeated across the wrap", Established, allCaps, 1, 0xffff, 9, false},
		{"next across the wrap", Established, allCaps, 0xffff, 1, 9, true},
		{"peer does not number them", Established, allCaps &^ frame.CapLinkProtoSeqno, 5, 4, 9, true},
		{"not up, ack 0", Establishing, allCaps, 1, 1, 0, true},
		{"not up, ack 1", Establishing, allCaps, 1, 1, 1, false},
		{"reset, ack 0", Down, allCaps, 1, 1, 0, true}, // in session it cannot be
		{"blocked", Resetting, allCaps, 1, 1, 0, false},
		{"blocked by the peer", PeerReset, allCaps, 1, 1, 0, false},
	} {
		r := newScriptedPeer(t).up()
		r.Link.state, r.rcvNxtState = c.state, c.next
		r.SetCapabilities(c.caps)
		b := r.stateMsg(func(f *frame.StateFields) { f.Seq, f.Ack = c.seq, c.ack })
		if got := r.Accept(parseLink(t, b)); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// What is refused has no effect at all.
func TestRefusedMessageHasNoEffect(t *testing.T) {
	r := newScriptedPeer(t).up()
	r.send(3)
	r.out()
	before := fmt.Sprint(r.Link.session, r.peerSession, r.mtu, r.sup, r.priority, r.peerIf, r.next, r.transmit.Len(), r.plane)
	r.hear(reset(func(f *frame.ResetFields) {
		f.Tolerance, f.Priority, f.PeerStopping, f.MaxPacket, f.Session = 100, 20, true, 200, 699
	}))
	r.hear(activate(func(f *frame.ResetFields) {
		f.Tolerance, f.Priority, f.PeerStopping, f.MaxPacket, f.Session = 100, 20, true, 200, 699
	}))
	r.hear(r.stateMsg(func(f *frame.StateFields) {
		f.Tolerance, f.Priority, f.Session, f.Ack, f.Probe, f.Plane = 100, 20, 699, 3, true, 7
	}))
	after := fmt.Sprint(r.Link.session, r.peerSession, r.mtu, r.sup, r.priority, r.peerIf, r.next, r.transmit.Len(), r.plane)
	if before != after {
		t.Errorf("got %v, want %v", after, before)
	}
	if got, e := r.out(), r.TakeEvents(); got != nil || e != 0 {
		t.Errorf("got %q and %v, want nothing", got, eventText(e))
	}
	r.done()
}

// The steps of spec 02 §4.4.
//
// Proves: contact.machines
func TestHandleReset(t *testing.T) {
	type result struct {
		state     State
		events    Event
		session   frame.Seq
		inSession bool
		tolerance time.Duration
		priority  uint8
		mtu       int
		peerIf    string
	}
	start := result{state: Down, session: 100, tolerance: DefaultTolerance, priority: 10, mtu: 1500}
	for _, c := range []struct {
		name string
		msg  []byte
		want func(*result)
	}{
		{"1: max packet 96", reset(func(f *frame.ResetFields) { f.MaxPacket, f.Tolerance = 96, 100 }), func(w *result) {}},
		{"1: max packet 0", reset(func(f *frame.ResetFields) { f.MaxPacket = 0 }), func(w *result) {}},
		{"1: max packet 100", reset(func(f *frame.ResetFields) { f.MaxPacket = 100 }), func(w *result) {
			w.state, w.inSession, w.mtu, w.peerIf = Establishing, true, 100, "eth1"
		}},
		{"2: name without NUL is cut", reset(func(f *frame.ResetFields) { copy(f.IfName[:], "0123456789abcdef") }), func(w *result) {
			w.state, w.inSession, w.peerIf = Establishing, true, "0123456789abcde"
		}},
		{"3: tolerance 49 ms", reset(func(f *frame.ResetFields) { f.Tolerance = 49 }), func(w *result) {
			w.state, w.inSession, w.peerIf = Establishing, true, "eth1"
		}},
		{"3: tolerance 50 ms", reset(func(f *frame.ResetFields) { f.Tolerance = 50 }), func(w *result) {
			w.state, w.inSession, w.peerIf, w.tolerance = Establishing, true, "eth1", MinTolerance
		}},
		{"3: tolerance 30 s", reset(func(f *frame.ResetFields) { f.Tolerance = 30000 }), func(w *result) {
			w.state, w.inSession, w.peerIf, w.tolerance = Establishing, true, "eth1", MaxTolerance
		}},
		{"3: tolerance 30.001 s", reset(func(f *frame.ResetFields) { f.Tolerance = 30001 }), func(w *result) {
			w.state, w.inSession, w.peerIf = Establishing, true, "eth1"
		}},
		{"4: priority upwards", reset(func(f *frame.ResetFields) { f.Priority = 11 }), func(w *result) {
			w.state, w.inSession, w.peerIf, w.priority = Establishing, true, "eth1", 11
		}},
		{"4: priority downwards", reset(func(f *frame.ResetFields) { f.Priority = 9 }), func(w *result) {
			w.state, w.inSession, w.peerIf = Establishing, true, "eth1"
		}},
		{"5: stopping", reset(func(f *frame.ResetFields) { f.PeerStopping, f.Tolerance = true, 100 }), func(w *result) {
			w.tolerance, w.peerIf = 100*time.Millisecond, "eth1"
		}},
		{"6: ACTIVATE of an older session", activate(func(f *frame.ResetFields) { f.DestSession = 99 }), func(w *result) { w.peerIf = "eth1" }},
		{"6: ACTIVATE of a later session raises ours", activate(func(f *frame.ResetFields) { f.DestSession = 300 }), func(w *result) {
			w.peerIf, w.session = "eth1", 301
		}},
		{"6: the other half counts as older", activate(func(f *frame.ResetFields) { f.DestSession = 100 + 40000 }), func(w *result) { w.peerIf = "eth1" }},
		{"6: ACTIVATE that names none", activate(func(f *frame.ResetFields) { f.DestSessionValid, f.DestSession = false, 0 }), func(w *result) {
			w.state, w.inSession, w.peerIf, w.events = Establishing, true, "eth1", WantUp
		}},
		{"7: RESET", reset(nil), func(w *result) { w.state, w.inSession, w.peerIf = Establishing, true, "eth1" }},
		{"8: ACTIVATE", activate(nil), func(w *result) { w.state, w.inSession, w.peerIf, w.events = Establishing, true, "eth1", WantUp }},
		{"9: max packet above ours", reset(func(f *frame.ResetFields) { f.MaxPacket = 9000 }), func(w *result) {
			w.state, w.inSession, w.peerIf = Establishing, true, "eth1"
		}},
	} {
		r := newScriptedPeer(t)
		want := start
		c.want(&want)
		if !r.hear(c.msg) {
			t.Errorf("%s: not accepted", c.name)
			continue
		}
		got := result{r.State(), r.TakeEvents(), r.Link.session, r.inSession, r.Tolerance(), r.Priority(), r.MTU(), r.peerIf}
		if got != want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, want)
		}
		if lines := r.out(); lines != nil { // "sent by the timer, not in answer": §2.3
			t.Errorf("%s: answered %q", c.name, lines)
		}
	}
}

// On a link that is up.
func TestHandleResetWhileUp(t *testing.T) {
	for _, c := range []struct {
		name   string
		msg    []byte
		state  State
		events Event
		tol    time.Duration
	}{
		{"RESET of a new session", reset(func(f *frame.ResetFields) { f.Session = 701 }), PeerReset, WentDown, DefaultTolerance},
		{"RESET, stopping", reset(func(f *frame.ResetFields) { f.Session, f.PeerStopping = 701, true }), Resetting, WentDown, DefaultTolerance},
		{"ACTIVATE repeated", activate(nil), Established, 0, DefaultTolerance},
		{"ACTIVATE with a tolerance", activate(func(f *frame.ResetFields) { f.Tolerance = 100 }), Established, 0, 100 * time.Millisecond},
		{"ACTIVATE, stopping", activate(func(f *frame.ResetFields) { f.PeerStopping = true }), Resetting, WentDown, DefaultTolerance},
		{"max packet too small", reset(func(f *frame.ResetFields) { f.Session, f.MaxPacket = 701, 96 }), Established, 0, DefaultTolerance},
	} {
		r := newScriptedPeer(t).up()
		r.hear(c.msg)
		if got := r.TakeEvents(); r.State() != c.state || got != c.events || r.Tolerance() != c.tol {
			t.Errorf("%s: got %v %q %v, want %v %q %v", c.name, r.State(), eventText(got), r.Tolerance(), c.state, eventText(c.events), c.tol)
		}
		r.done()
	}
}

// The state a row for each arrow drawn above State, and those that are not there.
//
// Proves: contact.machines
func TestStateTransitions(t *testing.T) {
	newSession := func(f *frame.ResetFields) { f.Session = 701 }
	do := map[string]func(r *scriptedPeer){
		"RESET":    func(r *scriptedPeer) { r.hear(reset(newSession)) },
		"ACTIVATE": func(r *scriptedPeer) { r.hear(activate(newSession)) },
		"STATE":    func(r *scriptedPeer) { r.hear(r.stateMsg(nil)) },
		"packet":   func(r *scriptedPeer) { r.receive(1, 0) },
		"silence": func(r *scriptedPeer) {
			for range 6 {
				r.now = r.Deadline()
				r.HandleTimeout(r.now)
			}
		},
		"stopping": func(r *scriptedPeer) {
			r.hear(reset(func(f *frame.ResetFields) { f.Session, f.PeerStopping = 701, true }))
		},
		"priority": func(r *scriptedPeer) { r.hear(r.stateMsg(func(f *frame.StateFields) { f.Priority = 20 })) },
		"Fail":     func(r *scriptedPeer) { r.Fail() },
		"Restart":  func(r *scriptedPeer) { r.Restart(r.now) },
		"Up":       func(r *scriptedPeer) { r.Up(r.now) },
	}
	for _, c := range []struct {
		from State
		what string
		want State
		ask  Event
	}{
		{Down, "RESET", Establishing, 0},
		{Down, "ACTIVATE", Establishing, WantUp},
		{Down, "STATE", Down, 0},
		{Down, "packet", Down, 0},
		{Down, "silence", Down, 0},
		{Down, "stopping", Down, 0},
		{Down, "Fail", Down, 0},
		{Down, "Restart", Down, 0},
		{Down, "Up", Down, 0},
		{Establishing, "RESET", Establishing, 0},
		{Establishing, "ACTIVATE", Establishing, WantUp},
		{Establishing, "STATE", Establishing, WantUp},
		{Establishing, "packet", Establishing, WantUp},
		{Establishing, "silence", Establishing, 0},
		{Establishing, "stopping", Establishing, 0},
		{Establishing, "Fail", Establishing, 0},
		{Establishing, "Restart", Down, 0},
		{Establishing, "Up", Established, 0},
		{Established, "RESET", PeerReset, WentDown},
		{Established, "ACTIVATE", Established, 0},
		{Established, "STATE", Established, 0},
		{Established, "packet", Established, 0},
		{Established, "silence", Resetting, WentDown},
		{Established, "stopping", Resetting, WentDown},
		{Established, "priority", Resetting, WentDown},
		{Established, "Fail", Resetting, WentDown},
		{Established, "Up", Established, 0},
		{Resetting, "RESET", Resetting, 0},
		{Resetting, "ACTIVATE", Resetting, 0},
		{Resetting, "STATE", Resetting, 0},
		{Resetting, "packet", Resetting, 0},
		{Resetting, "silence", Resetting, 0},
		{Resetting, "Fail", Resetting, 0},
		{Resetting, "Up", Resetting, 0},
		{Resetting, "Restart", Down, 0},
		{PeerReset, "RESET", PeerReset, 0},
		{PeerReset, "ACTIVATE", PeerReset, 0},
		{PeerReset, "STATE", PeerReset, 0},
		{PeerReset, "packet", PeerReset, 0},
		{PeerReset, "silence", PeerReset, 0},
		{PeerReset, "Fail", PeerReset, 0},
		{PeerReset, "Up", PeerReset, 0},
		{PeerReset, "Restart", Establishing, 0},
	} {
		r := newScriptedPeer(t)
		switch c.from {
		case Establishing:
			r.hear(reset(nil))
		case Established:
			r.up()
		case Resetting:
			r.up().Fail()
		case PeerReset:
			do["RESET"](r.up())
		}
		r.TakeEvents()
		if r.State() != c.from {
			t.Fatalf("made %v, want %v", r.State(), c.from)
		}
		do[c.what](r)
		if got := r.TakeEvents(); r.State() != c.want || got != c.ask {
			t.Errorf("%v, %s: got %v %q, want %v %q", c.from, c.what, r.State(), eventText(got), c.want, eventText(c.ask))
		}
		r.done()
	}
}

// After its peer reset it a link is not in session: a packet cannot bring it up.
func TestPacketDoesNotBringUpLinkThatIsNotInSession(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.hear(reset(func(f *frame.ResetFields) { f.Session = 701 }))
	r.Restart(0)
	r.TakeEvents()
	if v := r.receive(1, 0); v != Dropped || r.TakeEvents() != 0 {
		t.Errorf("got %v, want dropped and no event", v)
	}
}

// Spec 02 §1.1, second column.
func TestRestartClearsAllButWhatIsKept(t *testing.T) {
	r := newScriptedPeer(t).up()
	r.SetTolerance(0, 800*time.Millisecond)
	r.hear(activate(func(f *frame.ResetFields) { f.MaxPacket, f.Priority = 1000, 12 }))
	r.send(60)
	r.receive(1, 0)
	r.receive(3, 0)
	r.Fail()
	r.Restart(0)
	l := r.Link
	got := fmt.Sprint(l.session, l.peerSession, l.inSession, l.sndNxt, l.rcvNxt, l.sndNxtState, l.rcvNxtState, l.mtu,
		l.Tolerance(), l.Priority(), l.sup.silent, l.resets, l.rcvUnacked, l.transmit.Len(), l.backlog.Len(), len(l.deferred()), l.Look().Waiting)
	want := fmt.Sprint(101, 699, false, 1, 1, 1, 1, 1500,
		800*time.Millisecond, 12, 0, 0, 0, 0, 0, 0, [5]int{})
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	r.done()
}

// The lower address decides on the network plane (spec 02 §4.3), once the session
// has been checked (§12.11).
func TestPlane(t *testing.T) {
	for _, c := range []struct {
		self frame.NodeAddr
		want uint8
	}{{self, 0}, {peer + 1, 3}} {
		r := newScriptedPeer(t, func(f *Config) { f.Self = c.self })
		r.hear(reset(func(f *frame.ResetFields) { f.Plane = 3 }))
		if r.plane != c.want {
			t.Errorf("own address %v: got plane %v, want %v", c.self, r.plane, c.want)
		}
	}
}

func TestNameAndID(t *testing.T) {
	r := newScriptedPeer(t, func(c *Config) { c.Bearer = 1 })
	if got, want := r.Name("a", "b"), "a:eth0-b:unknown"; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	r.hear(reset(func(f *frame.ResetFields) { f.Bearer = 2 }))
	if got, want := r.Name("a", "b"), "a:eth0-b:eth1"; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := r.ID(), uint32(0x20001); got != want {
		t.Errorf("got %#x, want %#x", got, want)
	}
}
