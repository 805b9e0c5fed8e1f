// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"hash/fnv"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// A twoLinkScript makes frames for both links of a scripted peer from bytes.
type twoLinkScript struct {
	script
	port uint32
}

// message is a sound message of the peer, which may also come through a tunnel.
func (s *twoLinkScript) message() []byte {
	x := s.byte()
	text := string(s.take(int(s.byte() % 64)))
	payload := func(f *frame.PayloadFields) {
		f.Importance, f.DestDroppable = frame.Importance(x&3), x&4 != 0
		if x&0xf0 == 0xf0 {
			f.Error = frame.ErrorCode(x & 7)
		}
	}
	switch s.byte() % 9 {
	case 0:
		return data(0, func(f *frame.PayloadFields) { f.Error = frame.NoPort }, "")
	case 1:
		return data(uint32(x), func(f *frame.PayloadFields) { payload(f); named(18888, uint32(x>>4))(f) }, text)
	case 2:
		if x < 250 {
			return bundle(nil, data(s.port, payload, text), data(s.port, payload, text))
		}
		return frag(frame.FragmentType(x%3), []byte(text)) // the link's end, mostly
	case 3:
		return connMsg(uint32(x), nil)
	default:
		return data(s.port, payload, text)
	}
}

// tunnel is a tunnel message with anything in it, most likely the next packet of the
// other line.
func (s *twoLinkScript) tunnel(d *scriptedPeer, line int) []byte {
	x := s.byte()
	var inner []byte
	switch {
	case x&7 == 7:
		inner = s.take(int(s.byte()))
	case x&7 == 6:
		inner = d.tunnel(nil, s.message())
	default:
		inner = s.message()
	}
	if len(inner) >= frame.ShortLen {
		frame.StampSeq(inner, d.links[1-line].seq+frame.Seq(int8(s.byte())/8))
	}
	return d.tunnel(func(f *frame.TunnelFields) {
		f.Bearer = x >> 5
		if x&0x18 == 0x18 {
			f.Type = frame.TunnelSynch
			if x&1 != 0 {
				inner = nil
			}
		}
		switch y := s.byte(); {
		case y < 128:
			f.Count = uint16(y%8) + 1
		case y < 200:
			f.Piece, f.Pieces, f.Count = uint16(y%4), uint16(y>>2%4), uint16(y%8)+1
		default:
			f.Count = uint16(y)<<8 | uint16(s.byte())
		}
	}, inner)
}

