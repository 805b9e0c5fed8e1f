// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"hash/fnv"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A connFuzz is a node with a listener at port 5, a user in the engine at 6, and
// connections from 7 on, whose owner and whose peer do what a script says.
type connFuzz struct {
	*scriptedPeer
	s     *script
	l, in *Listener
	conns []*Conn
}

// parrot is a connUser that sends back what it hears, and ends what asks for it.
type parrot struct{ gone int }

func (p *parrot) accepted(now time.Duration, c *Conn) {}
func (p *parrot) writable(now time.Duration, c *Conn) { c.Write(now, []byte("again")) }
func (p *parrot) ended(now time.Duration, c *Conn)    { p.gone++ }
func (p *parrot) message(now time.Duration, c *Conn, data []byte) {
	switch data[0] {
	case 'c':
		c.Close(now)
	case 'a':
		c.Abort(now)
	case 'f':
		for c.Write(now, data) == nil {
		}
	default:
		c.Write(now, data)
	}
}

func (z *connFuzz) port() uint32 { return 5 + uint32(z.s.byte())%16 }

// message gives the engine a message of the peer.
func (z *connFuzz) message() {
	s := z.s
	to, from, x := z.port(), 90+uint32(s.byte())%8, s.byte()
	text := string(s.take(int(s.byte() % 40)))
	for _, c := range z.conns { // mostly the peer
		if c.port.number == to && x&3 != 0 {
			from = c.peer.Port
		}
	}
	change := func(f *frame.PayloadFields) {
		f.Type, f.OrigPort = frame.ConnMsg, from
		f.SrcDroppable, f.DestDroppable, f.Importance = x&4 != 0, x&0x18 == 0x18, frame.Importance(x>>5&3)
		if s.byte() > 220 {
			f.Error = frame.ErrorCode(s.byte() % 7)
			f.Long, f.OrigNode, f.DestNode = x&8 != 0, popAddr+frame.NodeAddr(x>>7), ownAddr
		}
	}
	switch s.byte() % 8 {
	case 0:
		z.packet(data(to, func(f *frame.PayloadFields) { change(f); f.Type, f.Syn = frame.DirectMsg, x&64 == 0 }, text))
	case 1:
		z.packet(data(to%7, func(f *frame.PayloadFields) {
			change(f)
			named(18888+uint32(x>>7), 17)(f)
			f.Syn = true
		}, text))
	case 2, 3:
		z.packet(manager(from, to, func(f *frame.ConnFields) {
			f.Type, f.NagleAck = frame.ConnType(x%3), x&16 != 0
			f.Acked, f.Window = uint16(s.byte()), uint16(s.byte())
			if s.byte() > 240 {
				f.Error = frame.ErrorCode(s.byte() % 7)
			}
		}))
	case 4:
		for range 40 { // a burst
			z.packet(conn(from, to, change, text))
		}
	default:
		z.packet(conn(from, to, change, text))
	}
}

// call does something to a connection.
func (z *connFuzz) call() string {
	s := z.s
	op := s.byte() % 16
	switch {
	case op == 0 && len(z.conns) < 12:
		to := frame.SocketAddr{Port: z.port(), Node: []frame.NodeAddr{ownAddr, popAddr}[s.byte()&1]}
		c, err := z.Dial(z.now, ConnConfig{Stream: s.byte()&1 != 0, Timeout: time.Second}, to, s.take(int(s.byte()%40)))
		if err != nil {
			return fmt.Sprint(err)
		}
		z.conns = append(z.conns, c)
		return fmt.Sprint("dial ", c.Addr())
	case op <= 2:
		c, ok := z.l.Accept(z.now)
		if ok {
			z.conns = append(z.conns, c)
		}
		return fmt.Sprint("accept ", ok)
	case len(z.conns) == 0:
		return ""
	}
	i := int(s.byte()) % len(z.conns)
	c := z.conns[i]
	switch op {
	case 3:
		if s.byte()&1 != 0 {
			c.Close(z.now)
		} else {
			c.Abort(z.now)
		}
		z.conns = append(z.conns[:i], z.conns[i+1:]...)
		return "closed"
	case 4, 5, 6, 7:
		err := c.Write(z.now, s.take(int(s.byte()%60)))
		return fmt.Sprint(c.state, " write ", err)
	case 8:
		for k := 0; k < 200 && c.Write(z.now, make([]byte, 1400)) == nil; k++ {
		}
	case 9:
		c.SetNoDelay(z.now, s.byte()&3 == 0)
	}
	buf := make([]byte, 1+s.byte()%50)
	n, size, ok := c.Read(z.now, buf)
	return fmt.Sprint(c.state, " read ", buf[:n], size, ok)
}

