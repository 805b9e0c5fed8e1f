// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// lose takes a line's link down as the peer sees it, and ends the failover.
func (d *scriptedPeer) loseLink(i int) {
	d.t.Helper()
	d.links[1-i].packet(d.tunnel(nil, inside(d.links[i].seq, data(0, func(f *frame.PayloadFields) { f.Error = frame.NoPort }, ""))))
	d.links[1-i].report(nil)
	d.links[1-i].report(nil)
	if n := d.node(); n.contact != UpUp || d.link(i).State() != flowctl.Down {
		d.t.Fatalf("got %v, %v; want only link %d down", n.contact, d.link(i).State(), i)
	}
	x := d.links[i]
	x.session++
	x.seq, x.ack, x.state = 1, 0, 1
	d.forget()
}

// ready brings a line's link as far as establishing.
func (d *scriptedPeer) readyLink(i int) {
	d.t.Helper()
	for at := d.link(i).Deadline(); d.now < at; {
		d.now = min(d.Deadline(), at)
		d.HandleTimeout(d.now)
		d.collect()
		d.links[1-i].report(nil)
	}
	d.links[i].reset(false)
	if got := d.link(i).State(); got != flowctl.Establishing {
		d.t.Fatalf("got %v, want establishing", got)
	}
	d.forget()
}

// A FAILOVER on a link that is not up takes nothing down: what it names is the only
// link there is. Of a link that is about to be up it comes again.
func TestFailoverOverALinkThatIsNotUp(t *testing.T) {
	for _, ready := range []bool{false, true} {
		d := newTwoLinks(t)
		d.loseLink(1)
		if ready {
			d.readyLink(1)
		}
		f := d.tunnel(nil, inside(d.links[0].seq, data(1, nil, "hi")))
		frame.StampSeq(f, 2) // the STATE and the SYNCH before it are lost
		d.links[1].hear(f)
		if n := d.node(); !n.up() || !d.link(0).IsUp() || n.contact != UpUp {
			t.Errorf("ready %v: got %v, %v, %v", ready, n.contact, d.link(0).State(), d.link(1).State())
		}
		if got := d.link(1).IsUp(); got != ready {
			t.Errorf("ready %v: link 1 is up: %v", ready, got)
		}
		for ev, ok := d.NextEvent(); ok; ev, ok = d.NextEvent() {
			if ev.Kind == PeerLost || ev.Kind == LinkDown {
				t.Errorf("ready %v: %v", ready, ev)
			}
		}
		d.done("")
	}
}

// A SYNCH brings up no link that knows no session of the peer.
func TestSynchOfASessionThatIsOver(t *testing.T) {
	d := newTwoLinks(t)
	d.loseLink(1)
	d.links[0].reset(false, func(f *frame.ResetFields) {
		d.links[0].session++
		f.Session = d.links[0].session
		f.RedundantLink = false
	})
	if got := d.link(0).State(); got != flowctl.Establishing || d.node().up() {
		t.Fatalf("got %v, contact %v", got, d.node().contact)
	}
	d.links[1].reset(false, func(f *frame.ResetFields) { f.RedundantLink = false })
	d.links[1].again()
	d.links[1].report(nil)
	if n := d.node(); n.contact != UpUp {
		t.Fatalf("got %v, %v", n.contact, d.link(1).State())
	}
	f := d.tunnel(func(f *frame.TunnelFields) { f.Type, f.Count = frame.TunnelSynch, uint16(d.links[1].seq-1) }, nil)
	frame.StampSeq(f, 1)
	d.links[0].hear(f)
	if got := d.link(0).State(); got != flowctl.Establishing {
		t.Errorf("got %v, want establishing", got)
	}
	d.done("")
}

// newSecondLink makes two links, the second of which has failed and comes up again. What
// it carries next overtakes the SYNCH, its first packet.
func newSecondLink(t *testing.T) *scriptedPeer {
	t.Helper()
	d := newTwoLinks(t)
	d.loseLink(1)
	d.readyLink(1)
	d.links[1].reset(true)
	d.links[1].report(func(f *frame.StateFields) { f.Ack = 0 })
	d.links[1].seq = 2
	return d
}

// synch has the SYNCH of the first link come on the second.
func (d *scriptedPeer) synch() {
	synch := d.tunnel(func(f *frame.TunnelFields) { f.Type, f.Count = frame.TunnelSynch, uint16(d.links[0].seq) }, nil)
	frame.StampSeq(synch, 1)
	d.links[1].hear(synch)
}

// What a link owes when the other has ended its being held back goes out at once.
func TestEndOfSynchronisingIsCarriedOut(t *testing.T) {
	d := newSecondLink(t)
	for range 20 { // they overtake the SYNCH
		d.links[1].packet(data(4711, func(f *frame.PayloadFields) { f.DestDroppable = true }, "hi"))
	}
	d.synch()
	if n := d.node(); n.contact != Synching || !d.link(1).IsSynching() {
		t.Fatalf("got %v, %v", n.contact, d.link(1).State())
	}
	d.links[0].packet(data(4711, func(f *frame.PayloadFields) { f.DestDroppable = true }, "hi"))
	d.links[1].sent = nil
	d.links[0].report(nil)
	if n := d.node(); n.contact != UpUp || d.link(1).Expected() != 22 {
		t.Fatalf("got %v, expecting %d", n.contact, d.link(1).Expected())
	}
	if got := d.links[1].drain(); len(got) == 0 || !strings.Contains(got[0], "link/state") {
		t.Errorf("sent %q on the new link, want an acknowledgement", got)
	}
	d.done("")
}

