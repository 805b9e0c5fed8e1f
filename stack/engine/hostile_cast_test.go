// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// Of the broadcast link a node hears those it has a link to, from their own stations,
// in its own network (spec 04, "Validation and hostile input").
//
// Proves: hostile.docs
func TestHostileBroadcastSource(t *testing.T) {
	for _, x := range []struct {
		name   string
		change func(c *peers, msg []byte) (src frame.MAC, bearer int)
		drop   string
	}{
		{"sound", func(c *peers, msg []byte) (frame.MAC, int) { return c.peerList[0].links[0].mac, 0 }, ""},
		{"another network", func(c *peers, msg []byte) (frame.MAC, int) { msg[23]++; return c.peerList[0].links[0].mac, 0 }, "other network=1"},
		{"network 0", func(c *peers, msg []byte) (frame.MAC, int) {
			msg[22], msg[23] = 0, 0
			return c.peerList[0].links[0].mac, 0
		}, "other network=1"},
		{"another member's station", func(c *peers, msg []byte) (frame.MAC, int) { return c.peerList[1].links[0].mac, 0 }, "source is not the station it claims=1"},
		{"nobody's station", func(c *peers, msg []byte) (frame.MAC, int) { return frame.MAC{2, 9, 9, 9, 9, 9}, 0 }, "source is not the station it claims=1"},
		{"a bearer it is not on", func(c *peers, msg []byte) (frame.MAC, int) { return c.peerList[0].links[0].mac, 1 }, "from a node not known=1"},
		{"an unknown node", func(c *peers, msg []byte) (frame.MAC, int) { msg[15] = 99; return c.peerList[0].links[0].mac, 0 }, "from a node not known=1"},
		{"ourselves", func(c *peers, msg []byte) (frame.MAC, int) { msg[15] = 1; return c.peerList[0].links[0].mac, 0 }, "from a node not known=1"},
		{"a header of 36 bytes", func(c *peers, msg []byte) (frame.MAC, int) {
			msg[1] = msg[1]&0x1f | 9<<5&0xe0
			return c.peerList[0].links[0].mac, 0
		}, "malformed=1"},
	} {
		c := newPeers(t, 2, 2)
		to := c.OpenPort(PortConfig{})
		to.Bind(c.now, allRange, frame.ClusterScope)
		c.allAck()
		c.forget()
		msg := c.peerList[0].mcast(allRange, nil, "x")
		frame.StampBroadcast(msg, 1, frame.DefaultNetID)
		src, bearer := x.change(c, msg)
		c.raw(bearer, ether(frame.BroadcastMAC, src, msg))
		c.wantDrops(x.name, x.drop)
		if got := len(read(to)) == 1; got != (x.drop == "") {
			t.Errorf("%s: delivered: %v", x.name, got)
		}
		c.peerList[0].bcast = 1
		c.on(0, 0).broadcast(c.peerList[0].mcast(allRange, nil, "sound"))
		if got := read(to); len(got) != 1 && x.drop != "" {
			t.Errorf("%s: the next has no turn: %q", x.name, got)
		}
		c.done(x.name)
	}
}

// A node that was never in contact, or no more is, says nothing.
//
// Proves: hostile.docs
func TestHostileBroadcastWithoutContact(t *testing.T) {
	c := newPeers(t, 1, 1)
	to := c.OpenPort(PortConfig{})
	to.Bind(c.now, allRange, frame.ClusterScope)
	c.forget()
	c.on(0, 0).leave()
	c.drops()
	c.on(0, 0).broadcast(c.peerList[0].mcast(allRange, nil, "x"))
	c.wantDrops("lost", "duplicate, early or late=1")
	i := c.add(popCaps)
	c.on(i, 0).disc(frame.Request, nil)
	c.on(i, 0).meet()
	c.drops()
	c.on(i, 0).broadcast(c.peerList[i].mcast(allRange, nil, "x"))
	c.wantDrops("before its opening", "duplicate, early or late=1")
	if got := read(to); got != nil {
		t.Errorf("read %q", got)
	}
	c.done("")
}

