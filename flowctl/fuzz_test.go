// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// calls reads a sequence of calls of a link from bytes.
type calls struct{ b []byte }

func (c *calls) byte() byte {
	if len(c.b) == 0 {
		return 0
	}
	x := c.b[0]
	c.b = c.b[1:]
	return x
}

// near is mostly a small step from s, sometimes anything.
func (c *calls) near(s frame.Seq) frame.Seq {
	switch x := c.byte(); {
	case x < 100:
		return s
	case x < 200:
		return s + frame.Seq(x) - 150
	default:
		return s + frame.Seq(x)<<8 + frame.Seq(c.byte())
	}
}

func (c *calls) resetFields(r *scriptedPeer) func(*frame.ResetFields) {
	return func(f *frame.ResetFields) {
		x := c.byte()
		f.Session = c.near(r.peerSession + frame.Seq(x&1))
		if x&2 != 0 {
			f.Tolerance, f.Priority, f.MaxPacket = uint16(c.byte())<<8, c.byte()&31, int(c.byte())*16
		}
		f.PeerStopping = x&0x1c == 0x1c
		f.RedundantLink = x&0x20 != 0
		if f.Activate {
			f.DestSession, f.DestSessionValid = c.near(r.Link.session), x&0x40 != 0
		}
	}
}

// record adds a Gap ACK record to a STATE, mostly one that may be.
func (c *calls) record(r *scriptedPeer, b []byte) []byte {
	s, _ := parseLink(r.t, b).State()
	f, g := s.Fields(), frame.GapAckFields{}
	ack := s.Ack() + frame.Seq(s.Gap())
	for range c.byte() % 8 {
		x := c.byte()
		ack += frame.Seq(x & 7)
		g.Unicast = append(g.Unicast, frame.GapBlock{Ack: ack, Gap: uint16(x >> 5)})
		ack += frame.Seq(x >> 5)
	}
	if n := len(g.Unicast); n > 0 && c.byte()&7 != 0 {
		g.Unicast[n-1].Gap = 0
	}
	record := g.Append(nil)
	if c.byte() > 240 {
		record = record[:len(record)-int(c.byte())%4]
	}
	return f.Append(nil, record)
}

// step makes one call.
func (c *calls) step(r *scriptedPeer, l *ledger, lent *[]*netdev.Buffer) {
	if r.arena.Free() < 8 {
		r.discard()
	}
	switch op := c.byte(); op % 12 {
	case 0:
		r.hear(reset(c.resetFields(r)))
	case 1:
		r.hear(activate(c.resetFields(r)))
	case 2, 3:
		r.hear(c.record(r, r.stateMsg(func(f *frame.StateFields) {
			x := c.byte()
			f.Session, f.Seq = c.near(r.peerSession), c.near(r.rcvNxtState)
			f.Ack = c.near(r.sndNxt - 1)
			f.NextSent = c.near(r.rcvNxt)
			f.Probe, f.Keepalive = x&1 != 0, x&2 != 0
			if x&4 != 0 {
				f.Gap = int(c.byte()) << (x >> 5)
			}
			if x&0x18 == 0x18 {
				f.Tolerance, f.Priority = uint16(c.byte())<<8, c.byte()&31
			}
		})))
	case 4, 5, 6:
		r.receive(c.near(r.rcvNxt), c.near(r.sndNxt-1))
	case 7, 8:
		if !r.IsUp() {
			return
		}
		x := c.byte()
		if x >= 240 {
			l.flush()
			return
		}
		for range x % 40 {
			how, n := c.byte(), frame.BasicLen+4+int(c.byte())
			if how >= 200 {
				n = 3 * n
			}
			if !l.send(x/40, n, frame.Importance(how%5), c.byte()) {
				return
			}
		}
	case 9:
		r.now += time.Duration(c.byte()) * time.Millisecond
		if d := r.Deadline(); c.byte()&1 != 0 && d != Never {
			r.now = max(r.now, d)
		}
		r.HandleTimeout(r.now)
	case 10:
		switch c.byte() % 12 {
		case 0:
			r.Fail()
		case 1:
			r.SetTolerance(r.now, time.Duration(c.byte())*time.Millisecond)
		case 2:
			r.SetCapabilities(frame.Capabilities(c.byte()) << 1)
		case 3:
			r.bc.Open(c.near(0))
		case 4:
			r.Up(r.now)
		case 5:
			least := int(c.byte())
			r.SetWindow(r.now, least, least+int(c.byte()&^7))
		case 6:
			r.TakeRoom()
			r.Want(r.now, frame.Importance(c.byte()%5))
		case 7:
			r.ResetStatistics(r.now)
		case 8:
			l.sendAll(int(c.byte()%6), frame.Importance(c.byte()%5))
		default:
			r.broadcast(c.near(r.bc.rcvNxt))
			r.bc.HandleState(c.near(r.bc.rcvNxt))
		}
	case 11:
		// A device takes frames and lets go of them later.
		for range c.byte() % 16 {
			if b := r.NextFrame(); b != nil {
				r.messages(b.Bytes()[frame.EthernetLen:])
				b.Lend()
				b.Release()
				*lent = append(*lent, b)
			}
		}
		for len(*lent) > int(c.byte()%32) {
			(*lent)[0].Complete()
			*lent = (*lent)[1:]
		}
	}
}

