// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// broadcastPeers is peers that have a socket bound to allRange, and a socket of the
// engine that broadcasts.
func broadcastPeers(t testing.TB, bearers, peerList int, change ...func(*Config)) (*peers, *Port) {
	t.Helper()
	return broadcastPeersOn(t, newArena(t, netdev.ArenaConfig{Small: 1024}), bearers, peerList, change...)
}

func broadcastPeersOn(t testing.TB, a *netdev.Arena, bearers, n int, change ...func(*Config)) (*peers, *Port) {
	t.Helper()
	c := peersOn(t, a, bearers, n, change...)
	p := c.OpenPort(PortConfig{ReceiveLimit: 1 << 20})
	p.SetMethod(Broadcast)
	for _, x := range c.peerList {
		x.listen(1, allRange.Type, allRange.Lower, allRange.Upper)
	}
	c.forget()
	return c, p
}

// say sends n messages of 100 bytes to allRange.
func (c *peers) say(p *Port, n int) {
	c.t.Helper()
	for i := range n {
		if err := p.SendRange(c.now, allRange, make([]byte, 100)); err != nil {
			c.t.Fatalf("message %d: %v", i, err)
		}
	}
}

// A node is a member from its first link to its last, and answers for what is sent for
// the first time meanwhile.
//
// Proves: multicast.link
func TestBroadcastMembers(t *testing.T) {
	c, p := broadcastPeers(t, 2, 1, alone)
	want := func(what string, members, unsent int) {
		t.Helper()
		if got := c.cast.sender.Members(); got != members || c.ups != members || c.Broadcast(c.now).Peers != members {
			t.Errorf("%s: got %d members, %d up, want %d", what, got, c.ups, members)
		}
		if got := c.cast.Unacked() + c.cast.Backlog(); got != unsent {
			t.Errorf("%s: got %d packets not acknowledged, want %d", what, got, unsent)
		}
	}
	want("one", 1, 0)
	c.say(p, 2)
	c.on(c.add(popCaps), 0).join()
	c.say(p, 1)
	want("two", 2, 3)
	c.peerList[0].acks(3)
	want("the first has all", 2, 1)
	c.on(1, 1).join()
	want("a second link", 2, 1)
	c.on(1, 0).leave()
	want("one link lost", 2, 1)
	c.on(1, 1).leave()
	want("both lost", 1, 0)
	c.say(p, 1)
	want("the first again", 1, 1)
	c.on(0, 0).leave()
	want("nobody", 0, 0)
	if err := p.SendRange(c.now, allRange, []byte("x")); !Unreachable(err) {
		t.Errorf("to nobody: got %v", err)
	}
	c.forget()
	c.on(0, 0).join()
	c.peerList[0].listen(1, allRange.Type, 0, 0)
	c.forget()
	c.say(p, 1)
	wantLines(t, "numbers go on", c.casts(), "0:5")
	c.done("")
}

// The opening tells a node the last number that was sent; what waits then is for it too.
func TestBroadcastOpeningTellsTheLastNumber(t *testing.T) {
	for _, first := range []frame.Seq{1, 65530} {
		c, p := broadcastPeers(t, 1, 1, alone, func(c *Config) { c.FirstSeq = first })
		at := func(n int) frame.Seq { return first - 1 + frame.Seq(n) }
		c.say(p, 60)
		if got := c.cast.sender.Last(); got != at(50) {
			t.Errorf("first %d: got %d as the last, want %d", first, got, at(50))
		}
		c.forget()
		i := c.add(popCaps)
		c.on(i, 0).disc(frame.Request, nil)
		c.on(i, 0).meet()
		if got, want := strings.Join(c.drain(), "\n"), fmt.Sprintf("bcast/init last=%d", at(50)); !strings.Contains(got, want) {
			t.Errorf("first %d: got %s; want %q", first, got, want)
		}
		c.on(i, 0).bcastInit()
		c.on(i, 0).report(nil)
		c.peerList[0].acks(at(50))
		c.peerList[0].acks(at(60))
		if got := c.cast.Unacked(); got != 10 {
			t.Errorf("first %d: got %d packets that the new node owes, want 10", first, got)
		}
		c.peerList[i].acks(at(60))
		if got := c.Unsent(); got != 0 {
			t.Errorf("first %d: got %d unsent", first, got)
		}
		c.done("")
	}
}

