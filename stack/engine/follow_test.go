// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// An MTU that shrinks when the peer was told the old one, and has the link up
// already, is told the peer too.
func TestMTUShrinksWhileEstablishing(t *testing.T) {
	b := newBed(t, 2)
	x, y := b.nodes[0], b.nodes[1]
	up := func(n *bedNode) bool { return len(n.nodes) > 0 && n.nodes[0].links[0].IsUp() }
	b.lose = func(from int, _ []byte) bool { return from == 1 && up(y) }
	if !b.until(3*time.Second, func() bool { return up(y) }) || x.nodes[0].links[0].State() != flowctl.Establishing {
		t.Fatal("no end is up before the other")
	}
	x.SetMTU(b.now, 0, 1000)
	b.lose = func(from int, _ []byte) bool { return from == 0 && !up(x) && b.now < 2*time.Second } // not by luck
	if !b.until(10*time.Second, func() bool { return up(x) && up(y) }) {
		t.Fatal("the link does not come up")
	}
	for _, n := range b.nodes {
		if mtu := n.nodes[0].links[0].MTU(); mtu != 1000 {
			t.Errorf("node %v sends packets of %d bytes on a link of 1000", n.Address(), mtu)
		}
	}
}

// Where the interface was down nobody could object to an address: the trial begins
// when it comes up.
func TestTrialBeginsWithTheInterface(t *testing.T) {
	b := newBed(t, 0)
	n := b.add(Config{Identity: frame.Identity{'a'}}, 7)
	n.SetMTU(b.now, 0, 0)
	b.pass(trialPeriod * 9 / 10)
	n.SetMTU(b.now, 0, 1500)
	b.pass(trialPeriod * 9 / 10)
	if n.Address() != 0 {
		t.Error("the address was settled before the trial on the network was over")
	}
	if !b.until(trialPeriod, func() bool { return n.Address() != 0 }) {
		t.Error("the trial does not end")
	}
}
