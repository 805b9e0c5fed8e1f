// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
)

// A manyPeers is an engine in contact with many peers, which the test plays. Their links
// tick every 500 ms, evenly spread, and live for 30 s when nothing is heard.
type manyPeers struct {
	*Engine
	t     testing.TB
	arena *netdev.Arena
	now   time.Duration
	n     int
	port  *Port
	round frame.Seq // STATEs that each peer has sent
	seq   frame.Seq // the next packet of each peer, once all are there
	msg   [256]byte
	names []naming.Event
}

const manyPeersTick = 500 * time.Millisecond

// newManyPeers makes contact with n peers, exchanges names and a message with each, and
// lets all fall idle.
func newManyPeers(t testing.TB, n int) *manyPeers {
	t.Helper()
	c := &manyPeers{t: t, n: n, arena: newArena(t, netdev.ArenaConfig{Small: 1024})}
	e, err := New(Config{Address: ownAddr, Arena: c.arena, Chance: NewSeeded(1, 2), Tolerance: flowctl.MaxTolerance, MaxNodes: max(n, MaxNodes)})
	if err != nil {
		t.Fatal(err)
	}
	c.Engine = e
	if _, err := e.AddBearer(0, BearerConfig{Name: "eth0", MAC: ownMAC, MTU: 1500}); err != nil {
		t.Fatal(err)
	}
	c.port = c.OpenPort(PortConfig{})
	for i := range n {
		c.now += manyPeersTick / time.Duration(n)
		c.round = 0
		c.meet(i)
		c.say(i)
		c.hear(i)
		c.take()
	}
	for range 2 {
		c.tick(manyPeersTick, nil)
		c.hearAll()
	}
	return c
}

func (c *manyPeers) addr(i int) frame.NodeAddr { return 0x2000000 + frame.NodeAddr(i) }

func (c *manyPeers) link(i int) *link { return c.byAddr[c.addr(i)].links[0] }

// give gives the engine a message of peer i.
func (c *manyPeers) give(i int, msg []byte) {
	f := c.arena.Get(frame.EthernetLen+len(msg), netdev.Control)
	frame.PutEthernet(f.Extend(frame.EthernetLen), ownMAC, frame.MAC{2, 1, 0, byte(i >> 16), byte(i >> 8), byte(i)})
	copy(f.Extend(len(msg)), msg)
	c.HandleFrame(c.now, 0, f)
	f.Release()
}

// take takes what the engine has to send and to tell, and returns the number of frames.
func (c *manyPeers) take() (frames int) {
	for f := c.NextFrame(0); f != nil; f = c.NextFrame(0) {
		f.Release()
		frames++
	}
	for _, ok := c.NextEvent(); ok; _, ok = c.NextEvent() {
	}
	c.names = c.TakeNameEvents(c.names[:0])
	return frames
}

// meet brings the link to peer i up, with names.
func (c *manyPeers) meet(i int) {
	a, buf := c.addr(i), c.msg[:0]
	c.give(i, (&frame.DiscoveryFields{
		Type: frame.Request, Capabilities: popCaps, Signature: 1, Prev: a, NetID: frame.DefaultNetID,
		MAC: frame.MAC{2, 1, 0, byte(i >> 16), byte(i >> 8), byte(i)}, Identity: frame.AddrIdentity(a),
	}).Append(buf))
	for _, activate := range []bool{false, true} {
		r := frame.ResetFields{Common: frame.Common{Seq: 0x8000, Prev: a}, LinkInfo: c.info(i, 1), Activate: activate, MaxPacket: 1500}
		r.RedundantLink, r.BcastAckInvalid = false, true
		copy(r.IfName[:], "eth0")
		c.give(i, r.Append(buf))
	}
	c.packet(i, 1, (&frame.BcastInitFields{Common: frame.Common{Prev: a}, BcastAckInvalid: true, Orig: a, Dest: ownAddr}).Append(buf))
	c.packet(i, 2, (&frame.NamesFields{
		Common: frame.Common{Prev: a}, NonLegacy: true, Bulk: true, LastBulk: true, UpdateSeq: 1,
		Orig: a, Dest: ownAddr,
	}).Append(buf, stateItem(a)))
	c.seq = 3
	if n := c.byAddr[a]; n == nil || n.contact != UpUp {
		c.t.Fatalf("no contact with peer %d: %+v", i, n)
	}
}

func (c *manyPeers) info(i int, next frame.Seq) frame.LinkInfo {
	return frame.LinkInfo{NextSent: next, Session: 700, Orig: c.addr(i), Dest: ownAddr, RedundantLink: true}
}

// packet gives the engine a packet of peer i, which acknowledges everything.
func (c *manyPeers) packet(i int, seq frame.Seq, msg []byte) {
	frame.StampSeq(msg, seq)
	frame.StampAcks(msg, c.link(i).Look().SndNxt-1, 0)
	c.give(i, msg)
}

// hear lets peer i say a STATE that acknowledges everything.
func (c *manyPeers) hear(i int) {
	f := frame.StateFields{Common: frame.Common{Seq: c.round + 1, Ack: c.link(i).Look().SndNxt - 1, Prev: c.addr(i)}, LinkInfo: c.info(i, c.seq)}
	c.round++
	c.give(i, f.Append(c.msg[:0], nil))
}

func (c *manyPeers) hearAll() {
	round := c.round
	for i := range c.n {
		c.round = round
		c.hear(i)
	}
}

// say exchanges a message with peer i.
func (c *manyPeers) say(i int) {
	if err := c.port.Send(c.now, frame.SocketAddr{Port: 77, Node: c.addr(i)}, c.msg[:64]); err != nil {
		c.t.Fatal(err)
	}
	p := frame.PayloadFields{
		Common: frame.Common{Prev: c.addr(i)}, Type: frame.DirectMsg, OrigPort: 77, DestPort: c.port.number,
		OrigNode: c.addr(i), DestNode: ownAddr,
	}
	c.packet(i, c.seq, p.Append(c.msg[:0], c.msg[128:192]))
	c.seq++
	if n, _, ok := c.port.Read(c.msg[:]); !ok || n != 64 {
		c.t.Fatalf("peer %d: read %d bytes, %v", i, n, ok)
	}
	c.ready = c.ready[:0]
	c.port.readied = false
}

// tick lets d pass, deadline by deadline; each, if not nil, is called with what came
// out of a deadline.
func (c *manyPeers) tick(d time.Duration, each func(frames int)) {
	for end := c.now + d; ; {
		if c.Deadline() > end {
			c.now = end
			return
		}
		c.now = c.Deadline()
		c.HandleTimeout(c.now)
		if frames := c.take(); each != nil {
			each(frames)
		}
	}
}
