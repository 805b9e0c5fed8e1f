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

// updateLines keeps of what was sent the updates of names, "bearer>who publish n", those
// in bundles too.
func (c *peers) updateLines() (s []string) {
	c.t.Helper()
	c.collect()
	for _, f := range c.sent {
		eth, payload, _ := frame.ParseEthernet(f.bytes)
		m, err := frame.Parse(payload)
		if err != nil {
			continue
		}
		who := "all"
		if eth.Dst() != frame.BroadcastMAC {
			who = fmt.Sprint(eth.Dst()[5])
		}
		note := func(m frame.Message) {
			if n, err := frame.ParseNames(m); err == nil && !n.Bulk() {
				what := "publish"
				if n.Withdrawal() {
					what = "withdraw"
				}
				s = append(s, fmt.Sprintf("%d>%s %s %d", f.bearer, who, what, n.UpdateSeq()))
			}
		}
		if u, err := frame.ParseBundle(m); err == nil {
			for inner := range u.Messages() {
				note(inner)
			}
		} else {
			note(m)
		}
	}
	c.sent = nil
	return s
}

// bind makes a socket bound to {type, i, i} for each of these instances.
func (c *peers) bind(typ uint32, instances ...uint32) *Port {
	c.t.Helper()
	p := c.OpenPort(PortConfig{})
	for _, i := range instances {
		if err := p.Bind(c.now, frame.Range{Type: typ, Lower: i, Upper: i}, frame.ClusterScope); err != nil {
			c.t.Fatal(err)
		}
	}
	return p
}

// readAll lets all peers acknowledge what they were sent by unicast and by broadcast.
func (c *peers) readAll() {
	c.t.Helper()
	c.collect()
	c.allAck()
	c.allAck()
	c.forget()
}

// A change goes once, by broadcast, where all that are up know numbered updates; else by
// unicast to each, as where the node is told to use Replicast. The numbers are one sequence,
// and count what nobody heard; changes of this node alone have none.
// Mutation: namesByBroadcast does not look at the method.
//
// Proves: names.distribution
func TestUpdatesByBroadcastOrToEach(t *testing.T) {
	c := newPeers(t, 1, 2, alone)
	c.readAll()
	p := c.bind(500, 1)
	wantLines(t, "all know them", c.updateLines(), "0>all publish 1")
	old := c.add(popCaps &^ frame.CapNamedBcast)
	c.on(old, 0).join()
	c.readAll()
	p.Unbind(c.now, frame.Range{Type: 500, Lower: 1, Upper: 1}, frame.ClusterScope)
	wantLines(t, "one does not", c.updateLines(), "0>1 withdraw 2", "0>2 withdraw 2", "0>3 withdraw 2")
	p.Bind(c.now, frame.Range{Type: 500}, frame.NodeScope)
	p.Unbind(c.now, frame.Range{Type: 500}, frame.NodeScope)
	wantLines(t, "node scope", c.updateLines())
	c.on(old, 0).leave()
	c.readAll()
	c.bind(500, 2)
	wantLines(t, "it has gone", c.updateLines(), "0>all publish 3")
	c.on(0, 0).leave()
	c.on(1, 0).leave()
	c.forget()
	c.bind(500, 3)
	wantLines(t, "nobody there", c.updateLines())
	c.on(0, 0).join()
	c.readAll()
	c.bind(500, 4)
	wantLines(t, "one again", c.updateLines(), "0>all publish 5")
	if err := c.SetMulticast(Replicast, 0); err != nil {
		t.Fatal(err)
	}
	c.bind(500, 5)
	wantLines(t, "REPLICAST", c.updateLines(), "0>1 publish 6")
	if err := c.SetMulticast(Auto, 0); err != nil {
		t.Fatal(err)
	}
	c.bind(500, 6)
	wantLines(t, "no longer", c.updateLines(), "0>all publish 7")
	c.done("")
}

// A node that may not have all of the bulk is told by unicast as well, on the same link;
// as a kernel would not.
//
// Proves: names.distribution
func TestUpdatesWhileTheBulkIsRead(t *testing.T) {
	for _, kernel := range []bool{false, true} {
		c := newPeers(t, 1, 1, alone, func(c *Config) { c.AsKernel = kernel })
		c.readAll()
		i := c.add(popCaps)
		c.on(i, 0).disc(frame.Request, nil)
		c.on(i, 0).meet()
		c.forget()
		c.bind(500, 1)
		want := []string{"0>2 publish 1", "0>all publish 1"}
		if kernel {
			want = want[1:]
		}
		got := c.updateLines()
		slices.Sort(got)
		wantLines(t, fmt.Sprint("kernel ", kernel, ", before it has the bulk"), got, want...)
		c.on(i, 0).bcastInit()
		c.readAll()
		c.bind(500, 2)
		wantLines(t, fmt.Sprint("kernel ", kernel, ", it has"), c.updateLines(), "0>all publish 2")
		c.done("")
	}
}