// The broadcast link goes over one bearer that reaches all nodes: of several the first
// whose number and the own address make an odd sum, else the last; with none such over
// all that reach any (spec 04 §3).
//
// Proves: multicast.link
func TestBroadcastBearers(t *testing.T) {
	for _, self := range []frame.NodeAddr{0x1001000, 0x1001001} {
		c, p := broadcastPeers(t, 3, 2, func(c *Config) { c.Address = self })
		odd := self&1 != 0
		pick := func(ifOdd, ifEven string) string {
			if odd {
				return ifOdd
			}
			return ifEven
		}
		want := func(what, over string) {
			t.Helper()
			c.forget()
			c.say(p, 1)
			var got []string
			for _, s := range c.casts() {
				bearer, _, _ := strings.Cut(s, ":")
				got = append(got, bearer)
			}
			slices.Sort(got)
			if s := strings.Join(got, " "); s != over {
				t.Errorf("%v, %s: got bearers %s, want %s", self, what, s, over)
			}
			c.allAck()
		}
		want("all on the first", "0")
		c.on(0, 1).join()
		want("one on both", "0")
		c.on(1, 1).join()
		want("all on both", pick("0", "1"))
		c.on(0, 0).leave()
		want("the first does not reach one", "1")
		c.on(0, 0).join()
		want("again", pick("0", "1"))
		c.on(1, 1).leave()
		want("the second does not reach the other", "0")
		c.on(0, 0).leave()
		want("none reaches both", "0 1")
		c.on(c.add(popCaps), 2).join()
		c.peerList[2].listen(1, allRange.Type, 0, 100)
		want("none reaches all three", "0 1 2")
		c.RemoveBearer(c.now, 1)
		want("without the second, and who was there", "0 2")
		c.SetMTU(c.now, 2, 0)
		want("the third carries nothing", "0")
		c.on(1, 0).leave()
		c.forget()
		if len(c.cast.over) != 0 {
			t.Errorf("got %d bearers to nobody", len(c.cast.over))
		}
		c.done("")
	}
}

// All bearers alike: with three that reach all, and an address that goes with none but
// the second, or the first.
func TestBroadcastPrimaryOfThree(t *testing.T) {
	for _, x := range []struct {
		self frame.NodeAddr
		over []uint8 // that reach all
		want uint8
	}{
		{0x1001001, []uint8{0, 1, 2}, 0},
		{0x1001000, []uint8{0, 1, 2}, 1},
		{0x1001001, []uint8{1, 2}, 2},
		{0x1001001, []uint8{1}, 1},
		{0x1001000, []uint8{0, 2}, 2},
		{0x1001000, []uint8{0}, 0},
	} {
		e := &Engine{addr: x.self, ups: 4}
		for id := range uint8(3) {
			b := &bearer{id: id, links: 3}
			if slices.Contains(x.over, id) {
				b.links = 4
			}
			e.bearers = append(e.bearers, b)
		}
		e.routeBroadcast()
		if len(e.cast.over) != 1 || e.cast.over[0].id != x.want {
			t.Errorf("%v, %v: got %d bearers, the first %d, want %d", x.self, x.over, len(e.cast.over), e.cast.over[0].id, x.want)
		}
		for _, b := range e.bearers {
			b.removed = slices.Contains(x.over, b.id)
		}
		if e.routeBroadcast(); len(e.cast.over) != 3-len(x.over) {
			t.Errorf("%v, %v removed: got %d bearers", x.self, x.over, len(e.cast.over))
		}
	}
}

