// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// The rule of spec 04 §6, at a time later than its first use.
//
// Proves: multicast.once
func TestMethodIsChosen(t *testing.T) {
	const (
		all  = Capabilities
		oldR = Capabilities &^ frame.CapBcastRcast
		oldB = Capabilities &^ frame.CapMcastRbctl
	)
	const s = time.Second
	for _, x := range []struct {
		name       string
		ups, to    int
		caps       frame.Capabilities // of one of the nodes
		was, fixed bool               // by copies; by the program
		expires    time.Duration
		now        time.Duration
		copies     bool // the choice
		change     bool // and whether receivers are told
		lasts      time.Duration
	}{
		{"one of one", 1, 1, all, false, false, 0, s, true, true, 6 * s},
		{"again", 1, 1, all, true, false, 0, s, true, false, 6 * s},
		{"one of 9", 9, 1, all, true, false, 0, s, true, false, 6 * s},
		{"two of 9", 9, 2, all, false, false, 0, s, false, false, 6 * s},
		{"two of 9, after copies", 9, 2, all, true, false, 0, s, false, true, 6 * s},
		{"two of 10", 10, 2, all, false, false, 0, s, true, true, 6 * s},
		{"three of 10", 10, 3, all, true, false, 0, s, false, true, 6 * s},
		{"three of 19", 19, 3, all, true, false, 0, s, false, true, 6 * s},
		{"three of 20", 20, 3, all, true, false, 0, s, true, false, 6 * s},
		{"11 of 100", 100, 11, all, true, false, 0, s, true, false, 6 * s},
		{"12 of 100", 100, 12, all, true, false, 0, s, false, true, 6 * s},
		{"a fresh choice does not matter to those who follow", 9, 2, all, true, false, 9 * s, s, false, true, 6 * s},
		{"fixed to broadcast", 1, 1, all, false, true, 0, s, false, false, 6 * s},
		{"fixed to copies", 9, 9, all, true, true, 0, s, true, false, 6 * s},
		{"a node takes no copies", 1, 1, oldR, false, false, 0, s, false, false, 0},
		{"a node takes no copies, whatever the program says", 9, 9, oldR, true, true, 0, s, false, true, 0},
		{"nor is told of changes", 9, 9, oldR & oldB, true, false, 0, s, false, false, 0},
		{"a node is not told: it changes after a while", 1, 1, oldB, false, false, 0, s, true, false, 6 * s},
		{"not before", 1, 1, oldB, false, false, 9 * s, s, false, false, 6 * s},
		{"not before, from copies", 9, 2, oldB, true, false, s + 1, s, true, false, 6 * s},
		{"just then", 9, 2, oldB, true, false, s, s, false, false, 6 * s},
		{"fixed where it is not told", 9, 2, oldB, true, true, 0, s, true, false, 6 * s},
	} {
		e := &Engine{cfg: Config{Capabilities: all}, ups: x.ups, capsVoid: true}
		for range x.ups {
			e.nodes = append(e.nodes, &node{caps: all})
		}
		e.nodes[x.ups/2].caps = x.caps
		p := &Port{method: method{x.was, x.fixed, x.expires}}
		copies, change := e.chooseMethod(x.now, p, x.to)
		if copies != x.copies || change != x.change {
			t.Errorf("%s: got copies %v, change %v, want %v, %v", x.name, copies, change, x.copies, x.change)
		}
		if p.method.expires != max(x.lasts, 0) {
			t.Errorf("%s: lasts until %v, want %v", x.name, p.method.expires, x.lasts)
		}
		if p.method.replicast != x.was {
			t.Errorf("%s: it has changed before anything was sent", x.name)
		}
	}
}

// What all nodes can do follows those that come, are heard of anew, and are forgotten;
// those known that are not in contact count.
func TestCommonCapabilities(t *testing.T) {
	c := newPeers(t, 1, 1)
	want := func(what string, caps frame.Capabilities) {
		t.Helper()
		if got := c.commonCaps(); got != caps {
			t.Errorf("%s: got %v, want %v", what, got, caps)
		}
	}
	want("one", popCaps)
	i := c.add(popCaps &^ frame.CapBcastRcast)
	c.on(i, 0).join()
	want("one that takes no copies", popCaps&^frame.CapBcastRcast)
	c.on(i, 0).leave()
	want("it is down", popCaps&^frame.CapBcastRcast)
	c.peerList[i].caps = Capabilities
	c.on(i, 0).join()
	want("it came back with more", popCaps)
	j := c.add(Capabilities &^ frame.CapMcastRbctl)
	c.on(j, 0).join()
	c.on(j, 0).leave()
	want("another, for a while", popCaps&^frame.CapMcastRbctl)
	c.remove(c.node(j))
	want("forgotten", popCaps)
	c.peerList = c.peerList[:2]
	c.done("")
}