// check looks at what always holds.
func (r *scriptedPeer) check(lent []*netdev.Buffer) {
	r.t.Helper()
	// Chunks: what is free and what is held makes the whole, each counted once.
	held := map[*netdev.Buffer]bool{}
	hold := func(b *netdev.Buffer) bool { held[b] = true; return true }
	r.Buffers(hold)
	r.bc.Buffers(hold)
	for _, b := range lent {
		hold(b)
	}
	if got, want := r.arena.Free()+len(held), r.arena.Total(); got != want {
		r.t.Fatalf("%d chunks free and %d held, want %d together", r.arena.Free(), len(held), want)
	}
	if r.Unacked() > max(r.Window(), r.transmit.Len()) || r.transmit.Len() > MaxWindow {
		r.t.Fatalf("%d packets unacknowledged in %d, window %d", r.Unacked(), r.transmit.Len(), r.Window())
	}
	if n := r.transmit.Len(); n > 0 && r.transmit.At(0).b == nil {
		r.t.Fatalf("the first of %d packets is acknowledged", n)
	}
	unacked, flight := 0, 0
	for i := range r.transmit.Len() {
		if b := r.transmit.At(i).b; b != nil {
			unacked, flight = unacked+1, flight+b.Len()
		}
	}
	if unacked != r.Unacked() || flight != int(r.flight) {
		r.t.Fatalf("%d packets of %d bytes unacknowledged, counted %d, %d", unacked, flight, r.Unacked(), r.flight)
	}
	for imp := range r.Look().Waiting {
		if r.Look().TurnedAway[imp] && !r.Link.Congested(frame.Importance(imp)) && r.IsUp() {
			r.t.Fatalf("importance %d: turned away, and not told of room", imp)
		}
	}
	sum := r.Look().Tunnelled
	for imp, n := range r.Look().Waiting {
		if n < 0 || n > 510*(imp+1)+5 && imp < int(frame.System) {
			r.t.Fatalf("%d packets of importance %d waiting, limit %d", n, imp, r.Limit(frame.Importance(imp)))
		}
		sum += n
	}
	if sum != r.Backlog() {
		r.t.Fatalf("%d packets waiting by importance, %d in the queue", sum, r.Backlog())
	}
	if !r.IsUp() && r.State() != Resetting && r.State() != PeerReset && (r.Unacked() > 0 || len(r.deferred()) > 0) {
		r.t.Fatalf("%v with %d packets sent and %d deferred", r.State(), r.Unacked(), len(r.deferred()))
	}
	for i, d := range r.deferred() {
		if !r.rcvNxt.Before(d.seq) || i > 0 && !r.packets[i-1].seq.Before(d.seq) {
			r.t.Fatalf("deferred %d at place %d, expecting %d", d.seq, i, r.rcvNxt)
		}
	}
	if r.Deadline() != Never && r.Deadline() > r.now+r.sup.Interval() {
		r.t.Fatalf("deadline %v at %v, interval %v", r.Deadline(), r.now, r.sup.Interval())
	}
}

// runCalls makes the calls and returns how many messages shared packets.
func runCalls(t testing.TB, b []byte) uint64 {
	small := netdev.NewArena(netdev.ArenaConfig{Small: 384, Reserve: 64})
	c := &calls{b}
	first := c.byte()
	r := newScriptedPeer(t, func(k *Config) {
		k.Arena, k.Alone, k.Margin, k.Capabilities = small, first&2 != 0, int(first>>2), allCaps|frame.CapGapAckBlock
	})
	if first < 192 {
		r.SetCapabilities(allCaps | frame.CapGapAckBlock)
	}
	l := newLedger(r)
	var lent []*netdev.Buffer
	if first&1 != 0 {
		r.up()
	}
	for len(c.b) > 0 {
		c.step(r, l, &lent)
		// The node does its part.
		switch e := r.TakeEvents(); {
		case e&(WentDown|Stuck) != 0:
			r.Fail()
			r.Restart(r.now)
			r.bc.Reset()
			l.restart()
		case e&WantUp != 0:
			r.Up(r.now)
		}
		r.check(lent)
		l.check()
	}
	for _, b := range lent {
		b.Complete()
	}
	r.done()
	return r.SentBundled
}

// FuzzLink makes any sequence of calls: no panic, chunks conserved, limits kept,
// and every message leaves once, whole and in order.
//
// Proves: link.bundles, link.hostile
func FuzzLink(f *testing.F) {
	f.Add([]byte{1, 7, 60, 2, 0, 0, 0, 0, 11, 9, 3})
	f.Add([]byte("\x01\x04\x80\x64\x04\x99\x64\x09\xff\x01\x07\x27"))
	f.Fuzz(func(t *testing.T, b []byte) { runCalls(t, b) })
}

// Proves: link.bundles
func TestLinkUnderRandomCalls(t *testing.T) {
	n := 120
	if testing.Short() || raceEnabled {
		n = 30
	}
	bundled := uint64(0)
	for seed := range uint64(n) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		b := make([]byte, 1200)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		b[0] |= 1
		bundled += runCalls(t, b)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if bundled < uint64(n) {
		t.Errorf("got %d messages in bundles, want more than %d", bundled, n)
	}
}