// step gives the engine one frame on one of the bearers, or lets time pass, or takes an
// interface down, or sends.
func (s *twoLinkScript) step(d *scriptedPeer, port *Port) {
	op := s.byte()
	i := int(op >> 7)
	x := d.links[i]
	l := d.link(i)
	switch op & 0x7f % 24 {
	case 0:
		d.links[i].raw(ether(bearerMAC(i), x.mac, s.take(int(s.byte()%64))))
	case 1, 2: // with bits turned
		b := s.message()
		if op&0x40 != 0 {
			b = s.tunnel(d, i)
		}
		frame.StampSeq(b, x.seq)
		frame.StampAcks(b, x.ack, 0)
		if s.byte()&1 != 0 {
			x.seq++
		}
		for range 1 + s.byte()%3 {
			b[int(s.byte())%min(len(b), 64)] ^= 1 << (s.byte() % 8)
		}
		d.links[i].hear(b)
	case 3, 4: // out of order
		b := s.message()
		if op&0x40 != 0 {
			b = s.tunnel(d, i)
		}
		frame.StampSeq(b, x.seq+frame.Seq(int8(s.byte())/4))
		frame.StampAcks(b, x.ack, 0)
		d.links[i].hear(b)
	case 5:
		d.links[i].disc(frame.Request, nil)
	case 6:
		x.session += frame.Seq(s.byte() & 3)
		d.links[i].reset(s.byte()&1 != 0, func(f *frame.ResetFields) {
			y := s.byte()
			f.PeerStopping, f.RedundantLink = y&1 != 0, y&2 != 0
			if y&12 == 12 {
				f.Priority, f.MaxPacket = s.byte()&31, int(s.byte())*8
			}
		})
		if !l.IsUp() {
			x.seq, x.ack, x.state = 1, 0, 1
		}
	case 7, 8, 9:
		d.links[i].report(func(f *frame.StateFields) {
			y := s.byte()
			f.Probe, f.Keepalive = y&1 != 0, y&2 != 0
			if y&4 != 0 {
				f.Gap, f.NextSent = int(s.byte()), f.NextSent+frame.Seq(s.byte())
			}
			if y&0xf8 == 0xf8 {
				f.Ack, f.Priority, f.Tolerance = frame.Seq(s.byte()), s.byte()&31, uint16(s.byte())*4
			}
		})
	case 10:
		d.now += time.Duration(s.byte()) * 4 * time.Millisecond
		d.HandleTimeout(d.now)
		d.collect()
	case 11:
		mtu := 1500
		if y := s.byte(); y < 100 {
			mtu = 0
		}
		d.SetMTU(d.now, i, mtu)
		d.collect()
	case 12, 13, 14, 15:
		d.links[i].packet(s.tunnel(d, i))
	case 16, 17:
		port.Send(d.now, frame.SocketAddr{Port: 77, Node: popAddr}, s.take(int(s.byte())))
		d.collect()
	case 18, 19:
		if !l.IsUp() {
			s.contact(d, i)
			return
		}
		d.links[i].packet(s.message())
	default:
		d.links[i].packet(s.message())
	}
}

// contact lets the peer try to bring a line up again.
func (s *twoLinkScript) contact(d *scriptedPeer, i int) {
	x := d.links[i]
	d.SetMTU(d.now, i, 1500)
	d.now += time.Second
	d.links[i].disc(frame.Request, nil)
	x.session++
	x.seq, x.ack, x.state = 1, 0, 1
	for _, activate := range []bool{false, false, true} {
		for end := d.now + 400*time.Millisecond; d.now < end; {
			d.now = min(d.Deadline(), end)
			d.HandleTimeout(d.now)
			d.collect()
		}
		if o := d.link(1 - i); o.IsUp() {
			d.links[1-i].report(nil)
		}
		d.links[i].reset(activate, func(f *frame.ResetFields) { f.RedundantLink = d.node().up() })
	}
	d.links[i].report(func(f *frame.StateFields) { f.Ack = 0 })
	if d.link(1 - i).IsUp() {
		d.links[i].packet(d.tunnel(func(f *frame.TunnelFields) { f.Type, f.Count = frame.TunnelSynch, uint16(d.links[1-i].seq-1) }, nil))
		return
	}
	d.bcast = 1
	d.links[i].packet((&frame.BcastInitFields{Common: frame.Common{Prev: popAddr}, Orig: popAddr, Dest: ownAddr}).Append(nil))
}

