// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// mcastLines keeps of what was sent the multicasts, "bearer>who what", whole or in parts.
func mcastLines(lines []string) (s []string) {
	for _, l := range lines {
		if who, what, _ := strings.Cut(l, " "); strings.Contains(what, "mcast") || strings.HasPrefix(what, "frag") {
			s = append(s, who+" "+what)
		}
	}
	return s
}

// Every socket bound to a range that overlaps gets a message once, on whatever node; of
// this node those with node scope too, and the sender.
//
// Proves: multicast.once
func TestMulticastReceivers(t *testing.T) {
	for _, m := range []Method{Broadcast, Replicast} {
		b := newBed(t, 3)
		var socks [3][]*Port
		bind := func(node int, scope frame.Scope, ranges ...frame.Range) *Port {
			p := b.nodes[node].OpenPort(PortConfig{})
			for _, r := range ranges {
				if err := p.Bind(b.now, r, scope); err != nil {
					t.Fatal(err)
				}
			}
			socks[node] = append(socks[node], p)
			return p
		}
		at := func(lower, upper uint32) frame.Range { return frame.Range{Type: 1000, Lower: lower, Upper: upper} }
		for node := range 3 {
			bind(node, frame.ClusterScope, at(0, 10))                      // 0
			bind(node, frame.ClusterScope, at(5, 20), at(5, 20), at(0, 7)) // 1: bound three times
			bind(node, frame.NodeScope, at(0, 100))                        // 2
			bind(node, frame.ClusterScope, at(50, 60))                     // 3
		}
		if !b.until(longTime, func() bool {
			for _, n := range b.nodes {
				for _, p := range b.nodes {
					if p != n && len(n.table.Nodes(nil, at(50, 60))) != 3 {
						return false
					}
				}
			}
			return true
		}) {
			t.Fatal("names did not arrive")
		}
		from := socks[0][0]
		from.SetMethod(m)
		for _, x := range []struct {
			r    frame.Range
			want string
		}{
			{at(6, 6), "here 0 1 2, there 0 1, there 0 1"},
			{at(0, 1000), "here 0 1 2 3, there 0 1 3, there 0 1 3"},
			{at(15, 49), "here 1 2, there 1, there 1"},
			{at(61, 99), "here 2, there, there"},
		} {
			if err := from.SendRange(b.now, x.r, []byte("hi")); err != nil {
				t.Errorf("method %d, %v: %v", m, x.r, err)
			}
			b.pass(time.Second)
			var got []string
			for node, name := range []string{"here", "there", "there"} {
				for i, p := range socks[node] {
					switch lines := read(p); {
					case slices.Equal(lines, []string{fmt.Sprint(from.Addr(), " hi")}):
						name += fmt.Sprint(" ", i)
					case lines != nil:
						t.Errorf("method %d, %v: socket %d of node %d read %q", m, x.r, i, node, lines)
					}
				}
				got = append(got, name)
			}
			if s := strings.Join(got, ", "); s != x.want {
				t.Errorf("method %d, %v: got %s, want %s", m, x.r, s, x.want)
			}
		}
		for i, n := range b.nodes {
			if free, total := n.arena.Free(), n.arena.Total(); free != total || n.Unsent() != 0 {
				t.Errorf("node %d: %d of %d chunks free, %d unsent", i, free, total, n.Unsent())
			}
		}
	}
}

