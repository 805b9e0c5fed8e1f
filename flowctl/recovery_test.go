// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// A receiver that holds packets and does not move repeats its report after four round
// trips, at least 200 µs, and backs off up to an interval.
//
// Proves: link.gaps
func TestReportIsRepeated(t *testing.T) {
	for _, c := range []struct {
		rtt   time.Duration
		first string
		n     int // reports until the tick
	}{{0, "200µs", 10}, {40 * time.Microsecond, "200µs", 10}, {500 * time.Microsecond, "2ms", 7}, {time.Second, "375ms", 0}} {
		r := newScriptedPeer(t).up()
		r.estimate = c.rtt
		r.receive(2, 0)
		got := r.until(r.next)
		if len(got) != c.n || c.n > 0 && got[0] != c.first+" link/state gap=1 next=1 session=100 seq=2 ack=0" {
			t.Errorf("round trip %v: got %d reports: %v; want %d, first at %v", c.rtt, len(got), got, c.n, c.first)
		}
		if r.RepeatedReports != uint64(c.n) {
			t.Errorf("round trip %v: got %d counted, want %d", c.rtt, r.RepeatedReports, c.n)
		}
		r.done()
	}
}

// Whatever moves begins the wait anew, and what was backed off.
func TestReportBeginsAnewWhenSomethingMoves(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.receive(2, 0)
	r.receive(5, 0)
	wantLines(t, "first hole", r.until(900*time.Microsecond),
		"200µs link/state gap=1 next=1 session=100 seq=2 ack=0",
		"600µs link/state gap=1 next=1 session=100 seq=3 ack=0")
	r.receive(1, 0)
	r.estimate = 0
	wantLines(t, "second hole", r.until(1600*time.Microsecond),
		"1.1ms link/state gap=2 next=1 session=100 seq=4 ack=2",
		"1.5ms link/state gap=2 next=1 session=100 seq=5 ack=2")
	r.receive(3, 0)
	r.receive(4, 0)
	wantLines(t, "none", r.until(100*time.Millisecond))
	if r.Deadline() != r.next {
		t.Errorf("got a deadline of %v, want the tick at %v", r.Deadline(), r.next)
	}
}

// A report that is due by number puts the repetition off.
func TestReportByNumberCounts(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.receive(2, 0)
	r.now = 150 * time.Microsecond
	r.receive(3, 0)
	r.receive(4, 0)
	wantLines(t, "by number", r.out(), "link/state gap=1 next=1 session=100 seq=2 ack=0")
	wantLines(t, "repeated", r.until(400*time.Microsecond), "350µs link/state gap=1 next=1 session=100 seq=3 ack=0")
}

// A sender whose window is full probes after 2 ms without progress, then less often,
// until the tick takes over.
//
// Proves: link.gaps
func TestFullWindowProbes(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.send(60)
	r.out()
	wantLines(t, "probes", r.until(r.next),
		"2ms link/state probe next=51 session=100 seq=2 ack=0",
		"6ms link/state probe next=51 session=100 seq=3 ack=0",
		"14ms link/state probe next=51 session=100 seq=4 ack=0",
		"30ms link/state probe next=51 session=100 seq=5 ack=0",
		"62ms link/state probe next=51 session=100 seq=6 ack=0",
		"126ms link/state probe next=51 session=100 seq=7 ack=0",
		"254ms link/state probe next=51 session=100 seq=8 ack=0")
	if r.StallProbes != 7 {
		t.Errorf("got %d counted, want 7", r.StallProbes)
	}
	r.ack(1, 0)
	r.out()
	wantLines(t, "after progress", r.until(r.now+3*time.Millisecond),
		"375ms link/state next=52 session=100 seq=9 ack=0", // the tick
		"377ms link/state probe next=52 session=100 seq=10 ack=0")
}

// A sender that fell quiet with something unacknowledged probes after 10 ms.
//
// Proves: link.gaps
func TestQuietSenderProbes(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.send(1)
	r.out()
	r.now = 7 * time.Millisecond
	r.send(1)
	r.out()
	wantLines(t, "probes", r.until(r.next),
		"17ms link/state probe next=3 session=100 seq=2 ack=0",
		"37ms link/state probe next=3 session=100 seq=3 ack=0",
		"77ms link/state probe next=3 session=100 seq=4 ack=0",
		"157ms link/state probe next=3 session=100 seq=5 ack=0",
		"317ms link/state probe next=3 session=100 seq=6 ack=0")
}

// When the wait is longer than an interval the ticks are enough.
//
// Proves: link.gaps
func TestTickTakesOver(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.send(60)
	r.until(300 * time.Millisecond)
	wantLines(t, "behind 300 ms", r.until(1100*time.Millisecond),
		"375ms link/state next=51 session=100 seq=9 ack=0",
		"510ms link/state probe next=51 session=100 seq=10 ack=0", // the last of its own
		"750ms link/state probe next=51 session=100 seq=11 ack=0")
	for _, repeats := range []uint8{11, 16, 255} {
		if r.repeats = repeats; r.nextReportWait() != r.sup.Interval() {
			t.Errorf("%d reports: got a wait of %v, want an interval, %v", repeats, r.nextReportWait(), r.sup.Interval())
		}
	}
}

// A peer that is far away is given four round trips.
//
// Proves: link.gaps
func TestProbesWaitForTheRoundTrip(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.estimate = 10 * time.Millisecond
	r.send(51)
	r.out()
	wantLines(t, "probes", r.until(100*time.Millisecond), "40ms link/state probe next=51 session=100 seq=2 ack=0")
}

