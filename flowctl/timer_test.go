// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// Proves: contact.supervision
func TestSupervisorLosesSilentPeer(t *testing.T) {
	for _, c := range []struct {
		tolerance, interval time.Duration
		limit               int
		lost                time.Duration // after the last sign, just behind a tick
	}{
		{DefaultTolerance, 375 * time.Millisecond, 4, 2250 * time.Millisecond},
		{MinTolerance, 12500 * time.Microsecond, 4, 75 * time.Millisecond},
		{2 * time.Second, 500 * time.Millisecond, 4, 3 * time.Second},
		{3 * time.Second, 500 * time.Millisecond, 6, 4 * time.Second},
		{MaxTolerance, 500 * time.Millisecond, 60, 31 * time.Second},
		{101 * time.Millisecond, 25250 * time.Microsecond, 4, 151500 * time.Microsecond},
	} {
		s := Supervisor{tolerance: c.tolerance}
		if got := s.Interval(); got != c.interval {
			t.Errorf("%v: interval: got %v, want %v", c.tolerance, got, c.interval)
		}
		if got := s.Limit(); got != c.limit {
			t.Errorf("%v: limit: got %v, want %v", c.tolerance, got, c.limit)
		}
		now := s.Interval()
		for !s.Tick(true) {
			now += s.Interval()
		}
		if now != c.lost {
			t.Errorf("%v: lost: got %v, want %v", c.tolerance, now, c.lost)
		}
	}
}

// Spec 02 §3: from a link that is up and idle to one that keeps sending RESET.
//
// Proves: contact.supervision
func TestSilentPeerTranscript(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.receive(1, 0) // and data was sent since, so that the first STATE is no probe
	r.send(1)
	r.out()
	r.ack(1, 0)
	var lines []string
	for r.now < 12*time.Second {
		r.now = r.Deadline()
		r.HandleTimeout(r.now)
		for _, l := range r.out() {
			lines = append(lines, fmt.Sprint(r.now, " ", l))
		}
		if e := r.TakeEvents(); e != 0 {
			lines = append(lines, fmt.Sprint(r.now, " ", eventText(e)))
			r.Restart(r.now)
			for _, l := range r.out() {
				lines = append(lines, fmt.Sprint(r.now, " ", l))
			}
		}
	}
	wantLines(t, "transcript", lines,
		// Nothing to say at 375 ms: all acknowledged, and the launch cleared what
		// was owed.
		"750ms link/state probe next=2 session=100 seq=2 ack=1",
		"1.125s link/state probe next=2 session=100 seq=3 ack=1",
		"1.5s link/state probe next=2 session=100 seq=4 ack=1",
		"1.875s link/state probe next=2 session=100 seq=5 ack=1",
		"2.25s went-down",
		"2.25s link/reset stopping session=101 seq=32768 ack=0",
		"2.625s link/reset session=101 seq=32768 ack=0",
		"3s link/reset session=101 seq=32768 ack=0",
		"3.375s link/reset session=101 seq=32768 ack=0",
		"3.75s link/reset session=101 seq=32768 ack=0",
		"4.125s link/reset session=101 seq=32768 ack=0",
		// Eleven ticks later, then every sixteen: measured 4.3 s and 6.24 s with
		// ticks of 0.39 s.
		"8.25s link/reset session=101 seq=32768 ack=0",
	)
	if got, want := r.State(), Down; got != want {
		t.Errorf("state: got %v, want %v", got, want)
	}
}

func TestResetEverySixteenthTick(t *testing.T) {
	r := newScriptedPeer(t)
	var ticks []int
	for i := 1; i <= 70; i++ {
		r.now = r.Deadline()
		r.HandleTimeout(r.now)
		if len(r.out()) > 0 {
			ticks = append(ticks, i)
		}
	}
	if want := []int{1, 2, 3, 4, 5, 16, 32, 48, 64}; !slices.Equal(ticks, want) {
		t.Errorf("ticks with a RESET: got %v, want %v", ticks, want)
	}
}

// ACTIVATE at every tick, whatever happens.
func TestActivateEveryTick(t *testing.T) {
	r := newScriptedPeer(t)
	r.hear(reset(nil))
	for i := range 40 {
		r.now = r.Deadline()
		r.HandleTimeout(r.now)
		if got := r.out(); len(got) != 1 || got[0] != "link/activate dest-session=700 session=100 seq=32768 ack=0" {
			t.Fatalf("tick %d: got %q, want an ACTIVATE", i, got)
		}
	}
}

