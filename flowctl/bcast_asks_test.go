// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// It asks when the window is full and nothing is released for 2 ms, else when it is quiet
// for 10 ms with something unacknowledged; less and less often, once an interval in the end.
func TestBroadcastAsks(t *testing.T) {
	const ms = time.Millisecond
	r := newMembers(t, 2)
	r.send(70)
	r.memberAck(0, 10)
	wantTimes(t, "full window", r.asks(1400*ms), 2*ms, 6*ms, 14*ms, 30*ms, 62*ms, 126*ms, 254*ms, 510*ms, 885*ms, 1260*ms)
	if r.s.StallProbes != 10 {
		t.Errorf("got %d counted, want 10", r.s.StallProbes)
	}
	r.memberAck(1, 10)
	wantTimes(t, "after something moved", r.asks(1407*ms), 1402*ms, 1406*ms)
	r.out()
	r.done()

	r = newMembers(t, 2)
	r.send(1)
	wantTimes(t, "quiet", r.asks(100*ms), 10*ms, 30*ms, 70*ms)
	if r.s.Deadline() != 150*ms {
		t.Errorf("got a deadline of %v, want 150ms", r.s.Deadline())
	}
	r.memberAck(0, 1)
	r.memberAck(1, 1)
	wantTimes(t, "acknowledged", r.asks(time.Minute))
	if r.s.Deadline() != Never {
		t.Errorf("got a deadline of %v, want none", r.s.Deadline())
	}
	r.out()
	r.done()

	r = newMembers(t, 2, func(c *BroadcastConfig) { c.AsKernel = true })
	r.send(60)
	wantTimes(t, "as a kernel", r.asks(time.Minute))
	r.out()
	r.done()
}

// With many members the wait is longer, as all of them may have to be asked.
func TestBroadcastAsksManyLessOften(t *testing.T) {
	const ms = time.Millisecond
	r := newMembers(t, 1000)
	r.send(1)
	wantTimes(t, "1000 members", r.asks(700*ms), 100*ms, 300*ms, 675*ms)
	r.out()
	for _, m := range r.m {
		r.s.Leave(r.now, m)
	}
	r.done()
}

// Whatever is asked of its Link, it has no messages of the link protocol.
func TestBroadcastLinkIsSilent(t *testing.T) {
	r := newMembers(t, 1)
	defer r.done()
	r.send(1)
	r.discard()
	r.s.Probe(0)
	r.s.Report(0)
	r.s.SetTolerance(0, time.Second)
	r.asks(5 * time.Second)
	wantLines(t, "sent", r.out())
	if !r.s.IsUp() || r.s.Tolerance() != time.Second || r.s.Name() != "broadcast-link" {
		t.Errorf("got up %v, tolerance %v, name %q", r.s.IsUp(), r.s.Tolerance(), r.s.Name())
	}
}

// The links to the members tell what was sent.
func TestLinkTellsLastBroadcast(t *testing.T) {
	c := newMembers(t, 1)
	defer c.done()
	r := newScriptedPeer(t, func(k *Config) { k.Local.Broadcast = c.s }).up()
	defer r.done()
	c.send(3)
	c.discard()
	r.Report(0)
	r.sendReset(false)
	for _, what := range []string{"STATE", "RESET"} {
		b := r.NextFrame()
		if got := parseLink(t, b.Bytes()[frame.EthernetLen:]).LastBcast(); got != 3 {
			t.Errorf("%s: got %d, want 3", what, got)
		}
		b.Release()
	}
}

// While the peer owes an acknowledgement of broadcasts, every tick has a STATE.
func TestTickAsksForBroadcastAck(t *testing.T) {
	c := newMembers(t, 1)
	defer c.done()
	r := newScriptedPeer(t).up()
	defer r.done()
	r.bc.SetMember(c.m[0])
	ticks := func() int {
		r.send(1) // so that it does not probe for being idle
		r.handleAck(r.now, r.sndNxt-1, 0, frame.GapBlocks{})
		r.sup.HandlePacket()
		r.sup.silent = 0
		r.discard()
		r.Tick(r.now)
		return len(r.out())
	}
	if n := ticks(); n != 0 {
		t.Errorf("nothing sent: got %d frames, want none", n)
	}
	c.send(1)
	if n := ticks(); n != 1 {
		t.Errorf("not acknowledged: got %d frames, want 1", n)
	}
	c.memberAck(0, 1)
	if n := ticks(); n != 0 {
		t.Errorf("acknowledged: got %d frames, want none", n)
	}
	c.send(1)
	c.s.Leave(0, c.m[0])
	if n := ticks(); n != 0 {
		t.Errorf("left: got %d frames, want none", n)
	}
	c.out()
}