// Acknowledgements and reports of our broadcasts that cannot be change nothing, are
// counted, and are no reason to end contact.
//
// Proves: hostile.docs
func TestHostileBroadcastReports(t *testing.T) {
	for _, x := range []struct {
		name   string
		ack    frame.Seq
		gap    int
		blocks []frame.GapBlock
		acks   uint64 // counted
		bad    uint64
		again  int // repeated
	}{
		{"all of it", 10, 0, nil, 0, 0, 0},
		{"one that was never sent", 11, 0, nil, 1, 0, 0},
		{"far ahead", 9999, 1, nil, 1, 0, 0},
		{"behind", 0xfff0, 3, nil, 0, 0, 0},
		{"a gap beyond what was sent", 3, 8, nil, 0, 1, 0},
		{"the largest gap", 3, 1023, nil, 0, 1, 0},
		{"a gap in range", 3, 7, nil, 0, 0, 7},
		{"blocks that go back", 3, 1, []frame.GapBlock{{Ack: 7, Gap: 1}, {Ack: 6}}, 0, 1, 1},
		{"blocks beyond", 3, 1, []frame.GapBlock{{Ack: 5, Gap: 1}, {Ack: 11}}, 0, 1, 1},
		{"a last block with a gap", 3, 1, []frame.GapBlock{{Ack: 5, Gap: 2}}, 0, 1, 1},
		{"blocks without a gap", 3, 0, []frame.GapBlock{{Ack: 5}}, 0, 1, 0},
	} {
		c := newPeers(t, 1, 0, alone)
		c.on(c.add(Capabilities), 0).join()
		c.on(c.add(popCaps), 0).join()
		c.peerList[0].listen(1, 1000, 0, 100)
		p := c.OpenPort(PortConfig{})
		p.SetMethod(Broadcast)
		c.say(p, 10)
		c.now += time.Second / 100
		c.casts()
		c.on(0, 0).reportBlocks(x.blocks, func(f *frame.StateFields) { f.BcastAck, f.BcastGap = x.ack, x.gap })
		if got := len(c.casts()); got != x.again {
			t.Errorf("%s: %d repeated, want %d", x.name, got, x.again)
		}
		if s := c.cast.sender; s.BadAcks != x.acks || s.BadBlocks != x.bad {
			t.Errorf("%s: counted %d, %d, want %d, %d", x.name, s.BadAcks, s.BadBlocks, x.acks, x.bad)
		}
		if !c.node(0).up() || c.Unsent() != 10 {
			t.Errorf("%s: up %v, %d unsent", x.name, c.node(0).up(), c.Unsent())
		}
		c.done(x.name)
	}
}

// However many nodes miss a packet, and however often each says so, it is repeated
// once in a while: storms of reports make no storm of repetitions.
//
// Proves: hostile.docs
func TestHostileBroadcastStorm(t *testing.T) {
	c := newPeers(t, 1, 8, alone)
	c.peerList[0].listen(1, 1000, 0, 100)
	p := c.OpenPort(PortConfig{})
	p.SetMethod(Broadcast)
	c.say(p, 10)
	c.casts()
	start, again, reports := c.now, 0, 0
	for ; c.now < start+10*time.Millisecond; c.now += 20 * time.Microsecond {
		for i := range 8 {
			c.on(i, 0).report(func(f *frame.StateFields) { f.BcastAck, f.BcastGap = 0, 10 })
			reports++
		}
		again += len(c.casts())
	}
	if most := 10 * 51; again > most || again == 0 {
		t.Errorf("%d reports: %d repeated, want at most %d, ten packets each 200 µs", reports, again, most)
	}
	c.done("")
}

// Names in a bundle of the broadcast link, behind those that end contact, do not stay.
//
// Proves: hostile.docs
func TestHostileBroadcastBundleEndsWithContact(t *testing.T) {
	c := newPeers(t, 1, 1)
	c.forget()
	c.table.Limit = c.table.Len() + 1
	inner := func(legacy bool, it ...frame.NameItem) []byte {
		return c.peerList[0].names(func(f *frame.NamesFields) { f.NonLegacy, f.Dest = !legacy, 0 }, it...)
	}
	msg := bundle(func(f *frame.BundleFields) { f.Prev, f.Orig, f.Dest = c.peerList[0].addr, c.peerList[0].addr, 0 },
		inner(true, nameItem(1000, 1, 1, 5), nameItem(1000, 2, 2, 6)), inner(true, nameItem(1000, 3, 3, 7)))
	c.on(0, 0).broadcast(msg)
	if c.node(0).up() {
		t.Fatal("want contact given up")
	}
	if got := c.table.Count(c.peerList[0].addr); got != 0 {
		t.Errorf("%d names of a node that is lost", got)
	}
	c.table.Limit = 0
	c.done("")
}

