// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"fmt"
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// Where a failover is refused its k-th chunk, for every k, or that and all others for a while,
// it goes on later: all packets go through the tunnel, once and in order, as many as each of
// them says, then what was sent meanwhile; and nothing leaks, also when the survivor ends first.
//
// Mutations that it catches: an error in place of lookBy; setCork that leaves the link open;
// carryPieces that begins anew; flush that does not count ahead; clear without drop.
func TestFailoverWithoutChunks(t *testing.T) {
	for _, waits := range []int{0, 60} { // before, on the survivor: more than its window
		for _, ends := range []bool{false, true} {
			k := 0
			for ; failoverWithout(t, k, waits, ends); k++ {
			}
			if k < 8 {
				t.Errorf("the failover took %d chunks in all", k)
			}
		}
	}
}

// failoverWithout has chunks refused from the k-th on, and reports whether there were so many.
func failoverWithout(t *testing.T, k, waits int, ends bool) (there bool) {
	t.Helper()
	left, refusing := 0, false
	arena := netdev.NewArena(netdev.ArenaConfig{Small: 512, Poison: true, Refuse: func(netdev.Use) bool {
		left--
		there = there || refusing && left < 0
		return refusing && left < 0
	}})
	T := newScriptedPeer(t, func(c *Config) { c.MTU, c.Arena, c.Capabilities = 500, arena, allCaps|frame.CapTunnelEnhanced }).up()
	T.arena = arena
	T.SetCapabilities(allCaps | frame.CapTunnelEnhanced)
	L := newScriptedPeer(t, func(c *Config) { c.Bearer, c.Arena = 1, arena })
	L.arena = arena
	L.hear(reset(func(f *frame.ResetFields) { f.Bearer = 2 }))
	L.Up(0)
	L.discard()
	T.send(waits)
	sizes := []int{100, 1428, 200, 920, 32}
	var want []string
	for i, n := range sizes {
		if err := L.Send(0, L.message(n-frame.BasicLen), frame.Low); err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprint(i+1, " ", n))
	}
	var lent []*netdev.Buffer
	for b := L.NextFrame(); b != nil; b = L.NextFrame() {
		lent = append(lent, b) // a device has it: it goes as a copy
	}
	want = append(want, fmt.Sprint(len(sizes)+1, " 32"))
	later := []*netdev.Buffer{T.message(50), T.message(51)} // while there are chunks
	L.fail(OwnDecision)
	refusing, left = true, k
	if err := T.SendFailover(0, L.Link); err != nil {
		t.Fatal(err)
	}
	if T.Idle() || there != (T.Moving() > 0) {
		t.Fatalf("chunk %d: refused %v, %d packets to be moved", k, there, T.Moving())
	}
	for _, b := range later {
		if err := T.Send(0, b, frame.Low); err != nil {
			t.Fatal(err)
		}
	}
	var got, counts []string
	tunnelled, pieces := 0, Pieces{}
	now := movePause
	for range 40 {
		for m := range T.sentMessages {
			if x, err := frame.ParseTunnel(m); err == nil {
				tunnelled++
				counts = append(counts, fmt.Sprint(x.Count()))
				in, err := x.Inner()
				if _, _, ok := x.Piece(); ok {
					in, err = pieces.Add(x)
				}
				if err != nil {
					t.Fatalf("chunk %d: %v", k, err)
				}
				if in.Bytes() != nil {
					got = append(got, fmt.Sprint(in.Seq(), " ", len(in.Bytes())))
				}
			} else if m.User() != frame.UserLink {
				got = append(got, fmt.Sprint("later ", len(m.Bytes())))
			}
		}
		if ends {
			break
		}
		T.hear(T.stateMsg(func(f *frame.StateFields) { f.Ack = T.sndNxt - 1 }))
		if now = T.Deadline(); now >= 3*movePause {
			refusing = false
		}
		T.now = now
		T.HandleTimeout(now)
	}
	for _, b := range lent {
		b.Release()
	}
	if !ends {
		if waits > 0 {
			got = got[waits:]
		}
		if !slices.Equal(got[:min(len(got), len(want))], want) || len(got) != len(want)+1 && len(got) != len(want)+2 {
			t.Errorf("chunk %d: got %q, want %q and what was sent later", k, got, want)
		}
		for _, c := range counts {
			if c != fmt.Sprint(tunnelled) {
				t.Fatalf("chunk %d: %d tunnelled, which say %v", k, tunnelled, counts)
			}
		}
	}
	refusing = false
	L.Stop()
	L.discard()
	T.Stop()
	T.discard()
	if arena.Free() != arena.Total() {
		t.Fatalf("chunk %d: %d of %d chunks are free", k, arena.Free(), arena.Total())
	}
	return there
}