func TestMulticastErrors(t *testing.T) {
	c, p := broadcastPeers(t, 1, 1)
	c.peerList[0].listen(2, 2000, 5, 5)
	closed := c.OpenPort(PortConfig{})
	closed.Close(c.now)
	for _, x := range []struct {
		what string
		from *Port
		r    frame.Range
		n    int
		want error
	}{
		{"nobody bound", p, frame.Range{Type: 3000, Upper: 9}, 1, ErrNoName},
		{"another instance", p, frame.Range{Type: 2000, Lower: 6, Upper: 9}, 1, ErrNoName},
		{"inverted", p, frame.Range{Type: 1000, Lower: 6, Upper: 5}, 1, ErrRange},
		{"too long", p, allRange, frame.MaxPayload + 1, ErrTooLong},
		{"the longest", p, allRange, frame.MaxPayload, nil},
		{"empty", p, allRange, 0, nil},
		{"closed", closed, allRange, 1, ErrClosed},
		{"closed, inverted", closed, frame.Range{Type: 1000, Lower: 6, Upper: 5}, 1, ErrClosed},
	} {
		if err := x.from.SendRange(c.now, x.r, make([]byte, x.n)); !errors.Is(err, x.want) {
			t.Errorf("%s: got %v, want %v", x.what, err, x.want)
		}
		c.allAck()
	}
	if got := c.Counters(); got.MessagesOut != 2 || got.Broadcasts != 2 || got.Replicasts != 0 {
		t.Errorf("counted %d, %d, %d; want two by broadcast", got.MessagesOut, got.Broadcasts, got.Replicasts)
	}
	small, q := broadcastPeersOn(t, newArena(t, netdev.ArenaConfig{Small: 64, Reserve: 32}), 1, 1)
	if err := q.SendRange(small.now, allRange, make([]byte, 60000)); !neverFits(err) {
		t.Errorf("more than all memory: got %v", err)
	}
	for range 2 {
		small.on(small.add(popCaps), 0).join()
	}
	small.peerList[1].listen(1, 1000, 0, 100)
	small.peerList[2].listen(1, 1000, 0, 100)
	q.SetMethod(Replicast)
	if err := q.SendRange(small.now, allRange, make([]byte, 20000)); !neverFits(err) {
		t.Errorf("more than all memory to three nodes: got %v", err)
	}
	if err := q.SendRange(small.now, allRange, make([]byte, 10000)); err != nil {
		t.Errorf("what fits: got %v", err)
	}
	small.done("")
	c.on(0, 0).leave()
	if err := p.SendRange(c.now, allRange, nil); !Unreachable(err) {
		t.Errorf("contact lost: got %v", err)
	}
	c.done("")
}

// A message longer than a packet goes in fragments, by either method: the header inside
// names no node and says which method it is; that of each fragment names the node if
// there is one (spec 04 §6).
//
// Proves: multicast.once
func TestMulticastFragments(t *testing.T) {
	c, p := broadcastPeers(t, 1, 2, alone)
	for _, x := range []struct {
		m       Method
		packets []string // whose
	}{{Broadcast, []string{"all", "all", "all"}}, {Replicast, []string{"1", "1", "1", "2", "2", "2"}}} {
		c.forget()
		p.SetMethod(x.m)
		data := []byte(strings.Repeat("0123456789", 300))
		if err := p.SendRange(c.now, allRange, data); err != nil {
			t.Fatal(err)
		}
		c.collect()
		whole := map[string][]byte{}
		var order []string
		for _, f := range c.sent {
			eth, payload, _ := frame.ParseEthernet(f.bytes)
			m, _ := frame.Parse(payload)
			g, err := frame.ParseFragment(m)
			if err != nil {
				continue
			}
			who, dest := "all", frame.NodeAddr(0)
			if eth.Dst() != frame.BroadcastMAC {
				who = fmt.Sprint(eth.Dst()[5])
				dest = c.peerList[eth.Dst()[5]-1].addr
			}
			order = append(order, who)
			if d, _ := m.DestNode(); d != dest || m.NonSeq() != (who == "all") {
				t.Errorf("method %d, to %s: names node %v, outside the sequence %v", x.m, who, d, m.NonSeq())
			}
			whole[who] = append(whole[who], g.Data()...)
		}
		slices.Sort(order)
		if !slices.Equal(order, x.packets) {
			t.Errorf("method %d: got packets to %v, want %v", x.m, order, x.packets)
		}
		for who, b := range whole {
			m, err := frame.Parse(b)
			if err != nil {
				t.Fatal(err)
			}
			in, err := frame.ParsePayload(m)
			if err != nil {
				t.Fatal(err)
			}
			if d, _ := m.DestNode(); d != 0 || in.SrcDroppable() != (x.m == Replicast) || in.Syn() || m.NonSeq() || string(in.Data()) != string(data) {
				t.Errorf("method %d, to %s: %v", x.m, who, in.Fields())
			}
		}
		c.allAck()
		c.allAck()
	}
	c.done("")
}

