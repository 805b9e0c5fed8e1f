// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// TestKept: a message that was sent as the simulation ended is in memory until the other node
// acknowledges it, which is no violation; a chunk that nobody gives back is one.
// Mutations: kept does not wait; kept returns 0.
func TestKept(t *testing.T) {
	c := newCluster(Config{Seed: 5})
	c.boot()
	c.quiet = true
	if n := c.kept(); n != 0 {
		t.Fatalf("%d chunks are in use after the start", n)
	}
	from, to := c.members[0], c.members[1]
	if err := from.port.SendService(c.now, frame.Service{Type: serviceType, Instance: uint32(to.idx)}, c.message(from.life, from.epoch[to.idx], 0, to.idx)); err != nil {
		t.Fatal(err)
	}
	c.after(from)
	if c.arena.Free() == c.arena.Total() {
		t.Fatal("the sender keeps nothing until the message is acknowledged")
	}
	if n := c.kept(); n != 0 {
		t.Errorf("a message was sent: %d chunks are kept", n)
	}
	b := c.arena.Get(100, netdev.Control)
	if n := c.kept(); n != 1 {
		t.Errorf("one chunk is not given back: got %d, want 1", n)
	}
	b.Release()
	for _, v := range c.report.Findings {
		t.Error(v)
	}
}

// TestNoChangeBeforeContact: beside a master key, the cluster's key is not changed while a node
// makes contact, and is changed as soon as all are in contact. Mutations: change does not ask for inContact;
// it does not change the key at all.
func TestNoChangeBeforeContact(t *testing.T) {
	c := newCluster(Config{Seed: 3})
	if c.Kind != Both {
		t.Fatalf("seed 3 has %v", c.Kind)
	}
	c.boot()
	s := c.members[0]
	c.crash(s)
	c.revive(s)
	if c.change(s); c.report.Changes != 0 {
		t.Error("the key is changed while a node makes contact")
	}
	if !c.until(bootLimit, nil, c.inContact) {
		t.Fatal("no contact")
	}
	if c.change(s); c.report.Changes != 1 {
		t.Errorf("all are in contact: got %d changes, want 1", c.report.Changes)
	}
}