// A socket's first multicast to few nodes, as recorded from 6.1: the twin is broadcast
// packet 1, and goes first; the message is packet 3 of the unicast link. Those that follow
// have no mark (spec 04 §6.1; the two nodes have each other's address there).
//
// Proves: multicast.once
func TestMethodTwinBytes(t *testing.T) {
	c, p := broadcastPeers(t, 1, 1)
	p.SetMethod(Auto)
	delete(c.ports, p.number)
	p.number = 0xa387dc46
	c.ports[p.number] = p
	c.peerList[0].listen(2, 7777, 0, 100)
	if err := p.SendRange(c.now, frame.Range{Type: 7777, Lower: 0, Upper: 100}, []byte("30 bytes are in this message..")); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"417a002c" + "24100000" + "00000001" + "01001001" + "a387dc46" + "00001267" + "01001001" + "00000000" + "00001e61" + "00000000" + "00000064",
		"416e004a" + "20100000" + "00020003" + "01001001" + "a387dc46" + "00000000" + "01001001" + "01001002" + "00001e61" + "00000000" + "00000064" +
			fmt.Sprintf("%x", "30 bytes are in this message.."),
	}
	got := c.payloads()
	if len(got) == 2 {
		got[1] = got[1][:16] + "0002" + got[1][20:] // what the peer had sent before
	}
	wantLines(t, "first", got, want...)
	if err := p.SendRange(c.now, frame.Range{Type: 7777, Lower: 0, Upper: 100}, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if got := c.payloads(); len(got) != 1 || !strings.HasPrefix(got[0], "416c002d20100000") {
		t.Errorf("the next: got %q", got)
	}
	q := c.OpenPort(PortConfig{})
	q.SetMethod(Replicast) // is no change
	if err := q.SendRange(c.now, frame.Range{Type: 7777, Lower: 0, Upper: 100}, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if got := c.payloads(); len(got) != 1 || !strings.HasPrefix(got[0], "416c002d20100000") {
		t.Errorf("told by the program: got %q", got)
	}
	for range 2 {
		c.allAck()
	}
	c.done("")
}

// payloads returns the messages sent since, in hexadecimal.
func (c *peers) payloads() (s []string) {
	c.collect()
	for _, f := range c.sent {
		if m, err := frame.Parse(f.bytes[frame.EthernetLen:]); err == nil && m.User().IsPayload() {
			s = append(s, fmt.Sprintf("%x", f.bytes[frame.EthernetLen:]))
		}
	}
	c.sent = nil
	return s
}

// Back to broadcast a twin goes to each node by unicast, ahead of the message; of a long
// message the header inside is marked; and the twin has its importance, as a kernel's
// link would let it overtake others else.
func TestMethodTwinOfABroadcast(t *testing.T) {
	c, p := broadcastPeers(t, 1, 2, alone)
	p.SetMethod(Auto)
	p.method.replicast = true
	p.Importance = frame.High
	if err := p.SendRange(c.now, allRange, []byte(strings.Repeat("x", 2000))); err != nil {
		t.Fatal(err)
	}
	c.collect()
	var got []string
	for _, f := range c.sent {
		eth, payload, _ := frame.ParseEthernet(f.bytes)
		m, _ := frame.Parse(payload)
		who := "all"
		if eth.Dst() != frame.BroadcastMAC {
			who = fmt.Sprint(eth.Dst()[5])
		}
		what := fmt.Sprintf("%v %x", m.User(), m.Bytes()[:8])
		if g, err := frame.ParseFragment(m); err == nil {
			what = fmt.Sprintf("%v %v", m.User(), g.Type())
			if g.Type() == frame.FirstFragment {
				what += fmt.Sprintf(" %x", g.Data()[:8])
			}
		}
		got = append(got, who+" "+what)
	}
	wantLines(t, "sent", got,
		fmt.Sprintf("1 %v 456e002c24100000", frame.User(frame.High)), fmt.Sprintf("2 %v 456e002c24100000", frame.User(frame.High)),
		fmt.Sprintf("all %v first 456a07fc20100000", frame.UserFragment), fmt.Sprintf("all %v last", frame.UserFragment))
	if p.method.replicast {
		t.Error("it still sends copies")
	}
	c.allAck()
	c.done("")
}

// A message that was blocked changes nothing; the next one is marked as the first would
// have been.
//
// Proves: multicast.once
func TestMethodChangesWithAMessage(t *testing.T) {
	c, p := broadcastPeers(t, 1, 1, alone)
	q := c.OpenPort(PortConfig{})
	q.SetMethod(Broadcast)
	for q.SendRange(c.now, allRange, []byte("x")) == nil {
	}
	p.SetMethod(Auto)
	c.forget()
	b, ok := p.SendRange(c.now, allRange, []byte("x")).(*Blocked)
	if !ok || b.Link != broadcastName {
		t.Fatalf("got %v, want its twin blocked", b)
	}
	if got := c.payloads(); got != nil {
		t.Errorf("sent %q", got)
	}
	c.allAck()
	c.forget()
	if err := p.SendRange(c.now, allRange, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if got := c.payloads(); len(got) != 1 || !strings.HasPrefix(got[0], "416e002d20100000") { // the twin waits behind the window
		t.Errorf("sent %q", got)
	}
	if got := c.cast.Look().Waiting; got[frame.Low] == 0 || got[frame.System] != 0 {
		t.Errorf("waiting by importance: %v; want the twin at that of its message", got)
	}
	for c.Unsent() > 0 {
		c.allAck()
	}
	c.done("")
}

// To sockets of this node alone there is nothing to choose.
func TestMethodOfThisNodeAlone(t *testing.T) {
	c, p := broadcastPeers(t, 1, 1)
	p.SetMethod(Auto)
	p.Bind(c.now, frame.Range{Type: 5000, Upper: 9}, frame.ClusterScope)
	c.forget()
	if err := p.SendRange(c.now, frame.Range{Type: 5000, Upper: 9}, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if p.method.replicast || p.method.expires != 0 || c.payloads() != nil || len(read(p)) != 1 {
		t.Errorf("got %+v", p.method)
	}
	c.allAck()
	c.done("")
}
