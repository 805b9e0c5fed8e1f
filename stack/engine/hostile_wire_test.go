// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A request in another's name has no more sent to that station than three times its bytes,
// however long it is and whatever follows, until a link to it is up; every further one, and
// every RESET, as much again. Caught by this: spend that is always true; drain that does
// not ask it.
//
// Proves: hostile.docs
func TestHostileRequestsAreNotAmplified(t *testing.T) {
	for _, mark := range []bool{false, true} {
		p := newScriptedPeer(t)
		in, out, frames := 0, 0, 0
		ask := func() {
			f := frame.DiscoveryFields{
				Type: frame.Request, Capabilities: popCaps, Signature: 0x1111, Prev: popAddr, NetID: frame.DefaultNetID,
				MAC: popMAC, NetHash: 9, Identity: frame.AddrIdentity(popAddr),
			}
			if mark {
				f.NetHash = frame.Mark(f.Identity, f.Signature, 255)
			}
			b := f.Append(nil)
			in += len(b)
			p.raw(ether(frame.BroadcastMAC, popMAC, b))
		}
		pass := func(d time.Duration) {
			for end := p.now + d; p.now < end; {
				p.now = min(p.Deadline(), end)
				p.HandleTimeout(p.now)
				p.collect()
				for _, f := range p.sent {
					b := f.bytes
					if frame.MAC(b) == popMAC {
						out += len(b) - frame.EthernetLen
						frames++
					}
				}
				p.sent = nil
				if out > amplify*in {
					t.Fatalf("%v: %d bytes were sent for %d", p.now, out, in)
				}
			}
		}
		ask()
		pass(50 * time.Second)
		if frames == 0 || frames > 3 {
			t.Errorf("%d frames for one request", frames)
		}
		for range 100 {
			ask()
			pass(150 * time.Millisecond)
		}
		pass(time.Minute)
		if out < in {
			t.Errorf("%d bytes were sent for %d: who asks is not answered", out, in)
		}
	}
}

// Two nodes that know nothing of each other make contact though any one of the first frames
// is lost, within the second that it takes to ask again.
func TestContactThoughOneFrameIsLost(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		for lost := range 12 {
			b := newBed(t, 0)
			n := 0
			b.lose = func(int, []byte) bool { n++; return n == lost+1 }
			for i, a := range sealedAddrs {
				x := b.add(Config{Address: a, Sealed: sealed}, uint64(i))
				if sealed {
					x.setKey(t, 0, Key{Key: testKey(t, frame.ClusterKey, 3)})
				}
			}
			if !b.until(3*time.Second, func() bool {
				x, y := b.nodes[0].byAddr[sealedAddrs[1]], b.nodes[1].byAddr[sealedAddrs[0]]
				return x != nil && y != nil && x.contact == UpUp && y.contact == UpUp
			}) {
				t.Errorf("sealed %v: no contact with frame %d lost: %q", sealed, lost, b.lines)
			}
		}
	}
}

// A discovery message from the station of a peer, made up, says that the peer is able to
// nothing: its link goes on, idle and under load. When the peer really starts again as another
// program, what it says counts. Caught by this: neighbour that takes capabilities while there is
// contact; lost that does not take those of the next life.
//
// Proves: hostile.docs
func TestHostileCapabilitiesOfALiveLink(t *testing.T) {
	for _, signature := range []uint16{0x1111, 0x2222} {
		b := newBed(t, 2)
		x := b.nodes[0]
		met := func() bool { n := x.byAddr[sealedAddrs[1]]; return n != nil && n.contact == UpUp }
		if !b.until(5*time.Second, met) {
			t.Fatal("no contact")
		}
		n := x.byAddr[sealedAddrs[1]]
		caps := n.caps
		f := frame.DiscoveryFields{
			Type: frame.Request, Signature: signature, Capabilities: frame.CapNodeID128, Prev: sealedAddrs[1], NetID: frame.DefaultNetID,
			MAC: b.nodes[1].macs[0], NetHash: 9, Identity: n.identity,
		}
		if signature == 0x1111 {
			f.Signature = uint16(n.signature) & 0x7fff
		}
		for range 20 {
			c := x.arena.Get(200, netdev.Control)
			msg := ether(x.macs[0], b.nodes[1].macs[0], f.Append(nil))
			copy(c.Extend(len(msg)), msg)
			x.HandleFrame(b.now, 0, c)
			c.Release()
			b.pass(500 * time.Millisecond)
			if !met() || n.caps != caps || !n.has(Proofs) {
				t.Fatalf("after a message with signature %#x: %v, %v", f.Signature, n.contact, n.caps)
			}
		}
		for _, ev := range x.events {
			if ev.Kind == LinkDown {
				t.Errorf("%v", ev)
			}
		}
	}
}

// A peer that is another program after it started again is taken at its word.
func TestCapabilitiesOfANewLife(t *testing.T) {
	p := newScriptedPeer(t).up()
	n := p.byAddr[popAddr]
	p.disc(frame.Request, func(f *frame.DiscoveryFields) { f.Capabilities &^= frame.CapNamedBcast; f.Signature = 0x2222 })
	if !n.caps.Has(frame.CapNamedBcast) {
		t.Error("what it says counts while the link is up")
	}
	p.session++
	p.reset(false)
	if n.caps.Has(frame.CapNamedBcast) || n.up() {
		t.Errorf("after its RESET: %v, up %v", n.caps, n.up())
	}
	p.drain()
	p.eventList()
	p.done()
}

// A peer that asks for another priority over and over, in the session, resets the link three
// times, and then once in ten seconds; the last that it asked for counts in the end. Caught by
// this: HoldPriority that is not called.
//
// Proves: hostile.docs
func TestHostilePriorities(t *testing.T) {
	c := newPeers(t, 1, 1)
	downs := 0
	start := c.now
	for i := 0; c.now < start+60*time.Second; i++ {
		if n := c.node(0); n == nil || !n.up() {
			c.on(0, 0).join()
		}
		prio := uint8(11 + i%20)
		c.on(0, 0).report(func(f *frame.StateFields) { f.Priority = prio })
		c.collect()
		for ev, ok := c.NextEvent(); ok; ev, ok = c.NextEvent() {
			if ev.Kind == LinkDown {
				downs++
			}
		}
		c.now += 100 * time.Millisecond
		c.HandleTimeout(c.now)
		c.collect()
	}
	if downs < 6 || downs > 10 {
		t.Errorf("the link was reset %d times in a minute, want 3 and one every ten seconds", downs)
	}
}