// check looks at what always holds.
func (d *scriptedPeer) check() {
	d.t.Helper()
	if n := d.held(); n != 0 {
		d.t.Fatalf("%d chunks belong to nobody", n)
	}
	n := d.node()
	up := [2]int{}
	synching, failing, receivers := 0, 0, 0
	for i, l := range n.links[:2] {
		if l.IsUp() {
			up[i]++
			if l.Unacked() > flowctl.MaxWindow {
				d.t.Fatalf("line %d: %d packets unacknowledged", i, l.Unacked())
			}
		}
		switch l.State() {
		case flowctl.Synching:
			synching++
		case flowctl.FailingOver:
			failing++
		case flowctl.Resetting, flowctl.PeerReset:
			d.t.Fatalf("line %d is left %v", i, l.State())
		}
		if l.failoverReceiver != nil {
			receivers++
		}
		if got := d.bearers[i].links; got != up[i] {
			d.t.Fatalf("line %d: %d links counted, %d up", i, got, up[i])
		}
		if l.Deadline() < d.Deadline() {
			d.t.Fatalf("deadline %v, of line %d %v", d.Deadline(), i, l.Deadline())
		}
	}
	contact := n.contact == UpComing || n.contact == UpUp || n.contact == FailingOver || n.contact == Synching
	switch {
	case n.up() != (up[0]+up[1] > 0), n.up() != contact, n.up() != (n.slots[1] != nil):
		d.t.Fatalf("links up %v, slots %v, contact %v", up, n.slots, n.contact)
	case n.up() && (!n.slots[0].IsUp() || !n.slots[1].IsUp()):
		d.t.Fatalf("a slot has a link that is %v, %v", n.slots[0].State(), n.slots[1].State())
	case !n.up() && (d.table.Count(n.addr) != 0 || n.bcast.Up()):
		d.t.Fatalf("no contact, and %d names, broadcast %v", d.table.Count(n.addr), n.bcast.Up())
	case (n.contact == Synching) != (synching == 1) || synching > 1:
		d.t.Fatalf("%d links synching, contact %v", synching, n.contact)
	case n.contact != FailingOver && failing+receivers > 0, n.contact == FailingOver && receivers != 1:
		d.t.Fatalf("%d links failing over to %d, contact %v", failing, receivers, n.contact)
	}
}

// runTwoLinks feeds an engine with two links and returns a hash of all it did.
func runTwoLinks(t testing.TB, b []byte, check bool) uint64 {
	h := fnv.New64a()
	d := newTwoLinks(t)
	ports := [2]*Port{d.OpenPort(PortConfig{ReceiveLimit: 2000}), d.OpenPort(PortConfig{ReceiveLimit: 2000})}
	s := &twoLinkScript{script{b}, ports[0].number}
	buf := make([]byte, 100)
	for len(s.b) > 0 {
		if d.arena.Free() < 300 { // the peer acknowledges at last
			d.links[0].report(nil)
			d.links[1].report(nil)
		}
		s.step(d, ports[len(s.b)&1])
		if check {
			d.check()
		}
		for _, f := range d.sent {
			h.Write(f.bytes)
			if line := f.line(); strings.HasPrefix(line, "UNSOUND") {
				t.Fatalf("sent %s", line)
			}
		}
		d.sent = nil
		for _, p := range ports {
			n, _, _ := p.Read(buf)
			h.Write(buf[:n])
		}
		for ev, ok := d.NextEvent(); ok; ev, ok = d.NextEvent() {
			h.Write([]byte(ev.Kind.String()))
		}
		d.TakeReady(nil)
		d.TakeNameEvents(nil)
	}
	for _, p := range ports {
		p.Close(d.now)
	}
	d.done("")
	return h.Sum64()
}

// FuzzEngineTwoLinks gives an engine with two links to a peer arbitrary frames on either
// bearer, tunnel messages among them, while interfaces go down and up: never a panic,
// chunks conserved, links, slots and contact of one mind.
//
// Proves: link.hostile
func FuzzEngineTwoLinks(f *testing.F) {
	f.Add([]byte("\x0c\x00\x05\x00hello\x00\x00\x00\x00\x8c\x00\x05\x00world\x00\x00"))
	f.Add([]byte("\x0b\x00\x0c\x00\x00\x00\x14\x14\x0b\xff\x12\x12\x12"))
	f.Add(randomScript(7, 500))
	f.Fuzz(func(t *testing.T, b []byte) { runTwoLinks(t, b, true) })
}

// The same with fixed input, which gives the same frames, events and data each time.
//
// Proves: link.hostile
func TestEngineWithTwoLinksUnderRandomFrames(t *testing.T) {
	n := 60
	if raceEnabled || testing.Short() {
		n = 15
	}
	for seed := range uint64(n) {
		b := randomScript(1000+seed, 4000)
		got := runTwoLinks(t, b, true)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		if seed%10 == 0 {
			if want := runTwoLinks(t, b, false); got != want {
				t.Errorf("seed %d: got %x, want %x", seed, got, want)
			}
		}
	}
}
