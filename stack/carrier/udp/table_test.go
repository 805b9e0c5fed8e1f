// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
)

func at(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 6118)
}

func (t *table) hearOf(i int) *station {
	s, _, _ := t.hear(at(i), makeSockaddr(at(i), 0))
	return s
}

// knows returns which of the first n stations are in the table.
func (t *table) knows(n int) (all []int) {
	for i := range n {
		if t.byAddr[at(i)] != nil {
			all = append(all, i)
		}
	}
	return all
}

func TestTableMakesRoom(t *testing.T) {
	x := newTable(at(1000), 6)
	x.add(at(0), makeSockaddr(at(0), 0))
	for i := 1; i < 6; i++ {
		x.hearOf(i)
	}
	x.keep(x.byAddr[at(1)].mac, true)
	x.station(x.byAddr[at(2)].mac) // answered
	x.station(x.byAddr[at(3)].mac)
	x.station(x.byAddr[at(2)].mac) // and again
	for _, step := range []struct {
		hear int
		want []int
	}{
		{6, []int{0, 1, 2, 3, 5, 6}}, // the oldest that was never answered
		{5, []int{0, 1, 2, 3, 5, 6}}, // known
		{7, []int{0, 1, 2, 3, 6, 7}}, // to be heard again keeps nobody
		{8, []int{0, 1, 2, 3, 7, 8}},
	} {
		x.hearOf(step.hear)
		if got := x.knows(10); !slices.Equal(got, step.want) {
			t.Fatalf("heard %d: got %v, want %v", step.hear, got, step.want)
		}
	}
	x.station(x.byAddr[at(7)].mac)
	x.station(x.byAddr[at(8)].mac)
	x.hearOf(9) // all were answered: 3 the longest ago
	if got, want := x.knows(10), []int{0, 1, 2, 7, 8, 9}; !slices.Equal(got, want) {
		t.Fatalf("all answered: got %v, want %v", got, want)
	}
	// The link goes: its station is like others again, the newest.
	x.keep(x.byAddr[at(1)].mac, false)
	for _, i := range []int{3, 4, 5} {
		x.station(x.hearOf(i).mac)
	}
	if got, want := x.knows(10), []int{0, 1, 3, 4, 5, 8}; !slices.Equal(got, want) {
		t.Errorf("after the link: got %v, want %v", got, want)
	}
	for i := 20; i < 40; i++ {
		x.station(x.hearOf(i).mac)
	}
	if x.byAddr[at(1)] != nil {
		t.Error("a station without a link is kept for ever")
	}
	if len(x.byAddr) != 6 || len(x.byMAC) != 6 {
		t.Errorf("got %d and %d stations, want 6", len(x.byAddr), len(x.byMAC))
	}
}

// However many strangers come, none of them displaces a peer with a link, and
// when all have one, strangers are refused.
//
// Proves: device.udp
func TestTableKeepsPeers(t *testing.T) {
	x := newTable(at(60000), 64)
	for i := range 64 {
		x.keep(x.hearOf(i).mac, true)
		x.keep(x.byAddr[at(i)].mac, true) // said twice
	}
	for i := 1000; i < 3000; i++ {
		if x.hearOf(i) != nil {
			t.Fatalf("stranger %d has a place", i)
		}
	}
	if len(x.copies) != 64 {
		t.Errorf("got %d to copy broadcasts to, want 64", len(x.copies))
	}
	x.keep(x.byAddr[at(7)].mac, false)
	x.keep(frame.MAC{2, 2, 2, 2, 2, 2}, true)
	x.keep(frame.MAC{2, 2, 2, 2, 2, 2}, false)
	if x.hearOf(1000) == nil || len(x.copies) != 63 {
		t.Errorf("a place is free: stranger refused, or %d to copy to, want 63", len(x.copies))
	}
	for _, s := range x.copies {
		if s.addr == at(7) {
			t.Error("who has lost the link gets broadcasts")
		}
	}
}

// Two addresses that hash alike get station addresses of their own, and each
// keeps its.
func TestTableCollision(t *testing.T) {
	x := newTable(at(60000), 8)
	s := x.hearOf(1)
	delete(x.byMAC, s.mac)
	s.mac = hash(at(2)) // as if
	x.byMAC[s.mac] = s
	if other := x.hearOf(2); other.mac == s.mac || x.byMAC[other.mac] != other || x.byMAC[s.mac] != s {
		t.Errorf("got %v and %v", s.mac, other.mac)
	}
	x.own.mac = hash(at(3))
	if x.hearOf(3).mac == x.own.mac {
		t.Error("a stranger has our station address")
	}
	for i := range 4000 {
		if m := hash(at(i)); m.IsGroup() || m[0]&2 == 0 {
			t.Fatalf("%v: got %v, want an address of one station, locally administered", at(i), m)
		}
	}
}