// Where links differ each copy has the form of its own link: the header inside fragments
// names no node, though the copy before it does.
func TestMulticastCopiesOfUnlikeLinks(t *testing.T) {
	c, p := broadcastPeers(t, 1, 1)
	c.on(c.add(popCaps), 0).joinMTU(1000)
	c.peerList[1].listen(1, 1000, 0, 100)
	p.SetMethod(Replicast)
	c.forget()
	if err := p.SendRange(c.now, allRange, make([]byte, 1200)); err != nil {
		t.Fatal(err)
	}
	c.collect()
	var inside []frame.NodeAddr
	for _, f := range c.sent {
		m, _ := frame.Parse(f.bytes[frame.EthernetLen:])
		if g, err := frame.ParseFragment(m); err == nil && g.Type() == frame.FirstFragment {
			in, _ := frame.Parse(slices.Concat(g.Data(), make([]byte, 2000)))
			m = in
		}
		if d, ok := m.DestNode(); ok && m.User().IsPayload() {
			inside = append(inside, d)
		}
	}
	if !slices.Equal(inside, []frame.NodeAddr{c.peerList[0].addr, 0}) {
		t.Errorf("the headers name %v, want the first node and none", inside)
	}
	for range 2 {
		c.live()
	}
	c.done("")
}