// The decision of spec 02 §3 in states that are up, a row for each reason.
//
// Proves: contact.supervision
func TestTickSendsState(t *testing.T) {
	const (
		nothing = ""
		probe   = "link/state probe"
		plain   = "link/state next"
	)
	for _, c := range []struct {
		name string
		prep func(r *scriptedPeer)
		want string
	}{
		{"idle: nothing new sent", func(r *scriptedPeer) {}, probe},
		{"sent and acknowledged", func(r *scriptedPeer) { r.send(1); r.ack(1, 0) }, nothing},
		{"sent, not acknowledged", func(r *scriptedPeer) { r.send(1) }, plain},
		{"received, not acknowledged", func(r *scriptedPeer) { r.send(1); r.ack(1, 0); r.receive(1, 1) }, plain},
		{"broadcast received, not acknowledged", func(r *scriptedPeer) { r.send(1); r.ack(1, 0); r.bc.unacked = 1 }, plain},
		{"something deferred", func(r *scriptedPeer) { r.send(1); r.ack(1, 0); r.receive(2, 1) }, probe},
		{"silent", func(r *scriptedPeer) { r.send(1); r.ack(1, 0); r.sup.silent = 1 }, probe},
	} {
		r := newScriptedPeer(t).up()
		r.Tick(r.next) // so that a checkpoint is there
		r.now = r.next - time.Millisecond
		r.sup.silent = 0
		c.prep(r)
		r.out()
		r.now = r.next
		r.Tick(r.now)
		got := r.out()
		switch {
		case c.want == nothing && len(got) != 0,
			c.want != nothing && (len(got) != 1 || got[0][:min(len(got[0]), len(c.want))] != c.want):
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		r.done()
	}
}

// Both bits are in a probe, none in a report that asks for nothing.
func TestProbeIsAlsoKeepalive(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.Tick(r.next) // so that a checkpoint is there
	for _, send := range []bool{false, true} {
		if send {
			r.send(1)
			r.NextFrame().Release()
			r.sup.silent = 0
		}
		r.now = r.next
		r.Tick(r.now)
		b := r.NextFrame()
		s, _ := parseLink(t, b.Bytes()[frame.EthernetLen:]).State()
		if s.Probe() == send || s.Keepalive() == send {
			t.Errorf("data sent %v: got probe %v keepalive %v, want both %v", send, s.Probe(), s.Keepalive(), !send)
		}
		b.Release()
	}
}

func TestBlockedStatesSendNothing(t *testing.T) {
	for _, c := range []struct {
		want State
		prep func(r *scriptedPeer)
	}{
		{Resetting, func(r *scriptedPeer) { r.Fail() }},
		{PeerReset, func(r *scriptedPeer) { r.hear(reset(func(f *frame.ResetFields) { f.Session = 701 })) }},
	} {
		r := newScriptedPeer(t).up()
		c.prep(r)
		if r.State() != c.want {
			t.Fatalf("state: got %v, want %v", r.State(), c.want)
		}
		r.Report(0)
		for range 20 {
			r.now = r.Deadline()
			r.HandleTimeout(r.now)
		}
		if got := r.out(); got != nil {
			t.Errorf("%v: got %q, want nothing", c.want, got)
		}
		for what, b := range map[string][]byte{
			"RESET":    reset(func(f *frame.ResetFields) { f.Session = 710 }),
			"ACTIVATE": activate(func(f *frame.ResetFields) { f.Session = 710 }), "STATE": r.stateMsg(nil),
		} {
			if r.hear(b) {
				t.Errorf("%v: accepts %s", c.want, what)
			}
		}
		if v := r.receive(1, 0); v != Dropped {
			t.Errorf("%v: packet: got %v, want dropped", c.want, v)
		}
		r.done()
	}
}

func TestTimeoutIsHarmlessEarlyAndCatchesUpOnce(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.HandleTimeout(r.Deadline() - 1)
	if got := r.out(); got != nil {
		t.Errorf("early: got %q, want nothing", got)
	}
	r.now = 10 * time.Second // the process was stopped for long
	n := 0
	for r.Deadline() <= r.now {
		r.HandleTimeout(r.now)
		n++
	}
	if n > 2 || !r.IsUp() {
		t.Errorf("after a stop: got %d ticks, up %v; want at most 2, up", n, r.IsUp())
	}
}

func TestToleranceChange(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.SetTolerance(0, 800*time.Millisecond)
	if got, want := r.Deadline(), 200*time.Millisecond; got != want {
		t.Errorf("deadline: got %v, want %v", got, want)
	}
	r.now = r.Deadline()
	r.HandleTimeout(r.now)
	r.SetTolerance(r.now, time.Millisecond)
	r.SetTolerance(r.now, time.Hour)
	r.now = r.Deadline()
	r.HandleTimeout(r.now)
	wantLines(t, "told once each", r.out(),
		"link/state next=1 session=100 tolerance=800ms seq=2 ack=0",
		"link/state next=1 session=100 tolerance=50ms seq=3 ack=0",
		"link/state next=1 session=100 tolerance=30000ms seq=4 ack=0",
		"link/state probe next=1 session=100 seq=5 ack=0")
}

// A change that could not be told for want of memory is told with the next STATE.
func TestToleranceChangeSurvivesWantOfMemory(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	var held []*netdev.Buffer
	for b := r.arena.Get(1, netdev.Control); b != nil; b = r.arena.Get(1, netdev.Control) {
		held = append(held, b)
	}
	r.SetTolerance(0, 800*time.Millisecond)
	for _, b := range held {
		b.Release()
	}
	if got := r.out(); got != nil || r.NoChunk != 1 {
		t.Fatalf("without memory: got %q, %d counted", got, r.NoChunk)
	}
	r.Report(0)
	wantLines(t, "then", r.out(), "link/state next=1 session=100 tolerance=800ms seq=2 ack=0")
}

func TestToleranceOfLinkThatIsDownIsNotTold(t *testing.T) {
	r := newScriptedPeer(t)
	r.SetTolerance(0, 800*time.Millisecond)
	r.up()
	defer r.done()
	r.Report(0)
	wantLines(t, "sent", r.out(), "link/state next=1 session=100 seq=2 ack=0")
}
