// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
	"github.com/utipc/utipc/netdev"
)

// script makes frames from bytes.
type script struct{ b []byte }

func (s *script) byte() byte {
	if len(s.b) == 0 {
		return 0
	}
	x := s.b[0]
	s.b = s.b[1:]
	return x
}

func (s *script) take(n int) []byte {
	n = min(n, len(s.b))
	d := s.b[:n]
	s.b = s.b[n:]
	return d
}

// message is a sound message of the peer, mostly in sequence.
func (s *script) message(p *scriptedPeer) []byte {
	port := ^uint32(0)
	for n := range p.ports {
		port = min(port, n) // one of them, the same each time
	}
	if s.byte() > 200 {
		port = 4711
	}
	x := s.byte()
	text := string(s.take(int(s.byte() % 64)))
	payload := func(f *frame.PayloadFields) {
		f.Importance = frame.Importance(x & 3)
		f.DestDroppable, f.Syn = x&4 != 0, x&8 != 0
		if x&0xf0 == 0xf0 {
			f.Error = frame.ErrorCode(x & 7)
		}
	}
	switch s.byte() % 14 {
	case 0:
		return data(port, payload, text)
	case 1:
		return data(uint32(x), func(f *frame.PayloadFields) {
			payload(f)
			named(18888, uint32(x>>4))(f)
			f.Reroute = x & 1
		}, text)
	case 2:
		return data(0, func(f *frame.PayloadFields) { payload(f); mcast(uint32(x>>5), uint32(x>>3))(f) }, text)
	case 3:
		return data(port, func(f *frame.PayloadFields) { payload(f); f.Type = frame.ConnMsg }, text)
	case 4:
		return connMsg(uint32(x), func(f *frame.ConnFields) { f.Type = frame.ConnType(x % 3); f.Error = frame.ErrorCode(x >> 6) })
	case 5, 6:
		var items []frame.NameItem
		for range s.byte() % 5 {
			items = append(items, nameItem(uint32(s.byte())*200, uint32(s.byte()), uint32(s.byte()), uint32(s.byte()&3)))
		}
		return p.names(func(f *frame.NamesFields) {
			f.Withdrawal, f.Bulk, f.LastBulk, f.NonLegacy = x&1 != 0, x&2 != 0, x&4 != 0, x&8 != 0
			f.UpdateSeq = frame.Seq(s.byte())
		}, items...)
	case 7:
		if x < 250 {
			return data(port, payload, text)
		}
		return frag(frame.FragmentType(x%3), []byte(text)) // the link's end, mostly
	case 8:
		long := data(port, payload, text+text)
		i := min(len(long), 24+int(x))
		p.packet(frag(frame.FirstFragment, long[:i]))
		return frag(frame.LastFragment, long[i:])
	case 9:
		return bundle(nil, data(port, payload, text), connMsg(uint32(x), nil), data(uint32(x), payload, text))
	case 10:
		return (&frame.BcastInitFields{Common: frame.Common{Prev: popAddr}, LastBcast: frame.Seq(x), Orig: popAddr, Dest: ownAddr}).Append(nil)
	default:
		return data(port, nil, text)
	}
}

// step gives the engine one frame, or lets time pass.
func (s *script) step(p *scriptedPeer) {
	switch op := s.byte(); op % 20 {
	case 0: // anything at all
		p.raw(s.take(int(s.byte() % 64)))
	case 1: // behind a sound Ethernet header
		p.raw(ether(ownMAC, popMAC, s.take(int(s.byte()%64))))
	case 2, 3: // a sound message with bits turned
		b := p.next(s.message(p))
		if s.byte()&1 != 0 {
			p.seq--
		}
		for range 1 + s.byte()%4 {
			b[int(s.byte())%min(len(b), 64)] ^= 1 << (s.byte() % 8)
		}
		p.hear(b[:max(0, len(b)-int(s.byte()>>5))])
	case 4: // as broadcast
		b := onBroadcast(append(s.message(p), make([]byte, 8)...))
		if s.byte() < 200 {
			p.broadcast(b)
		} else {
			frame.StampSeq(b, p.bcast+frame.Seq(s.byte()))
			p.raw(ether(frame.BroadcastMAC, popMAC, b))
		}
	case 5: // out of order
		b := s.message(p)
		frame.StampSeq(b, p.seq+frame.Seq(s.byte())-20)
		frame.StampAcks(b, p.ack+frame.Seq(s.byte()&3), 0)
		p.hear(b)
	case 6:
		p.disc(frame.DiscoveryType(s.byte()%4), func(f *frame.DiscoveryFields) {
			x := s.byte()
			if x&1 != 0 {
				stranger(int(s.byte()))(f)
			}
			if x&2 != 0 {
				f.Signature = uint16(s.byte())
			}
			if x&4 != 0 {
				f.Capabilities = frame.Capabilities(s.byte())<<4 | frame.CapNodeID128
			}
			if x&0x38 == 0x38 {
				f.MAC = frame.MAC{2, s.byte()}
			}
			f.Suggested = frame.NodeAddr(s.byte())
		})
	case 7:
		if s.byte() > 220 {
			p.session += frame.Seq(s.byte() & 3)
			p.reset(s.byte()&1 != 0)
		}
	case 8, 9, 10:
		p.report(func(f *frame.StateFields) {
			x := s.byte()
			f.Probe, f.Keepalive = x&1 != 0, x&2 != 0
			if x&4 != 0 {
				f.Gap, f.NextSent, f.LastBcast = int(s.byte()), f.NextSent+frame.Seq(s.byte()), frame.Seq(s.byte())
			}
			if x&0xf8 == 0xf8 {
				f.Ack, f.Priority, f.Tolerance = frame.Seq(s.byte()), s.byte()&31, uint16(s.byte())*4
			}
		})
	case 11:
		p.now += time.Duration(s.byte()) * time.Millisecond
		p.HandleTimeout(p.now)
		p.collect()
	case 12, 13, 14:
		if n := p.byAddr[popAddr]; n == nil || n.links[0] == nil || !n.links[0].IsUp() {
			s.contact(p)
			return
		}
		p.packet(s.message(p))
	default:
		p.packet(s.message(p))
	}
}