// An error in what a link was held back with takes it down at once: nothing is sent to
// it in between.
func TestEndOfSynchronisingMayFail(t *testing.T) {
	d := newSecondLink(t)
	bad := (&frame.FragmentFields{Common: frame.Common{Prev: popAddr}, Type: frame.MiddleFragment, Number: 2, Orig: popAddr, Dest: ownAddr})
	msg := make([]byte, frame.IntLen+8)
	bad.Put(msg, 8)
	d.links[1].packet(msg)
	d.synch()
	d.links[0].packet(data(4711, func(f *frame.PayloadFields) { f.DestDroppable = true }, "hi"))
	d.links[0].report(nil)
	n := d.node()
	for i, l := range n.slots {
		if l == nil || !l.IsUp() {
			t.Errorf("slot %d has a link that is down; contact %v, link 1 %v", i, n.contact, d.link(1).State())
		}
	}
	d.done("")
}

// A link that fails while a bundle is delivered takes nothing of the bundle with it: it
// was acknowledged, and contact stays.
func TestBundleOutlivesItsLink(t *testing.T) {
	d := newTwoLinks(t, alone, func(c *Config) { c.Window = 1 })
	port := d.OpenPort(PortConfig{ReceiveLimit: 1 << 20})
	odd := func(f *frame.PayloadFields) { f.Type, f.OrigPort = frame.ConnMsg, 7 } // to nobody here: each comes back, and the peer acknowledges nothing
	dead := uint32(4710)
	if d.node().route(dead) != d.link(0) {
		dead++
	}
	ack := d.links[0].ack
	var sent int
	for d.link(0).IsUp() && sent < 10000 {
		left := d.link(0).Limit(frame.System) - d.link(0).Backlog()
		var in [][]byte
		for i := range 8 {
			in = append(in, data(dead, odd, fmt.Sprint(i)))
		}
		if left < 8 {
			in = append(in, data(port.Addr().Port, nil, "last"))
		}
		msg := bundle(nil, in...)
		frame.StampSeq(msg, d.links[0].seq)
		frame.StampAcks(msg, ack, 0)
		d.links[0].seq++
		d.links[0].hear(msg)
		sent++
	}
	if d.link(0).IsUp() || !d.node().up() {
		t.Fatalf("after %d: %v, contact %v", sent, d.link(0).State(), d.node().contact)
	}
	if got := read(port); !slices.Equal(got, []string{"<1001002:77> last"}) {
		t.Errorf("got %q, want what came behind in the bundle", got)
	}
	d.done("")
}

// An interface that changes its MTU while its link is failing over has it when the link
// comes back.
func TestMTUChangesDuringFailover(t *testing.T) {
	d := newTwoLinks(t)
	d.SetMTU(d.now, 1, 1400)
	if got := d.link(1).State(); got != flowctl.FailingOver {
		t.Fatalf("got %v", got)
	}
	d.SetMTU(d.now, 1, 600)
	d.collect()
	d.loseLink(1)
	d.links[1].disc(frame.Request, nil)
	d.readyLink(1)
	d.links[1].reset(true)
	if got := d.link(1); !got.IsUp() || got.MTU() != 600 {
		t.Errorf("got %v with an MTU of %d, want 600", got.State(), got.MTU())
	}
	d.done("")
}

// Who has no memory to move what a link had to the other one keeps contact, and loses it once
// when that one fails, too. Mutation: SendFailover that returns an error for want of memory.
func TestContactIsLostOnce(t *testing.T) {
	d := newTwoLinks(t)
	var taken []*netdev.Buffer
	for b := d.arena.Get(100, netdev.Control); b != nil; b = d.arena.Get(100, netdev.Control) {
		taken = append(taken, b)
	}
	d.cutLink(d.now, d.link(1))
	if !d.node().up() || d.link(0).Moving() == 0 {
		t.Errorf("contact %v, %d packets to be moved", d.node().contact, d.link(0).Moving())
	}
	d.cutLink(d.now, d.link(0))
	for _, b := range taken {
		b.Release()
	}
	lost := 0
	for ev, ok := d.NextEvent(); ok; ev, ok = d.NextEvent() {
		if ev.Kind == PeerLost {
			lost++
		}
	}
	if lost != 1 || d.node().up() {
		t.Errorf("lost %d times, contact %v; want once", lost, d.node().contact)
	}
	d.done("")
}

// What waits until the old link has got everything through is not sent when both end:
// it would come without what was sent before.
func TestCorkedMessagesEndWithTheirLink(t *testing.T) {
	d := newTwoLinks(t)
	d.loseLink(1)
	d.readyLink(1)
	p := d.OpenPort(PortConfig{})
	to := frame.SocketAddr{Port: 9, Node: popAddr}
	if err := p.Send(d.now, to, []byte("first")); err != nil {
		t.Fatal(err)
	}
	d.collect()
	d.links[0].ack-- // the peer did not get it
	d.links[1].reset(true)
	if _, corked := d.link(1).Corked(); !corked {
		t.Fatal("the new link waits for nothing")
	}
	for d.node().route(p.Addr().Port) != d.link(1) {
		p = d.OpenPort(PortConfig{})
	}
	if err := p.Send(d.now, to, []byte("second")); err != nil {
		t.Fatal(err)
	}
	d.collect()
	d.links[1].sent = nil
	d.Leave(d.now)
	for _, line := range d.links[1].drain() {
		if strings.Contains(line, "data") {
			t.Errorf("sent %q", line)
		}
	}
	d.done("")
}