// An idle link has its tick alone, also after everything was acknowledged.
//
// Proves: link.gaps
func TestIdleLinkHasItsTickAlone(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	if r.Deadline() != r.next {
		t.Errorf("at first: got a deadline of %v, want %v", r.Deadline(), r.next)
	}
	r.send(60)
	r.ack(50, 0)
	r.ack(60, 0)
	r.out()
	r.HandleTimeout(r.Deadline()) // the one look that was set ahead
	if r.Deadline() != r.next || r.look != Never || len(r.out()) != 0 {
		t.Errorf("all acknowledged: got a deadline of %v, want %v and nothing sent", r.Deadline(), r.next)
	}
}

// A link that sends without loss sends no probe, however long, at full rate and at a
// packet each millisecond.
//
// Proves: link.gaps
func TestNoProbesInSteadyState(t *testing.T) {
	m := newSlowBed(t, 1, 0, func(*Config) {})
	m.carry(20_000)
	if s, r := m.ends[0], m.ends[1]; s.StallProbes != 0 || r.RepeatedReports != 0 || s.SentProbes != 0 {
		t.Errorf("full rate: got %d probes for a stall, %d in all, %d reports repeated", s.StallProbes, s.SentProbes, r.RepeatedReports)
	}
	r := newScriptedPeer(t).up()
	defer r.done()
	for i := range 2000 {
		r.until(time.Duration(i) * time.Millisecond)
		if r.send(1); i%16 == 15 {
			r.ack(r.sndNxt-1, 0)
		}
		r.discard()
	}
	if r.StallProbes != 0 {
		t.Errorf("a packet each millisecond: got %d probes", r.StallProbes)
	}
}

// As a kernel: nothing but the tick.
//
// Proves: link.gaps
func TestRecoveryAsKernel(t *testing.T) {
	r := newScriptedPeer(t, func(c *Config) { c.AsKernel = true }).up()
	defer r.done()
	r.send(60)
	r.receive(2, 0)
	r.out()
	if r.Deadline() != r.next {
		t.Errorf("got a deadline of %v, want %v", r.Deadline(), r.next)
	}
	r.HandleTimeout(r.next - 1)
	wantLines(t, "before the tick", r.out())
}

// What the estimate is made of.
//
// Proves: link.gaps
func TestRoundTrip(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		name string
		do   func(*roundTrip)
		want time.Duration
	}{
		{"unknown", func(r *roundTrip) {}, 0},
		{"probe", func(r *roundTrip) { r.askProbe(10 * us); r.answerProbe(110 * us) }, 100 * us},
		{"two probes", func(r *roundTrip) { r.askProbe(0); r.askProbe(50 * us); r.answerProbe(110 * us) }, 0},
		{"an answer to none", func(r *roundTrip) { r.answerProbe(110 * us) }, 0},
		{"a third probe, answered", func(r *roundTrip) {
			r.askProbe(0)
			r.askProbe(0)
			r.answerProbe(110 * us)
			r.askProbe(200 * us)
			r.answerProbe(250 * us)
		}, 50 * us},
		{"missing", func(r *roundTrip) { r.askMissing(0); r.answerMissing(70 * us) }, 70 * us},
		{"reported twice", func(r *roundTrip) { r.askMissing(0); r.askMissing(0); r.answerMissing(70 * us) }, 0},
		{"acknowledged", func(r *roundTrip) { r.acknowledged(90*us, 0, false) }, 90 * us},
		{"acknowledged late, at first", func(r *roundTrip) { r.acknowledged(3*time.Millisecond, 0, false) }, 0},
		{"acknowledged late", func(r *roundTrip) { r.estimate = 80 * us; r.acknowledged(90*us, 0, false) }, 80 * us},
		{"acknowledged at once", func(r *roundTrip) { r.estimate = 80 * us; r.acknowledged(160*us, 0, true) }, 90 * us},
		{"sooner", func(r *roundTrip) { r.estimate = 80 * us; r.acknowledged(0, 0, false) }, 70 * us},
	} {
		var r roundTrip
		if c.do(&r); r.estimate != c.want {
			t.Errorf("%s: got %v, want %v", c.name, r.estimate, c.want)
		}
	}
}

// The link feeds it: probes, what was missing, and packets sent once.
func TestRoundTripOfLink(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.Probe(0)
	r.now = 300 * time.Microsecond
	r.hear(r.stateMsg(func(f *frame.StateFields) { f.Keepalive = true }))
	if r.RTT() != 300*time.Microsecond {
		t.Errorf("probe: got %v, want 300µs", r.RTT())
	}
	r.estimate = 0
	for s := range 3 {
		r.receive(frame.Seq(2+s), 0)
	}
	r.now += 120 * time.Microsecond
	r.receive(1, 0)
	if r.RTT() != 120*time.Microsecond {
		t.Errorf("missing: got %v, want 120µs", r.RTT())
	}
	r.estimate = 0
	r.send(2)
	r.now += 80 * time.Microsecond
	r.ack(0, 1)
	r.now += 80 * time.Microsecond
	r.ack(1, 0) // sent twice
	if r.RTT() != 0 {
		t.Errorf("repeated: got %v, want unknown", r.RTT())
	}
	r.ack(2, 0)
	if r.RTT() != 160*time.Microsecond {
		t.Errorf("acknowledged: got %v, want 160µs", r.RTT())
	}
	r.out()
}

// An acknowledgement is progress, also where nothing new can be sent for it.
func TestAcknowledgementPutsTheProbeOff(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.send(2)
	r.out()
	r.now = 7 * time.Millisecond
	r.ack(1, 0)
	wantLines(t, "probes", r.until(30*time.Millisecond), "17ms link/state probe next=3 session=100 seq=2 ack=0")
}