// contact lets the peer try to come into contact again.
func (s *script) contact(p *scriptedPeer) {
	p.session++
	p.seq, p.ack, p.state, p.bcast = 1, 0, 1, 1
	p.now += time.Second
	p.disc(frame.Request, nil)
	for _, activate := range []bool{false, false, true} {
		p.wait(p.now + 400*time.Millisecond)
		p.reset(activate)
	}
	p.report(func(f *frame.StateFields) { f.Ack = 0 })
	p.packet((&frame.BcastInitFields{Common: frame.Common{Prev: popAddr}, Orig: popAddr, Dest: ownAddr}).Append(nil))
}

// checkAll looks at what always holds.
func (p *scriptedPeer) checkAll() {
	p.t.Helper()
	held := map[*netdev.Buffer]bool{}
	for b := range p.Buffers {
		held[b] = true
	}
	if got, want := p.arena.Free()+len(held), p.arena.Total(); got != want {
		p.t.Fatalf("%d chunks free and %d held, want %d together", p.arena.Free(), len(held), want)
	}
	if len(p.nodes) > maxStrangers+1 || len(p.nodes) != len(p.byAddr) {
		p.t.Fatalf("%d nodes, %d by address", len(p.nodes), len(p.byAddr))
	}
	for port := range p.ports {
		q := p.ports[port]
		if q.queued > q.ReceiveLimit<<frame.System || q.queued != q.data.n+recordCost*q.queue.Len() {
			p.t.Fatalf("port %d: %d bytes counted, %d waiting in %d messages", port, q.queued, q.data.n, q.queue.Len())
		}
	}
	up := 0
	for _, n := range p.nodes {
		if n.links[0] == nil {
			continue
		}
		if n.links[0].IsUp() {
			up++
		}
		if n.links[0].IsUp() != (n.contact == UpComing || n.contact == UpUp) {
			p.t.Fatalf("link to %v %v, contact %v", n.addr, n.links[0].State(), n.contact)
		}
		if !n.links[0].IsUp() && (p.table.Count(n.addr) != 0 || n.bcast.Up()) {
			p.t.Fatalf("%v is down and has %d names, broadcast %v", n.addr, p.table.Count(n.addr), n.bcast.Up())
		}
		if n.links[0].Deadline() < p.Deadline() {
			p.t.Fatalf("deadline %v, of a link %v", p.Deadline(), n.links[0].Deadline())
		}
	}
	var all parked
	for _, n := range p.nodes {
		if n.parked.messages > maxParked || n.parked.bytes > maxParkedBytes || n.parked.messages > 0 && !n.up() {
			p.t.Fatalf("%v has %+v parked, contact %v", n.addr, n.parked, n.contact)
		}
		all.messages += n.parked.messages
		all.bytes += n.parked.bytes
	}
	if c := p.count; all.messages != len(p.parking.queue) || all.bytes != p.parking.bytes ||
		c.Parked-c.ParkReleased-c.ParkExpired-c.ParkLost != uint64(all.messages) {
		p.t.Fatalf("%+v parked, %d in the queue, %d bytes, counted %+v", all, len(p.parking.queue), p.parking.bytes, c)
	}
	if got := p.bearers[0].links; got != up {
		p.t.Fatalf("%d links counted, %d up", got, up)
	}
}