// check looks at what always holds of connections.
func (z *connFuzz) check() {
	z.t.Helper()
	z.checkAll()
	linked := map[*Conn]bool{}
	for _, n := range append([]*node{z.self}, z.nodes...) {
		for c := n.conns; c != nil; c = c.behind {
			if linked[c] || c.node != n || n != z.self && !n.up() {
				z.t.Fatalf("%v to %v is linked wrongly", c.Addr(), c.Peer())
			}
			linked[c] = true
		}
	}
	inside := 0
	for _, p := range z.ports {
		c := p.conn
		if c == nil {
			continue
		}
		if (c.state == Established) != linked[c] && c.state != ConnClosed {
			z.t.Fatalf("%v is %v, linked %v", c.Addr(), c.state, linked[c])
		}
		if c.state == ConnClosed && c.owed&(owedEnd|owedReset) == 0 || c.state == Ended && c.alarmed() {
			z.t.Fatalf("%v is %v and owes %x", c.Addr(), c.state, c.owed)
		}
		if (c.state == Connecting) != (c.request != nil) || (c.state == Connecting || c.state == Established) && !c.limit.isSet() {
			z.t.Fatalf("%v is %v, request %v", c.Addr(), c.state, c.request)
		}
		if h := c.Held(); h < 0 || (h > 0) != (c.store != nil) || h > 0 && h != len(c.store.data)-c.store.from || h > 1<<17 ||
			h > 0 && c.state != Established && !c.lingers() || c.lingers() && (!c.nagle.Due() || !c.limit.isSet()) {
			z.t.Fatalf("%v is %v and holds %d, %v", c.Addr(), c.state, h, c.store)
		}
		if u := c.flow.Unacked(); u < 0 || u > c.flow.Window()+65535 {
			z.t.Fatalf("%v: %d unacknowledged", c.Addr(), u)
		}
		if c.origin != nil {
			inside++
		}
	}
	if z.in.open != inside || z.l.open != 0 {
		z.t.Fatalf("%d connections counted, %d there", z.in.open, inside)
	}
	sum := 0
	for _, n := range z.l.from {
		sum += n
	}
	if sum != z.l.Pending() || sum > DefaultBacklog || z.l.bytes < sum*recordCost {
		z.t.Fatalf("%d requests, %d by node, %d bytes", z.l.Pending(), sum, z.l.bytes)
	}
	if z.engineConns().loop.busy || z.engineConns().loop.queue.Len() != 0 {
		z.t.Fatal("messages within the node are left")
	}
}

func (z *connFuzz) engineConns() *conns { return &z.scriptedPeer.Engine.conns }

func runConnScript(t testing.TB, b []byte) uint64 {
	h := fnv.New64a()
	numbers := []uint32{5, 6}
	for i := range uint32(2000) {
		numbers = append(numbers, 7+i)
	}
	z := &connFuzz{scriptedPeer: scriptedPeerOn(t, newArena(t, netdev.ArenaConfig{Small: 512}), ports(numbers...)).up(), s: &script{b}}
	z.l = z.Listen(ListenConfig{})
	z.l.Bind(z.now, service.Range(), frame.ClusterScope)
	z.in = z.listenInside(6, ListenConfig{}, &parrot{})
	for len(z.s.b) > 0 {
		switch op := z.s.byte() % 16; {
		case op < 7:
			if n := z.byAddr[popAddr]; n == nil || n.links[0] == nil || !n.links[0].IsUp() {
				z.s.contact(z.scriptedPeer)
			}
			z.message()
		case op < 13:
			fmt.Fprint(h, z.call())
		case op == 13:
			z.report(nil)
		case op == 14:
			z.now += time.Duration(z.s.byte()) * time.Millisecond
			if z.s.byte() > 250 {
				z.now += time.Hour
			}
			z.HandleTimeout(z.now)
		case op == 15 && z.s.byte() > 230 && z.byAddr[popAddr] != nil:
			z.lose(z.now, z.byAddr[popAddr])
		}
		z.collect()
		for _, f := range z.sent {
			h.Write(f.bytes)
		}
		z.sent = nil
		for _, c := range z.TakeReadyConns(nil) {
			fmt.Fprint(h, c.Addr(), c.state)
		}
		z.TakeReadyListeners(nil)
		z.TakeNameEvents(nil)
		z.eventList()
		z.check()
	}
	for _, c := range z.conns {
		c.Close(z.now)
	}
	z.l.Close(z.now)
	z.done()
	return h.Sum64()
}

// FuzzConn gives connections arbitrary messages of a peer, and lets their owner do
// anything: never a panic, chunks conserved, limits kept, the same each time.
//
// Proves: socket.flow
func FuzzConn(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x00\x04hihi\x00\x00"))
	f.Add(randomScript(1, 300))
	f.Add(randomScript(2, 300))
	f.Fuzz(func(t *testing.T, b []byte) { runConnScript(t, b[:min(len(b), 4000)]) })
}

// Proves: socket.flow
func TestConnsUnderRandomMessages(t *testing.T) {
	n := 40
	if raceEnabled || testing.Short() {
		n = 10
	}
	for seed := range uint64(n) {
		b := randomScript(seed+100, 4000)
		got := runConnScript(t, b)
		if seed < 3 {
			if want := runConnScript(t, b); got != want {
				t.Errorf("seed %d: got %x, then %x", seed, got, want)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