// A tunnel belongs to two links between two nodes: by broadcast it is refused.
//
// Proves: hostile.docs
func TestHostileBroadcastTunnel(t *testing.T) {
	d := newTwoLinks(t)
	port := d.OpenPort(PortConfig{ReceiveLimit: 1 << 20})
	in := inside(d.links[1].seq, data(port.number, nil, "x"))
	d.links[0].packet(d.tunnel(func(f *frame.TunnelFields) { f.Count = 5 }, inside(d.links[1].seq, data(0, func(f *frame.PayloadFields) { f.Error = frame.NoPort }, ""))))
	if d.node().contact != FailingOver {
		t.Fatalf("got %v", d.node().contact)
	}
	d.drops()
	msg := d.tunnel(func(f *frame.TunnelFields) { f.Count = 5 }, inside(frame.Seq(d.links[1].seq+1), in))
	frame.StampBroadcast(msg, d.bcast, frame.DefaultNetID)
	d.links[0].raw(ether(frame.BroadcastMAC, d.links[0].mac, msg))
	if got := d.drops(); got != "not allowed inside a bundle=1" {
		t.Errorf("got %q", got)
	}
	if got := read(port); got != nil {
		t.Errorf("read %q", got)
	}
	d.done("")
}

// A multicast in the name of another node is nobody's: it could hold up that node's, or
// never be released.
//
// Proves: hostile.docs
func TestHostileMulticastInAnothersName(t *testing.T) {
	c := newPeers(t, 1, 2)
	to := c.OpenPort(PortConfig{})
	to.Bind(c.now, allRange, frame.ClusterScope)
	c.allAck()
	c.forget()
	for _, orig := range []frame.NodeAddr{c.peerList[1].addr, c.Address(), 0x1001099} {
		c.on(0, 0).broadcast(c.peerList[0].mcast(allRange, func(f *frame.PayloadFields) { f.OrigNode, f.Syn = orig, true }, "x"))
		c.on(0, 0).packet(c.peerList[0].mcast(allRange, func(f *frame.PayloadFields) {
			f.OrigNode, f.Syn, f.SrcDroppable, f.DestNode = orig, true, true, c.Address()
		}, "x"))
		want := DropForeign
		if orig == c.Address() {
			want = DropForged
		}
		c.wantDrops(orig.String(), want.String()+"=2")
	}
	c.on(1, 0).broadcast(c.peerList[1].mcast(allRange, nil, "y"))
	wantLines(t, "the other node's", read(to), "<1001003:77> y")
	if to.barrier != nil {
		t.Error("something waits")
	}
	c.done("")
}

// Multicasts of this node reach no connection and no listener, as those of others.
func TestMulticastHereReachesNoConnection(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		client, server, l := b.pair(ConnConfig{})
		p := b.y.OpenPort(PortConfig{})
		if err := p.SendRange(b.now, service.Range(), []byte("x")); err != nil {
			t.Fatal(err)
		}
		b.settle()
		if got := []int{l.port.Pending(), server.port.Pending(), client.port.Pending()}; !slices.Equal(got, []int{0, 0, 0}) {
			t.Errorf("waiting: %v", got)
		}
		if got := b.y.Counters().Drops.String(); got != "" {
			t.Errorf("dropped %q: nothing was for them", got)
		}
		client.Close(b.now)
		server.Close(b.now)
		l.Close(b.now)
		b.settle()
	})
}

// Fragments of the broadcast link that do not join are dropped, bounded; contact stays.
//
// Proves: hostile.docs
func TestHostileBroadcastFragments(t *testing.T) {
	c := newPeers(t, 1, 1)
	to := c.OpenPort(PortConfig{ReceiveLimit: 1 << 20})
	to.Bind(c.now, allRange, frame.ClusterScope)
	c.allAck()
	c.forget()
	part := func(typ frame.FragmentType, b []byte) []byte {
		return (&frame.FragmentFields{Common: frame.Common{Prev: c.peerList[0].addr}, Type: typ, Orig: c.peerList[0].addr}).Append(nil, b)
	}
	whole := c.peerList[0].mcast(allRange, nil, strings.Repeat("x", 66000))
	c.on(0, 0).broadcast(part(frame.FirstFragment, whole[:1400]))
	for range 100 { // more than it announced, and than a message may have
		c.on(0, 0).broadcast(part(frame.MiddleFragment, whole[1400:2800]))
	}
	c.on(0, 0).broadcast(part(frame.LastFragment, whole[1400:1410]))
	if got := c.drops(); !strings.HasPrefix(got, "fragments do not join=") || !c.node(0).up() {
		t.Errorf("dropped %q, up %v", got, c.node(0).up())
	}
	long := c.peerList[0].mcast(allRange, nil, strings.Repeat("x", 2000))
	c.on(0, 0).broadcast(part(frame.FirstFragment, long[:1400]))
	c.on(0, 0).broadcast(part(frame.LastFragment, long[1400:]))
	wantLines(t, "the next", read(to), fmt.Sprintf("<%v:77> 2000 bytes", c.peerList[0].addr))
	c.done("")
}
