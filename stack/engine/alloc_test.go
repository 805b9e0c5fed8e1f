// SPDX-License-Identifier: Apache-2.0

//go:build !race

package engine

import (
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// hot is a scripted peer in contact, with a name of its peer's, a port that sends to it
// and one that receives.
type hot struct {
	*scriptedPeer
	from, to *Port
	ack      *netdev.Buffer // the peer's STATE
	in       *netdev.Buffer // the peer's data
	buf      [2048]byte
	payload  [64]byte
	svc      frame.Service
}

func newHot(t testing.TB) *hot {
	h := &hot{scriptedPeer: newScriptedPeer(t).up(), svc: frame.Service{Type: 18888, Instance: 17}}
	h.packet(h.names(func(f *frame.NamesFields) { f.UpdateSeq = 1 }, nameItem(18888, 17, 17, 5)))
	h.from, h.to = h.OpenPort(PortConfig{}), h.OpenPort(PortConfig{})
	h.drain()
	s := frame.StateFields{Common: frame.Common{Prev: popAddr}, LinkInfo: h.info()}
	h.ack = h.kept(s.Append(nil, nil))
	h.in = h.kept(data(h.to.number, nil, string(h.payload[:])))
	return h
}

// kept is a frame with a message of the peer, to be given to the engine again and again.
func (x *peerLink) kept(msg []byte) *netdev.Buffer { return x.keptFor(bearerMAC(x.bearer), msg) }

func (x *peerLink) keptFor(dst frame.MAC, msg []byte) *netdev.Buffer {
	b := x.arena.Get(frame.EthernetLen+len(msg), netdev.Control)
	copy(b.Extend(frame.EthernetLen+len(msg)), ether(dst, x.mac, msg))
	return b
}

// discard takes the frames out of the engine on the first bearer.
func (c *peers) discard() {
	for f := c.NextFrame(0); f != nil; f = c.NextFrame(0) {
		f.Release()
	}
}

// sendOne sends a message by name, takes the frame out and acknowledges it.
func (h *hot) sendOne() {
	if err := h.from.SendService(h.now, h.svc, h.payload[:]); err != nil {
		h.t.Fatal(err)
	}
	f := h.NextFrame(0)
	m, _ := frame.Parse(f.Bytes()[frame.EthernetLen:])
	msg := h.ack.Bytes()[frame.EthernetLen:]
	frame.StampAcks(msg, m.Seq(), 0)
	frame.StampSeq(msg, h.state)
	h.state++
	f.Release()
	h.HandleFrame(h.now, 0, h.ack)
}

// receiveOne lets the peer's message come and reads it.
func (h *hot) receiveOne() {
	frame.StampSeq(h.in.Bytes()[frame.EthernetLen:], h.seq)
	h.seq++
	h.HandleFrame(h.now, 0, h.in)
	if n, _, ok := h.to.Read(h.buf[:]); !ok || n != len(h.payload) {
		h.t.Fatalf("read %d bytes, %v", n, ok)
	}
	h.ready = h.ready[:0]
	h.to.readied = false
	h.discard()
}

// Proves: poll.allocations
func TestNoAllocs(t *testing.T) {
	h := newHot(t)
	for _, c := range []struct {
		name string
		f    func()
	}{{"send to a service", h.sendOne}, {"receive and read", h.receiveOne}} {
		for range 100 {
			c.f()
		}
		if got := testing.AllocsPerRun(500, c.f); got != 0 {
			t.Errorf("%s: got %v allocations, want 0", c.name, got)
		}
	}
	if h.Unsent() != 0 {
		t.Errorf("got %d unsent", h.Unsent())
	}
}

func BenchmarkSendService(b *testing.B) {
	h := newHot(b)
	for b.Loop() {
		h.sendOne()
	}
}

func BenchmarkReceive(b *testing.B) {
	h := newHot(b)
	for b.Loop() {
		h.receiveOne()
	}
}

// A long message, and a sender that finds the link full again and again, allocate
// nothing either.
func TestLongAndBlockedSendsAllocateNothing(t *testing.T) {
	h := newHot(t)
	long := make([]byte, 20000)
	sendLong := func() {
		if err := h.from.SendService(h.now, h.svc, long); err != nil {
			t.Fatal(err)
		}
		for f := h.NextFrame(0); f != nil; f = h.NextFrame(0) {
			m, _ := frame.Parse(f.Bytes()[frame.EthernetLen:])
			if m.User() != frame.UserLink {
				frame.StampAcks(h.ack.Bytes()[frame.EthernetLen:], m.Seq(), 0)
			}
			f.Release()
		}
		frame.StampSeq(h.ack.Bytes()[frame.EthernetLen:], h.state)
		h.state++
		h.HandleFrame(h.now, 0, h.ack)
	}
	var ticket Ticket
	called := make([]*Ticket, 0, 1)
	blocked := func() {
		h.SendAs(&ticket)
		err := h.from.SendService(h.now, h.svc, h.payload[:])
		h.SendAs(nil)
		if _, ok := err.(*Blocked); !ok {
			t.Fatalf("got %v", err)
		}
		h.Quit(h.now, &ticket)
		called = h.TakeCalled(called[:0])
	}
	for _, c := range []struct {
		name string
		f    func()
	}{{"long", sendLong}, {"blocked", blocked}} {
		if c.name == "blocked" {
			for h.from.SendService(h.now, h.svc, h.payload[:]) == nil {
			}
		}
		for range 100 {
			c.f()
		}
		if got := testing.AllocsPerRun(500, c.f); got != 0 {
			t.Errorf("%s: got %v allocations, want 0", c.name, got)
		}
	}
}