// A copy in one packet names the node that it goes to.
func TestMulticastCopies(t *testing.T) {
	c, p := broadcastPeers(t, 1, 2)
	p.SetMethod(Replicast)
	if err := p.SendRange(c.now, allRange, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	a := p.Addr().Port
	c.collect()
	for i, f := range c.sent {
		if got, want := fmt.Sprintf("%x", f.bytes[frame.EthernetLen:][28:32]), fmt.Sprintf("%08x", uint32(c.peerList[i].addr)); got != want {
			t.Errorf("got %s as the node that it is for, want %s", got, want)
		}
		if w := fmt.Sprintf("%x", f.bytes[frame.EthernetLen:][:4]); w != "416c0031" { // dest-droppable, is-rcast, 49 bytes
			t.Errorf("got first word %s", w)
		}
	}
	wantLines(t, "copies", mcastLines(c.drain()),
		fmt.Sprintf("0>1 data-low/mcast %d>0 name=1000:0-100 droppable bytes=5 seq=3 ack=3", a),
		fmt.Sprintf("0>2 data-low/mcast %d>0 name=1000:0-100 droppable bytes=5 seq=3 ack=3", a))
	c.done("")
}

// A multicast is taken by all links that it goes on or by none: where one of them is
// congested, or memory is short, nothing goes out, nothing is kept, nobody here reads it.
//
// Proves: multicast.once
func TestMulticastAllOrNone(t *testing.T) {
	refuse := -1 // chunks of data that are given before one is refused; negative: none is
	a := newArena(t, netdev.ArenaConfig{Small: 1024, Poison: true, Refuse: func(u netdev.Use) bool {
		if u == netdev.Control || refuse < 0 {
			return false
		}
		refuse--
		return refuse < 0 && func() bool { refuse = 0; return true }()
	}})
	c := peersOn(t, a, 1, 3, alone)
	for i := range 3 {
		c.peerList[i].listen(1, 1000, 0, 100)
	}
	c.peerList[1].listen(2, 2000, 0, 100) // the second alone
	here := c.OpenPort(PortConfig{ReceiveLimit: 1 << 20})
	here.Bind(c.now, allRange, frame.NodeScope)
	p := c.OpenPort(PortConfig{})
	p.SetMethod(Replicast)
	for c.Unsent() > 0 {
		c.allAck()
	}
	c.forget()
	none := func(what string, err error, want func(error) bool) {
		t.Helper()
		if !want(err) {
			t.Errorf("%s: got %v", what, err)
		}
		if got := mcastLines(c.drain()); got != nil || here.Pending() != 0 {
			t.Errorf("%s: sent %v, %d waiting here", what, got, here.Pending())
		}
		if len(c.pieces) != 0 {
			t.Errorf("%s: %d packets kept", what, len(c.pieces))
		}
	}
	memory := func(err error) bool { return err == ErrMemory }
	for _, size := range []int{10, 3000} {
		chunks := 3
		if size > 1400 {
			chunks = 9
		}
		for n := range chunks {
			refuse = n
			none(fmt.Sprintf("%d bytes, chunk %d refused", size, n), p.SendRange(c.now, allRange, make([]byte, size)), memory)
			if free, total := a.Free(), a.Total(); free != total {
				t.Fatalf("%d bytes, chunk %d refused: %d of %d chunks free", size, n, free, total)
			}
		}
		refuse = -1
		if err := p.SendRange(c.now, allRange, make([]byte, size)); err != nil {
			t.Errorf("%d bytes: got %v", size, err)
		}
		if got := mcastLines(c.drain()); len(got) != chunks || len(read(here)) != 1 {
			t.Errorf("%d bytes: sent %q", size, got)
		}
		c.live()
	}
	// A change of the method sends a twin first: it does not go alone either.
	p.SetMethod(Auto)
	p.method.replicast = false
	for range 10 { // so that three are few
		c.on(c.add(popCaps), 0).join()
	}
	for n := range 2 {
		refuse = n
		none(fmt.Sprintf("a twin, chunk %d refused", n), p.SendRange(c.now, frame.Range{Type: 2000, Upper: 9}, []byte("x")), memory)
	}
	refuse = -1
	if p.method.replicast {
		t.Error("the method has changed, the message was not sent")
	}
	for range 150 {
		if err := p.Send(c.now, frame.SocketAddr{Port: 5, Node: c.peerList[1].addr}, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	p.SetMethod(Replicast)
	c.forget()
	congested := func(err error) bool {
		b, ok := err.(*Blocked)
		return ok && b.Node == c.peerList[1].addr
	}
	none("the second is congested", p.SendRange(c.now, allRange, make([]byte, 10)), congested)
	none("the second is congested", p.SendRange(c.now, allRange, make([]byte, 10000)), congested)
	none("only the second", p.SendRange(c.now, frame.Range{Type: 2000, Upper: 9}, make([]byte, 10)), congested)
	c.done("")
}

// The sockets of one node share the copy of a long multicast, and give it back when all have
// read it: else one send to thousands would copy and hold as many times as much.
func TestMulticastHereIsOneCopy(t *testing.T) {
	e := peersOn(t, newArena(t, netdev.ArenaConfig{Small: 64}), 1, 0)
	var all []*Port
	r := frame.Range{Type: 1000, Upper: 100}
	for range 3 {
		p := e.OpenPort(PortConfig{})
		if err := p.Bind(e.now, r, frame.NodeScope); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	data := bytes.Repeat([]byte("0123456789"), 6600)
	for range 2 { // the second in what the first gave back
		if err := all[0].SendRange(e.now, r, data); err != nil {
			t.Fatal(err)
		}
		shared := all[0].queue.At(0).lent
		if shared == nil || shared.Holders() != len(all) {
			t.Fatalf("got %v, want a Buffer with %d holders", shared, len(all))
		}
		for i, p := range all {
			if got := p.queue.At(0).lent; got != shared {
				t.Errorf("socket %d has a copy of its own", i)
			}
			got := make([]byte, len(data))
			if n, from, ok := p.Read(got); !ok || !bytes.Equal(got[:n], data) || from.From != all[0].Addr() || from.Name != r {
				t.Errorf("socket %d: got %d bytes of %v, %v", i, n, from.From, ok)
			}
		}
		if got := shared.Holders(); got != 0 {
			t.Errorf("got %d holders after all have read, want none", got)
		}
	}
}
