// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// Source: docs/spec/03-discovery-and-node.md §2.3.
func TestInScope(t *testing.T) {
	for _, c := range []struct {
		domain, addr frame.NodeAddr
		want         bool
	}{
		{0, 0x1001001, true},
		{0x1001001, 0x1001001, true},
		{0x1001001, 0x1001002, false},
		{0x1001000, 0x1001002, true},
		{0x1001000, 0x1002002, false},
		{0x1000000, 0x1002002, true},
		{0x1000000, 0x2002002, false},
		{0x1000001, 0x1000001, true},
		{0x1000001, 0x1001001, false},
	} {
		if got := inScope(c.domain, c.addr); got != c.want {
			t.Errorf("%v in %v: got %v, want %v", c.addr, c.domain, got, c.want)
		}
	}
}

// What a node is called can be said as long as it has no address and tries none.
func TestNamedBeforeItsAddress(t *testing.T) {
	b := &bed{t: t}
	n := b.bare(Config{Arena: newArena(t, netdev.ArenaConfig{Small: 64, Reserve: 8})}, 1)
	for what, err := range map[string]error{
		"address 0": n.SetAddress(0, 0), "an empty identity": n.SetIdentity(frame.Identity{}), "net id 0": n.SetNetID(0), "net id 10000": n.SetNetID(10000),
	} {
		if !errors.Is(err, ErrConfig) {
			t.Errorf("%s: got %v, want %v", what, err, ErrConfig)
		}
	}
	id, err := frame.ParseIdentity("nodeD")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(n.SetNetID(5000), n.SetIdentity(id)); err != nil {
		t.Fatal(err)
	}
	b.attach(n, BearerConfig{MTU: 1500})
	for what, err := range map[string]error{"address": n.SetAddress(0, 1), "identity": n.SetIdentity(id), "net id": n.SetNetID(1)} {
		if err != ErrSettled {
			t.Errorf("%s, on trial: got %v, want %v", what, err, ErrSettled)
		}
	}
	b.waitFor(func() bool { return n.Address() != 0 })
	if n.Address() != 0x2a6f6465 || n.Identity() != id || n.NetID() != 5000 {
		t.Errorf("got %v, %v, %d", n.Address(), n.Identity(), n.NetID())
	}
	if err := n.SetAddress(b.now, 1); err != ErrSettled {
		t.Errorf("got %v, want %v", err, ErrSettled)
	}
}

// While it is observed, a node marks what it sends again, on links and on the broadcast
// link, and forgets all of that when it is not.
func TestObserve(t *testing.T) {
	w := newTwin(t, BearerConfig{})
	w.x.Observe(true)
	marked := 0
	again := func() int {
		sum := int(w.x.Broadcast(w.now).Retransmits)
		for i := range 2 {
			sum += int(w.link(w.x, i).Retransmits)
		}
		return sum
	}
	before := again()
	w.taken = func(n *bedNode) {
		if n == w.x && n.Repeated() > 0 {
			marked++
		}
	}
	w.rough(3)
	w.work(20_000_000)
	w.done()
	if want := again() - before; marked != want || want < 10 {
		t.Errorf("%d frames were marked, %d sent again", marked, want)
	}
	w.x.Observe(false)
	if n := w.x.Repeated(); n != 0 || len(w.x.observer.again) != 0 {
		t.Errorf("no longer observed: got %d, %d", n, len(w.x.observer.again))
	}
}
