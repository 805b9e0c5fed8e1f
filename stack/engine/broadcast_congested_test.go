// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// Where memory for the copies to other bearers is short the packet itself goes on one,
// and what misses it asks for it.
func TestBroadcastCopiesWithoutMemory(t *testing.T) {
	refuse := false
	a := newArena(t, netdev.ArenaConfig{Small: 1024, Poison: true, Refuse: func(u netdev.Use) bool { return refuse && u == netdev.Control }})
	c := peersOn(t, a, 2, 1, alone)
	c.on(c.add(popCaps), 1).join()
	p := c.OpenPort(PortConfig{})
	p.SetMethod(Broadcast)
	for i := range c.peerList {
		c.peerList[i].listen(1, allRange.Type, 0, 100)
	}
	c.forget()
	refuse = true
	c.say(p, 2)
	refuse = false
	wantLines(t, "without", c.casts(), "0:1", "0:2")
	c.wantDrops("without", "a limit of this node=2")
	c.peerList[0].acks(2)
	c.on(1, 1).report(func(f *frame.StateFields) { f.BcastGap = 2 })
	wantLines(t, "asked for", c.casts(), "0:1", "0:2", "1:1", "1:2")
	c.peerList[1].acks(2)
	if c.Unsent() != 0 {
		t.Errorf("got %d unsent", c.Unsent())
	}
	c.done("")
}

// Packets that a stalled device has not taken go with the last node: the numbers begin
// anew, and the next would take them for those.
//
// Proves: multicast.link
func TestBroadcastOfAStalledDevice(t *testing.T) {
	c, p := broadcastPeers(t, 1, 2)
	c.say(p, 3)
	c.leaveQuietly(0)
	if got := c.bearers[0].out.Len(); got < 3 {
		t.Errorf("%d frames wait, while one node is left that has to hear them", got)
	}
	c.on(1, 0).leave()
	wantLines(t, "with the last", c.casts())
	c.done("")
}

// Headers of the broadcast link, as spec 04 §1.1 and §6.1 have them: the network's number
// where a port would be, no destination, nothing acknowledged.
func TestBroadcastBytes(t *testing.T) {
	c, p := broadcastPeers(t, 1, 2, func(c *Config) { c.NetID = 4711 })
	delete(c.ports, p.number)
	p.number = 0xa387dc46
	c.ports[p.number] = p
	if err := p.SendRange(c.now, frame.Range{Type: 1000, Lower: 0, Upper: 100}, []byte("30 bytes are in this message..")); err != nil {
		t.Fatal(err)
	}
	c.collect()
	got := fmt.Sprintf("%x", c.sent[len(c.sent)-1].bytes)
	want := "ffffffffffff" + "020000000001" + "88ca" +
		"4178004a" + "20100000" + "00000001" + "01001001" + "a387dc46" + "00001267" + "01001001" + "00000000" + "000003e8" + "00000000" + "00000064" +
		fmt.Sprintf("%x", "30 bytes are in this message..")
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	c.allAck()
	if err := p.SendRange(c.now, allRange, make([]byte, 1400)); err != nil { // 1444 with its header, of which 1420 and 24 go in packets of 1460
		t.Fatal(err)
	}
	c.allAck()
	c.forget()
	if err := p.SendRange(c.now, allRange, make([]byte, 1420)); err != nil {
		t.Fatal(err)
	}
	c.collect()
	for i, want := range []string{
		"595005b4" + "00000000" + "00000003" + "01001001" + "00010000" + "00001267" + "01001001" + "00000000" + "00000000" + "00000000" +
			"416805b8" + "20100000" + "00000000" + "01001001" + "a387dc46" + "00000000" + "01001001" + "00000000" + "000003e8" + "00000000" + "00000064",
		"59500054" + "40000000" + "00000004" + "01001001" + "00020000" + "00001267" + "01001001" + "00000000" + "00000000" + "00000000",
	} {
		if got := fmt.Sprintf("%x", c.sent[i].bytes[frame.EthernetLen:]); !strings.HasPrefix(got, want) {
			t.Errorf("fragment %d:\n got %.200s\nwant %s", i, got, want)
		}
	}
	c.allAck()
	c.done("")
}

// A broadcast link that is congested stops its senders, not those of other links.
func TestBroadcastCongested(t *testing.T) {
	c, p := broadcastPeers(t, 1, 2, alone)
	var err error
	n := 0
	for ; err == nil; n++ {
		err = p.SendRange(c.now, allRange, make([]byte, 100))
	}
	b, ok := err.(*Blocked)
	if !ok || b.Link != "broadcast-link" || n != 50+100+1 {
		t.Fatalf("got %v after %d", err, n)
	}
	if err := p.Send(c.now, frame.SocketAddr{Port: 5, Node: c.peerList[0].addr}, []byte("x")); err != nil {
		t.Errorf("to one socket: got %v", err)
	}
	c.peerList[0].acks(50)
	var x Ticket
	c.SendAs(&x)
	err = p.SendRange(c.now, allRange, []byte("x"))
	c.SendAs(nil)
	if why, ok := c.Why(&x).(*Blocked); !ok || why.Node != c.peerList[1].addr || err == nil {
		t.Errorf("got %v, %+v; want the second node as who holds it up", err, why)
	}
	if got := c.TakeCalled(nil); len(got) != 0 {
		t.Errorf("called without room")
	}
	c.peerList[1].acks(50)
	if got := c.TakeCalled(nil); len(got) != 1 || got[0] != &x {
		t.Errorf("got %d called, want the one that waits", len(got))
	}
	c.Quit(c.now, &x)
	for c.Unsent() > 0 {
		c.allAck()
	}
	c.done("")
}

// The last node takes with it what waited; who waited for room is called.
func TestBroadcastCongestedAndNobodyLeft(t *testing.T) {
	c, p := broadcastPeers(t, 1, 1, alone)
	var x Ticket
	c.SendAs(&x)
	for p.SendRange(c.now, allRange, make([]byte, 100)) == nil {
	}
	c.SendAs(nil)
	c.on(0, 0).leave()
	if got := c.TakeCalled(nil); len(got) != 1 {
		t.Errorf("got %d called", len(got))
	}
	c.SendAs(&x)
	if err := p.SendRange(c.now, allRange, nil); !Unreachable(err) {
		t.Errorf("got %v", err)
	}
	c.SendAs(nil)
	c.Quit(c.now, &x)
	if x.line != nil || c.cast.sender.Unheard != 100 {
		t.Errorf("in a line: %v; %d unheard", x.line != nil, c.cast.sender.Unheard)
	}
	c.done("")
}