// Before data a node is sent what it may not have heard by broadcast: each update once,
// none that it has acknowledged, and not where the node is configured otherwise.
//
// Proves: names.distribution
func TestUpdatesAheadOfData(t *testing.T) {
	c := newPeers(t, 1, 2, alone)
	c.readAll()
	send := func(p *Port, i int) {
		t.Helper()
		if err := p.Send(c.now, frame.SocketAddr{Port: 5, Node: c.peerList[i].addr}, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	p := c.bind(500, 1, 2)
	c.forget()
	send(p, 0)
	wantLines(t, "both", c.updateLines(), "0>1 publish 1", "0>1 publish 2")
	send(p, 0)
	wantLines(t, "told before", c.updateLines())
	c.peerList[1].acks(c.cast.sender.Last() - 1)
	c.forget()
	p.Bind(c.now, frame.Range{Type: 500, Lower: 3, Upper: 3}, frame.ClusterScope)
	c.forget()
	send(p, 1)
	wantLines(t, "the other has one of them", c.updateLines(), "0>2 publish 2", "0>2 publish 3")
	send(p, 0)
	wantLines(t, "only the new one", c.updateLines(), "0>1 publish 3")
	c.readAll()
	if c.cast.Unacked() != 0 {
		t.Fatal("not all acknowledged")
	}
	p.Bind(c.now, frame.Range{Type: 500, Lower: 4, Upper: 4}, frame.ClusterScope)
	c.readAll()
	send(p, 0)
	wantLines(t, "all have it", c.updateLines())
	c.peerList[0].listen(1, 1000, 0, 100)
	c.peerList[1].listen(1, 1000, 0, 100)
	p.Bind(c.now, frame.Range{Type: 500, Lower: 5, Upper: 5}, frame.ClusterScope)
	c.forget()
	p.SetMethod(Replicast)
	if err := p.SendRange(c.now, allRange, []byte("x")); err != nil {
		t.Fatal(err)
	}
	wantLines(t, "before copies", c.updateLines(), "0>1 publish 5", "0>2 publish 5")
	p.Bind(c.now, frame.Range{Type: 500, Lower: 6, Upper: 6}, frame.ClusterScope)
	c.forget()
	p.SetMethod(Broadcast)
	if err := p.SendRange(c.now, allRange, []byte("x")); err != nil {
		t.Fatal(err)
	}
	wantLines(t, "not before a broadcast, which is behind them", c.updateLines())
	c.done("")

	for _, change := range []func(*Config){behind, func(c *Config) { c.AsKernel = true }} {
		c := newPeers(t, 1, 1, alone, change)
		c.readAll()
		p := c.bind(500, 1)
		c.forget()
		send := c.peerList[0].addr
		if err := p.Send(c.now, frame.SocketAddr{Port: 5, Node: send}, []byte("x")); err != nil {
			t.Fatal(err)
		}
		wantLines(t, "not to be told ahead", c.updateLines())
		c.done("")
	}
}

// More updates than maxAhead are left to the broadcast link; so many are not.
func TestUpdatesTooManyToTellAhead(t *testing.T) {
	for _, n := range []uint32{maxAhead, maxAhead + 1} {
		c := newPeers(t, 1, 2)
		c.readAll()
		p := c.OpenPort(PortConfig{})
		for i := range n {
			p.Bind(c.now, frame.Range{Type: 500, Lower: i, Upper: i}, frame.ClusterScope)
		}
		c.forget()
		if err := p.Send(c.now, frame.SocketAddr{Port: 5, Node: c.peerList[0].addr}, []byte("x")); err != nil {
			t.Fatal(err)
		}
		for range 20 { // the link's window
			c.live()
		}
		told := 0
		for _, l := range c.updateLines() {
			if strings.HasPrefix(l, "0>1") {
				told++
			}
		}
		if want := map[bool]int{true: maxAhead}[n <= maxAhead]; told != want {
			t.Errorf("%d updates: %d sent ahead, want %d", n, told, want)
		}
		c.done("")
	}
}

// The node's two links overtake each other: what refers to a name, on either, comes behind
// the name.
func TestUpdatesAheadOnEitherLink(t *testing.T) {
	c := newPeers(t, 2, 1, alone)
	c.on(0, 1).join()
	c.readAll()
	var even, odd *Port
	for even == nil || odd == nil {
		if p := c.OpenPort(PortConfig{}); c.node(0).route(p.number) == c.node(0).links[0] {
			even = p
		} else {
			odd = p
		}
	}
	even.Bind(c.now, frame.Range{Type: 500}, frame.ClusterScope)
	c.forget()
	for i, p := range []*Port{even, odd} {
		if err := p.Send(c.now, frame.SocketAddr{Port: 5, Node: c.peerList[0].addr}, []byte("x")); err != nil {
			t.Fatal(err)
		}
		wantLines(t, fmt.Sprint("on link ", i), c.updateLines(), fmt.Sprintf("%d>1 publish 1", i))
	}
	c.done("")
}

// A second link is held back behind what the first was told: nothing of that is said twice.
func TestUpdatesWhenASecondLinkComes(t *testing.T) {
	c := newPeers(t, 2, 1, alone)
	c.readAll()
	p := c.bind(500, 1)
	for c.node(0).route(p.number) != c.node(0).links[0] || p.number&1 == 0 {
		p = c.OpenPort(PortConfig{}) // one that takes the second link
	}
	send := func() {
		t.Helper()
		if err := p.Send(c.now, frame.SocketAddr{Port: 5, Node: c.peerList[0].addr}, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	c.forget()
	send()
	wantLines(t, "on the first", c.updateLines(), "0>1 publish 1")
	c.peerList[0].heard = 0 // it does not tell that it has the broadcast
	c.on(0, 1).join()
	send()
	if c.node(0).route(p.number) != c.node(0).links[1] || c.cast.Unacked() != 1 {
		t.Fatalf("want the second link in use, and the broadcast not acknowledged: %d", c.cast.Unacked())
	}
	wantLines(t, "on the second", c.updateLines())
	c.done("")
}

// What was on its way by broadcast when the last node left does not come: it keeps no
// later update from being told ahead.
func TestUpdatesThatWentWithTheLastNode(t *testing.T) {
	c := newPeers(t, 1, 1, alone)
	c.readAll()
	var many []uint32
	for i := range uint32(60) {
		many = append(many, i)
	}
	p := c.bind(500, many...) // more than the window
	c.on(0, 0).leave()        // it has acknowledged none
	c.forget()
	if len(c.recent) != 0 {
		t.Errorf("%d updates under way to nobody", len(c.recent))
	}
	c.on(0, 0).join()
	c.readAll()
	p.Bind(c.now, frame.Range{Type: 501}, frame.ClusterScope)
	c.readAll()
	p.Bind(c.now, frame.Range{Type: 502}, frame.ClusterScope)
	c.forget()
	if len(c.recent) != 1 {
		t.Errorf("%d updates under way, want 1", len(c.recent))
	}
	if err := p.Send(c.now, frame.SocketAddr{Port: 5, Node: c.peerList[0].addr}, []byte("x")); err != nil {
		t.Fatal(err)
	}
	wantLines(t, "ahead", c.updateLines(), "0>1 publish 62")
	c.done("")
}

// An update that all have is forgotten, also when nothing but multicasts follows it for
// longer than half of the numbers.
func TestUpdatesAreForgotten(t *testing.T) {
	c, p := broadcastPeers(t, 1, 1, alone)
	c.readAll()
	c.bind(500, 1)
	c.readAll()
	for range 700 { // 35,000 packets
		c.say(p, 50)
		c.forget()
		c.peerList[0].acks(c.cast.sender.Last())
	}
	c.bind(500, 2)
	c.forget()
	if len(c.recent) != 1 {
		t.Errorf("%d updates under way, want 1", len(c.recent))
	}
	if err := p.Send(c.now, frame.SocketAddr{Port: 5, Node: c.peerList[0].addr}, []byte("x")); err != nil {
		t.Fatal(err)
	}
	wantLines(t, "ahead", c.updateLines(), "0>1 publish 2")
	c.done("")
}

// Without memory for the broadcast an update goes to each by unicast; who cannot be sent
// that either is owed it, and is told later, ahead of what changes then. It catches
// updates that do not go behind what is owed, see tellOne.
//
// Proves: names.distribution
func TestUpdatesWithoutMemory(t *testing.T) {
	refuse := 0 // chunks
	a := newArena(t, netdev.ArenaConfig{Small: 1024, Poison: true, Refuse: func(u netdev.Use) bool {
		if refuse == 0 {
			return false
		}
		refuse--
		return true
	}})
	c := peersOn(t, a, 1, 2, alone)
	c.readAll()
	refuse = 1
	p := c.bind(500, 1)
	wantLines(t, "none for the broadcast", c.updateLines(), "0>1 publish 1", "0>2 publish 1")
	c.bind(500, 2)
	wantLines(t, "the next", c.updateLines(), "0>all publish 2")
	if err := p.Send(c.now, frame.SocketAddr{Port: 5, Node: c.peerList[0].addr}, []byte("x")); err != nil {
		t.Fatal(err)
	}
	wantLines(t, "ahead", c.updateLines(), "0>1 publish 2")
	c.bind(500, 3)
	c.forget()
	refuse = 1
	c.bind(500, 4)
	c.forget()
	if err := p.Send(c.now, frame.SocketAddr{Port: 5, Node: c.peerList[0].addr}, []byte("x")); err != nil {
		t.Fatal(err)
	}
	wantLines(t, "ahead, of what was broadcast before one that was not", c.updateLines(), "0>1 publish 3")
	c.readAll()
	refuse = 2
	c.bind(500, 5)
	wantLines(t, "none for the first either", c.updateLines(), "0>2 publish 5")
	refuse = 1
	c.bind(500, 6)
	wantLines(t, "the next, which goes behind what is owed", c.updateLines(), "0>2 publish 6")
	c.now += owedPause
	c.HandleTimeout(c.now)
	wantLines(t, "later", c.updateLines(), "0>1 publish 5", "0>1 publish 6")
	if err := p.Send(c.now, frame.SocketAddr{Port: 5, Node: c.peerList[0].addr}, []byte("x")); err != nil {
		t.Fatal(err)
	}
	c.readAll()
	c.bind(500, 7)
	wantLines(t, "all told", c.updateLines(), "0>all publish 7")
	if c.node(0).owed != nil || c.node(1).owed != nil || c.namesAgain.isSet() {
		t.Error("something is owed still")
	}
	c.done("")
}

// Where there is no room to tell all ahead what was sent of it goes out all the same.
func TestUpdatesAheadOfDataInPart(t *testing.T) {
	refuse := -1 // chunks given until one is refused
	a := newArena(t, netdev.ArenaConfig{Small: 1024, Poison: true, Refuse: func(u netdev.Use) bool {
		if refuse < 0 {
			return false
		}
		if refuse == 0 {
			return true
		}
		refuse--
		return false
	}})
	c := peersOn(t, a, 1, 1, alone)
	c.readAll()
	p := c.bind(500, 1, 2)
	c.forget()
	refuse = 1
	if err := p.Send(c.now, frame.SocketAddr{Port: 5, Node: c.peerList[0].addr}, []byte("x")); err != ErrMemory {
		t.Errorf("got %v", err)
	}
	wantLines(t, "ahead", c.updateLines(), "0>1 publish 1")
	refuse = -1
	c.readAll()
	c.done("")
}

// A node that restarts, at once or after it was lost, has the whole table and nothing
// twice; what is bound meanwhile reaches it.
//
// Proves: names.distribution
func TestUpdatesAcrossARestart(t *testing.T) {
	b := newBed(t, 3)
	x := b.nodes[0]
	together := func() bool {
		for _, n := range b.nodes {
			if n.ups != len(b.nodes)-1 {
				return false
			}
		}
		return true
	}
	if !b.until(longTime, together) {
		t.Fatal("no contact")
	}
	p := x.OpenPort(PortConfig{})
	for i := range uint32(200) {
		p.Bind(b.now, frame.Range{Type: 500, Lower: i, Upper: i}, frame.ClusterScope)
	}
	for round := range 3 {
		old := b.nodes[2]
		old.Leave(b.now)
		if round == 1 { // it is lost first
			b.cut = func(from, to, bearer int) bool { return from == 2 || to == 2 }
			b.until(3*time.Second, func() bool { return x.ups == 1 })
			b.cut = nil
		}
		b.nodes = b.nodes[:2]
		b.add(Config{Address: 0x1001003}, uint64(100+round))
		k := uint32(1000 * (round + 1))
		if !b.until(longTime, func() bool {
			k++
			p.Bind(b.now, frame.Range{Type: 500, Lower: k, Upper: k}, frame.ClusterScope)
			if k%3 == 0 {
				p.Unbind(b.now, frame.Range{Type: 500, Lower: k - 1, Upper: k - 1}, frame.ClusterScope)
			}
			return together()
		}) {
			t.Fatalf("round %d: no contact", round)
		}
		b.pass(time.Second)
		want := p.Bindings()
		for i, n := range b.nodes[1:] {
			have := 0
			for g := range n.Bindings {
				if g.Range.Type == 500 {
					have++
				}
			}
			if have != len(want) {
				t.Errorf("round %d: node %d has %d of %d names", round, i+1, have, len(want))
			}
		}
		for i, n := range b.nodes {
			if n.Unsent() != 0 || n.ups != 2 {
				t.Errorf("round %d: node %d: %d unsent, %d up", round, i, n.Unsent(), n.ups)
			}
		}
	}
}