// Packets fit the link with the smallest packets of all that are up.
//
// Proves: multicast.link
func TestBroadcastPacketSize(t *testing.T) {
	c, p := broadcastPeers(t, 2, 1)
	want := func(what string, mtu int) {
		t.Helper()
		if got := c.Broadcast(c.now).MTU; got != mtu {
			t.Errorf("%s: got %d bytes, want %d", what, got, mtu)
		}
		c.forget()
		if err := p.SendRange(c.now, allRange, make([]byte, 5000)); err != nil {
			t.Fatal(err)
		}
		c.collect()
		most := 0
		for _, f := range c.sent {
			most = max(most, len(f.bytes)-frame.EthernetLen)
		}
		if most != mtu-frame.IntLen { // room for a tunnel header
			t.Errorf("%s: got packets of %d bytes, want %d", what, most, mtu-frame.IntLen)
		}
		c.allAck()
	}
	want("one", 1500)
	c.on(c.add(popCaps), 0).joinMTU(1200)
	want("a smaller one", 1200)
	c.on(1, 1).joinMTU(1000)
	want("its second link is smaller still", 1000)
	c.on(c.add(popCaps), 0).joinMTU(1400)
	want("a larger one", 1000)
	c.on(1, 1).leave()
	want("without the smallest", 1200)
	c.on(1, 0).leave()
	want("without that node", 1400)
	c.on(2, 0).leave()
	want("the first alone", 1500)
	c.on(0, 0).leave()
	if got := c.Broadcast(c.now).MTU; got != 1500 {
		t.Errorf("with nobody: got %d", got)
	}
	c.on(0, 0).joinMTU(600)
	c.peerList[0].listen(1, allRange.Type, 0, 0)
	want("the next", 600)
	c.done("")
}

// What a node says of our broadcasts counts from the first STATE on that tells that it
// has our first packet, and not that of this STATE itself; nothing that is marked as
// void does (spec 04 §2).
//
// Proves: multicast.link
func TestBroadcastAcksBelieved(t *testing.T) {
	c, p := broadcastPeers(t, 1, 1, alone)
	i := c.add(popCaps)
	c.on(i, 0).disc(frame.Request, nil)
	c.on(i, 0).meet()
	c.say(p, 5)
	c.peerList[0].acks(5)
	owes := func(what string, want int) {
		t.Helper()
		if got := c.cast.Unacked(); got != want {
			t.Errorf("%s: got %d packets owed, want %d", what, got, want)
		}
	}
	void := func(f *frame.StateFields) { f.BcastAck, f.BcastAckInvalid = 5, true }
	all := func(f *frame.StateFields) { f.BcastAck = 5 }
	heard := func(n frame.Seq) { c.peerList[i].heard = n }

	c.on(i, 0).report(void)
	c.on(i, 0).report(all)
	owes("before its opening", 5)
	heard(5)
	c.on(i, 0).bcastInit()
	c.on(i, 0).packet(c.peerList[i].replica("x"))
	owes("in packets of the link", 5)
	c.on(i, 0).report(func(f *frame.StateFields) { f.Ack, f.BcastAck = 0, 5 })
	c.on(i, 0).packet(c.peerList[i].replica("x"))
	owes("it has not our first packet", 5)
	c.on(i, 0).report(void)
	c.on(i, 0).packet(c.peerList[i].replica("x"))
	owes("the STATE is marked void", 5)
	c.on(i, 0).report(all)
	owes("of the first STATE that counts", 5)
	heard(2)
	c.on(i, 0).packet(c.peerList[i].names(func(f *frame.NamesFields) { f.BcastAckInvalid = true }))
	owes("a name message marked void", 5)
	c.on(i, 0).packet(c.peerList[i].names(func(f *frame.NamesFields) { f.UpdateSeq = 1 }, nameItem(allRange.Type, 1, 1, 5)))
	owes("a name message", 3)
	heard(9)
	c.on(i, 0).packet(c.peerList[i].replica("x"))
	owes("what was never sent", 3)
	if got := c.cast.sender.BadAcks; got != 1 {
		t.Errorf("got %d counted, want 1", got)
	}
	heard(0)
	c.on(i, 0).packet(c.peerList[i].replica("x"))
	owes("an old one", 3)
	c.on(i, 0).report(func(f *frame.StateFields) { f.BcastAck, f.BcastAckInvalid = 5, true })
	owes("void again", 3)
	c.on(i, 0).report(all)
	owes("in a STATE", 0)
	c.done("")
}

