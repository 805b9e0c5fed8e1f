// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
)

// TestRestartWithOtherSlots: a node that starts again begins with the keys it was given, in the first slots, where its
// peer may still have keys of its life before. Contact is made once and stays, and the peer takes up the new life's key.
// Mutations, both in package seal: doubt lets the keys count as before (the link comes up at one end
// and is lost after its tolerance); HandleKey returns after a known key (the key is never taken up).
//
// Proves: keys.restart
func TestRestartWithOtherSlots(t *testing.T) {
	master, first, second := testKey(t, frame.ClusterKey, 5), testKey(t, frame.ClusterKey, 3), testKey(t, frame.ClusterKey, 7)
	for name, life := range map[string]func(s *replayBed){
		"another key at the first slot": func(s *replayBed) {
			for range 3 { // in slots 2, 3 and 1
				s.rekey1(1)
			}
		},
		"the same key at another slot": func(s *replayBed) {
			for _, n := range s.nodes {
				n.setKey(t, s.now, Key{Key: second})
			}
			s.inUse(0, 1)
			s.keys = func(int) []Key { return []Key{{Key: master, Master: true}, {Key: second}} }
			s.rekey1(0) // it has the cluster's key as one of node 1 alone from now on
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &replayBed{bed: newBed(t, 0), t: t, svc: frame.Service{Type: 18888, Instance: 17}}
			s.keys = func(int) []Key { return []Key{{Key: master, Master: true}, {Key: first}} }
			for i, a := range sealedAddrs {
				s.cfg[i] = Config{Address: a, Sealed: true}
				s.add(s.cfg[i], s.seed())
				s.equip(i)
			}
			s.meet()
			s.inUse(0, 1)
			life(s)
			for _, n := range s.nodes {
				n.events = nil
			}
			s.restart(1)
			if !s.until(time.Second, s.contact) { // a link takes 0.4 s
				t.Error("no contact for a second after the restart")
			}
			s.meet()
			s.inUse(1)
			for i, want := range []int{1, 0} { // that of the life before
				if got := s.nodes[i].told(LinkDown); got != want {
					t.Errorf("node %d: %d links went down, want %d", i, got, want)
				}
			}
		})
	}
}

// inUse waits until no key of some nodes is pending.
func (s *replayBed) inUse(who ...int) {
	s.t.Helper()
	for _, i := range who {
		if !s.until(30*time.Second, func() bool {
			x := s.nodes[i].Encryption()
			return !slices.ContainsFunc(x.Slots[:], func(k seal.SlotStatus) bool { return k.State == seal.Pending })
		}) {
			s.t.Fatalf("node %d: its key is not taken up: %+v", i, s.nodes[i].Encryption())
		}
	}
}

// rekey1 lets one node make a key and use it.
func (s *replayBed) rekey1(i int) {
	s.t.Helper()
	if err := s.nodes[i].Rekey(s.now); err != nil {
		s.t.Fatal(err)
	}
	s.inUse(i)
}
