// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// A node that misses a packet, or owes its acknowledgement, for longer than 10 tolerances
// loses contact, alone; what others wait for goes on.
//
// Proves: multicast.link
func TestBroadcastFailureIsOfOneNode(t *testing.T) {
	for _, reports := range []bool{true, false} {
		c, p := broadcastPeers(t, 1, 3, alone, func(c *Config) { c.Tolerance = 100 * time.Millisecond })
		c.say(p, 3)
		start := c.now
		var events []string
		for c.now < start+2*time.Second && c.ups == 3 {
			c.wait(c.now + 10*time.Millisecond)
			c.peerList[0].acks(3)
			c.peerList[2].acks(3)
			if c.node(1).up() {
				c.on(1, 0).report(func(f *frame.StateFields) {
					if f.BcastAck = 1; reports {
						f.BcastGap = 1
					}
				})
			}
			events = append(events, c.eventList()...)
		}
		if got := c.now - start; got < time.Second || got > 1050*time.Millisecond {
			t.Errorf("reports %v: after %v, want ten tolerances of 100 ms", reports, got)
		}
		if s := strings.Join(events, ", "); !strings.Contains(s, "peer lost 1001003") || strings.Contains(s, "1001002") || strings.Contains(s, "1001004") {
			t.Errorf("reports %v: got %s", reports, s)
		}
		if c.node(1).up() || !c.node(0).up() || !c.node(2).up() || c.Unsent() != 0 {
			t.Errorf("reports %v: %d unsent, up: %v %v %v", reports, c.Unsent(), c.node(0).up(), c.node(1).up(), c.node(2).up())
		}
		c.say(p, 1)
		c.allAck()
		if got := c.cast.Unacked(); got != 0 {
			t.Errorf("reports %v: the next: %d owed", reports, got)
		}
		c.done("")
	}
}

// The report that shows it ends contact itself, before anything else it says counts.
func TestBroadcastFailureByReport(t *testing.T) {
	c, p := broadcastPeers(t, 1, 2, alone, func(c *Config) { c.Tolerance = 100 * time.Millisecond })
	c.say(p, 3)
	missing := func(f *frame.StateFields) { f.BcastAck, f.BcastGap, f.Probe, f.Keepalive = 1, 1, true, true }
	c.on(1, 0).report(missing)
	for _, x := range []struct {
		pass time.Duration
		up   bool
	}{{time.Second, true}, {1, false}} {
		c.now += x.pass // and no deadline is served
		c.sent = nil
		c.on(1, 0).report(missing)
		if got := c.node(1).up(); got != x.up || !c.node(0).up() {
			t.Errorf("%v later: up %v, want %v", x.pass, got, x.up)
		}
	}
	for _, l := range c.drain() {
		if strings.HasPrefix(l, "0>2 link/state") {
			t.Errorf("answered %s", l)
		}
	}
	c.done("")
}

// When the link stands still the nodes that have not acknowledged all are asked, no others.
func TestBroadcastAsksMembers(t *testing.T) {
	c, p := broadcastPeers(t, 1, 3, alone)
	c.say(p, 60)
	c.peerList[0].acks(50)
	c.peerList[1].acks(49)
	c.peerList[2].acks(30)
	if got := c.lastMember(); got != c.peerList[2].addr {
		t.Errorf("got %v as who holds it up", got)
	}
	c.forget()
	c.peerList[0].acks(c.cast.sender.Last())
	c.forget()
	c.wait(c.now + 12*time.Millisecond)
	var asked []string
	for _, l := range c.drain() {
		if who, what, _ := strings.Cut(l, " "); strings.Contains(what, "probe") {
			asked = append(asked, who)
		}
	}
	slices.Sort(asked)
	if got := slices.Compact(asked); !slices.Equal(got, []string{"0>2", "0>3"}) {
		t.Errorf("asked %v, want the second and the third", got)
	}
	c.allAck()
	c.allAck()
	if got := c.lastMember(); got != 0 || c.Unsent() != 0 {
		t.Errorf("got %v, %d unsent", got, c.Unsent())
	}
	c.done("")
}

// Unsent counts what is broadcast; Hurry asks for what is owed, and when it has come
// nothing is.
//
// Proves: multicast.link
func TestBroadcastDrains(t *testing.T) {
	c, p := broadcastPeers(t, 1, 2, alone)
	c.say(p, 55)
	if got := c.Unsent(); got != 55 {
		t.Errorf("got %d unsent, want 55", got)
	}
	c.forget()
	c.Hurry(c.now)
	if got := strings.Join(c.drain(), "\n"); strings.Count(got, "probe") != 2 {
		t.Errorf("hurry: got %s", got)
	}
	c.allAck()
	c.allAck()
	c.forget()
	c.Hurry(c.now)
	if got := strings.Join(c.drain(), "\n"); strings.Contains(got, "probe") || c.Unsent() != 0 {
		t.Errorf("nothing owed: got %s, %d unsent", got, c.Unsent())
	}
	c.done("")
}

// A node that goes in the midst releases what it owed, with two links too, and every
// chunk comes back, also where bearers are removed.
//
// Proves: multicast.link
func TestBroadcastNodeGoesInTheMidst(t *testing.T) {
	for _, x := range []struct {
		name string
		end  func(c *peers)
	}{
		{"links lost", func(c *peers) { c.on(1, 0).leave(); c.on(1, 1).leave() }},
		{"first bearer removed", func(c *peers) { c.RemoveBearer(c.now, 0); c.on(1, 1).leave() }},
		{"its MTU changed", func(c *peers) { c.SetMTU(c.now, 1, 1400); c.on(1, 0).leave() }},
		{"both bearers down", func(c *peers) { c.SetMTU(c.now, 0, 0); c.SetMTU(c.now, 1, 0) }},
	} {
		c, p := broadcastPeers(t, 2, 2, alone)
		c.on(1, 1).join()
		if err := p.SendRange(c.now, allRange, make([]byte, 66000)); err != nil {
			t.Fatal(err)
		}
		c.say(p, 20)
		had := c.Unsent()
		c.peerList[0].acks(50)
		c.peerList[0].acks(c.cast.sender.Last())
		x.end(c)
		c.allAck()
		c.allAck()
		if got := c.Unsent(); got != 0 || had < 60 {
			t.Errorf("%s: %d of %d unsent", x.name, got, had)
		}
		c.collect()
		if free, total := c.arena.Free(), c.arena.Total(); free != total {
			t.Errorf("%s: %d of %d chunks free", x.name, free, total)
		}
		c.done(x.name)
	}
}

// leaveQuietly takes all links of a peer down; the engine's frames stay where they are.
func (c *peers) leaveQuietly(i int) {
	for _, l := range c.node(i).links {
		if l != nil {
			c.cutLink(c.now, l)
		}
	}
}

// Own broadcasts that come back, on the same bearer or another on the same segment, are
// nobody's.
func TestBroadcastComesBack(t *testing.T) {
	c, p := broadcastPeers(t, 2, 1)
	c.say(p, 1)
	c.collect()
	own := c.sent[0].bytes
	c.raw(0, own)
	c.raw(1, own)
	c.wantDrops("own frames", "not for this station or node=1, from a node not known=1")
	if got := c.Broadcast(0); got.Received != 0 {
		t.Errorf("got %d received", got.Received)
	}
	c.done("")
}