// runScript feeds an engine that is in contact and returns a hash of all it did.
func runScript(t testing.TB, b []byte, check bool) uint64 {
	h := fnv.New64a()
	p := scriptedPeerOn(t, newArena(t, netdev.ArenaConfig{Small: 512}))
	s := &script{b}
	p.up()
	port := p.OpenPort(PortConfig{ReceiveLimit: 2000, Returnable: true})
	for _, i := range []uint32{1, 3, 3, 5} {
		port.Bind(p.now, frame.Range{Type: 18888, Lower: i, Upper: i + 2}, frame.ClusterScope)
	}
	buf := make([]byte, 100)
	for len(s.b) > 0 {
		if p.arena.Free() < 200 { // the peer acknowledges at last
			p.report(nil)
		}
		s.step(p)
		p.collect()
		if check {
			p.checkAll()
		}
		for _, f := range p.sent {
			h.Write(f.bytes)
			if !check {
				continue
			}
			if line, err := describe.Message(f.bytes[frame.EthernetLen:]); err != nil {
				t.Fatalf("sent %s", line)
			}
		}
		p.sent = nil
		if s.byte()&3 == 0 {
			n, _, _ := port.Read(buf)
			h.Write(buf[:n])
		}
		for _, e := range p.eventList() {
			h.Write([]byte(e))
		}
		p.TakeReady(nil)
		p.TakeNameEvents(nil)
	}
	port.Close(p.now)
	p.done()
	return h.Sum64()
}

// FuzzEngine gives an engine in contact with a peer arbitrary frames, and sound
// ones with something changed: never a panic, chunks conserved, limits kept.
//
// Proves: link.hostile
func FuzzEngine(f *testing.F) {
	f.Add([]byte("\x00\x10some bytes of noise.."))
	f.Add([]byte("\x0d\x00\x05hello\x01\x0d\x08\x02hi\x04\x08\x01\x06\x00\x07"))
	f.Add([]byte("\x04\x00\x05world\x02\x00\x0d\x00\x03abc\x05\x02\x10\x20\x30\x01"))
	f.Fuzz(func(t *testing.T, b []byte) { runScript(t, b, true) })
}

func randomScript(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 4))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// Proves: link.hostile
func TestEngineUnderRandomFrames(t *testing.T) {
	n := 60
	if raceEnabled || testing.Short() {
		n = 15
	}
	for seed := range uint64(n) {
		runScript(t, randomScript(seed, 4000), true)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// The same input gives the same frames, events and data.
func TestDeterminism(t *testing.T) {
	for seed := range uint64(5) {
		b := randomScript(seed, 4000)
		if got, want := runScript(t, b, false), runScript(t, b, false); got != want {
			t.Errorf("seed %d: got %x, want %x", seed, got, want)
		}
	}
}

// Every payload packet in sequence is delivered, sent back, sent on, or counted
// as dropped, or waits for its name, once.
//
// Proves: link.hostile
func TestEveryMessageIsAccountedFor(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	port := p.bound(t, PortConfig{ReceiveLimit: 3000}, 18888, 5)
	r := rand.New(rand.NewPCG(1, 5))
	sum := func() (n uint64) {
		c := p.Counters()
		for _, d := range c.Drops {
			n += d
		}
		return n + c.MessagesIn + c.Returned + c.Parked // which all wait: no time passes
	}
	for i := range 5000 {
		x := r.Uint32()
		var msg []byte
		payload := func(f *frame.PayloadFields) {
			f.Importance, f.DestDroppable, f.Syn = frame.Importance(x>>8&3), x>>10&1 != 0, x>>11&1 != 0
			if x>>12&7 == 0 {
				f.Error = frame.NoPort
			}
			if x>>15&3 == 0 {
				f.DestPort = 4711
			}
		}
		switch x % 6 {
		case 0, 1:
			msg = data(port.number, payload, "some data")
		case 2:
			msg = data(port.number, func(f *frame.PayloadFields) { named(18888, 4+x>>20&1)(f); payload(f) }, "x")
		case 3:
			msg = data(0, func(f *frame.PayloadFields) { payload(f); mcast(4+x>>20&1, 5)(f); f.Syn = false }, "x")
		case 4:
			msg = data(port.number, func(f *frame.PayloadFields) { payload(f); f.Type = frame.ConnMsg }, "x")
		case 5:
			msg = connMsg(4711, func(f *frame.ConnFields) { f.Error = frame.ErrorCode(x >> 8 & 1) })
		}
		before := sum()
		p.packet(msg)
		if got := sum() - before; got != 1 {
			line, _ := describe.Message(msg)
			t.Fatalf("message %d, %v: accounted for %d times", i, line, got)
		}
		p.sent = nil
		if i%7 == 0 {
			p.report(nil)
			read(port)
		}
	}
}