// What a node tells to miss is repeated to all, over all bearers, the frame as it was.
func TestBroadcastGapIsRepeated(t *testing.T) {
	c, p := broadcastPeers(t, 2, 1, alone)
	c.on(c.add(Capabilities), 1).join()
	c.say(p, 6)
	c.collect()
	first := slices.Clone(c.sent)
	wantLines(t, "sent", c.casts(), "0:1", "0:2", "0:3", "0:4", "0:5", "0:6", "1:1", "1:2", "1:3", "1:4", "1:5", "1:6")
	c.now += time.Millisecond
	c.peerList[0].acks(6)
	c.on(1, 1).reportBlocks([]frame.GapBlock{{Ack: 4, Gap: 1}, {Ack: 6}}, func(f *frame.StateFields) { f.BcastAck, f.BcastGap = 1, 1 })
	again := slices.Clone(c.sent)
	wantLines(t, "repeated", c.casts(), "0:2", "0:5", "1:2", "1:5")
	for _, f := range again {
		if !slices.ContainsFunc(first, func(g sentFrame) bool { return g.bearer == f.bearer && string(g.bytes) == string(f.bytes) }) {
			t.Errorf("a frame on bearer %d is not what was sent before: %x", f.bearer, f.bytes)
		}
	}
	if got := c.cast.Unacked(); got != 2 {
		t.Errorf("got %d owed, want 2", got)
	}
	c.peerList[1].acks(6)
	if got := c.cast.Unacked(); got != 0 {
		t.Errorf("got %d owed in the end", got)
	}
	c.done("")
}

// Numbers wrap: nothing is lost or released too early around 65535.
//
// Proves: multicast.link
func TestBroadcastNumbersWrap(t *testing.T) {
	c, p := broadcastPeers(t, 1, 2, alone, func(c *Config) { c.FirstSeq = 65500 })
	var got []string
	for range 20 {
		c.say(p, 5)
		got = append(got, c.casts()...)
		c.peerList[0].acks(c.cast.sender.Last())
		if owed := c.cast.Unacked(); owed != 5 {
			t.Fatalf("at %d: %d owed, want 5", c.cast.sender.Last(), owed)
		}
		c.peerList[1].acks(c.cast.sender.Last())
	}
	for i, s := range got {
		if want := fmt.Sprintf("0:%d", frame.Seq(65500)+frame.Seq(i)); s != want {
			t.Fatalf("packet %d: got %s, want %s", i, s, want)
		}
	}
	if c.Unsent() != 0 || len(got) != 100 {
		t.Errorf("%d unsent of %d", c.Unsent(), len(got))
	}
	c.done("")
}

// A node's broadcasts are taken on any bearer with a link to it, in order and once; what
// is missing is reported on a link that is up.
func TestBroadcastReceivedOverTwoBearers(t *testing.T) {
	c := newPeers(t, 2, 1)
	c.on(0, 1).join()
	to := c.OpenPort(PortConfig{})
	to.Bind(c.now, allRange, frame.ClusterScope)
	c.allAck()
	c.forget()
	for k := range 20 {
		c.on(0, k%2).broadcast(c.peerList[0].mcast(allRange, nil, fmt.Sprint(k)))
		c.peerList[0].bcast--
		c.on(0, 1-k%2).broadcast(c.peerList[0].mcast(allRange, nil, fmt.Sprint(k)))
	}
	var want []string
	for k := range 20 {
		want = append(want, fmt.Sprintf("<1001002:77> %d", k))
	}
	wantLines(t, "messages", read(to), want...)
	c.wantDrops("doubles", "duplicate, early or late=20")
	if s := c.Broadcast(c.now); s.Received != 20 || s.Duplicates != 20 {
		t.Errorf("got %d received, %d doubles", s.Received, s.Duplicates)
	}
	c.done("")
}

// The reports of what is missing go out though the packet came on a bearer whose link is
// down.
func TestBroadcastReportedOnTheLinkThatIsUp(t *testing.T) {
	c := newPeers(t, 2, 1)
	c.on(0, 1).join()
	c.on(0, 1).leave()
	c.on(0, 0).report(nil)
	c.forget()
	if c.node(0).links[1].IsUp() || !c.node(0).links[0].IsUp() {
		t.Fatal("want only the first link up")
	}
	c.peerList[0].bcast++ // one is missing
	for range 40 {
		c.on(0, 1).broadcast(c.peerList[0].mcast(allRange, nil, "x"))
	}
	got := strings.Join(c.drain(), "\n")
	if !strings.Contains(got, "bcast-gap=1") {
		t.Errorf("by number: no report in %q", got)
	}
	c.wait(c.now + 20*time.Millisecond)
	if got := strings.Join(c.drain(), "\n"); !strings.Contains(got, "bcast-gap=1") {
		t.Errorf("by time: no report in %q", got)
	}
	c.done("")
}
