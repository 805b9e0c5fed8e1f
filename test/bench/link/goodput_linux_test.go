// SPDX-License-Identifier: Apache-2.0

package link

import (
	"context"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
)

// Data arrives with loss and without, and whoever has lost frames has sent again.
//
// Proves: bench.report
func TestGoodputUnderLoss(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	for _, l := range Lossies {
		rates, err := l.Goodput(t.Context(), []float64{0, 0.05}, 30*time.Millisecond)
		if err != nil || len(rates) != 2 || rates[0] <= 0 || rates[1] <= 0 {
			t.Errorf("%s: got %v, %v", l.Name, rates, err)
		}
		t.Log(l.Name, rates)
	}
}

// What is said to be lost is lost: with all frames gone the link ends, and with some of
// them the sender repeats.
//
// Proves: bench.report
func TestDropperLoses(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	x, err := Lossies[1].open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := x.(*messages)
	again := func() uint64 { return must.Get(m.pair.nodes[0].Admin().Links(context.Background()))[0].Retransmits }
	before := again()
	if err := m.lose(0.1); err != nil {
		t.Fatal(err)
	}
	if err := until(t.Context(), func() bool { return again() > before+20 }); err != nil {
		t.Errorf("at 10 %% loss: %d packets sent again, want more than 20", again()-before)
	}
	if err := m.lose(1); err != nil {
		t.Fatal(err)
	}
	// Each end then hears nothing of the other.
	resets := m.pair.resets()
	if err := m.pair.tolerate(0, m.pair.silent); err != nil {
		t.Fatal(err)
	}
	if err := until(t.Context(), func() bool { return m.pair.resets() >= resets+2 }); err != nil {
		t.Errorf("with all frames lost the link stays up: %v", err)
	}
	m.stream.leave() // who has lost contact has lost messages, too
	closeDroppers(m.drops)
	m.pair.close()
}

// A discovery message without the capability says all else that it said.
func TestHideBlocks(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	f := frame.DiscoveryFields{
		Type: frame.Request, Capabilities: frame.CapSynBit | frame.CapGapAckBlock | frame.CapNodeID128, Signature: 0x1234,
		Prev: 0x1001001, NetID: frame.DefaultNetID, MAC: frame.MAC{2, 0, 0, 0, 0, 1}, Identity: frame.AddrIdentity(0x1001001),
	}
	old := f
	old.Capabilities &^= frame.CapGapAckBlock
	head := make([]byte, frame.EthernetLen)
	b, want := f.Append(head[:len(head):len(head)]), old.Append(head[:len(head):len(head)])
	hideBlocks(b)
	if string(b) != string(want) {
		t.Errorf("got %x, want %x", b, want)
	}
	for n := range b {
		hideBlocks(b[:n]) // as foreign frames may be
	}
}
