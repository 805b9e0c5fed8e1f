// SPDX-License-Identifier: Apache-2.0

package seal_test

import (
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
)

// TestSwitchLosesNothing rekeys nodes that are in contact, on a network that loses
// nothing: of every packet at least one copy is opened by everyone it is for.
//
// Proves: seal.nonce
func TestSwitchLosesNothing(t *testing.T) {
	for name, keys := range allModelKeys {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, 1, 4, keys)
			sent := map[[2]int]bool{} // sending and receiver
			for tick := range 8 * 120 {
				if tick >= 24 && tick < 8*90 && tick%200 == 24 {
					m.rekey(m.r.IntN(4))
				}
				if tick >= 24 && tick < 8*60 && tick%300 == 100 { // all of them
					for i := range m.nodes {
						m.rekey(i)
					}
				}
				if tick > 16 {
					for i := range m.nodes {
						for j := -1; j < len(m.nodes); j++ {
							if j == i {
								continue
							}
							f := frame.PayloadFields{Type: frame.DirectMsg, OrigNode: m.nodes[i].addr}
							if j >= 0 {
								f.DestNode = m.nodes[j].addr
							}
							f.Prev = m.nodes[i].addr
							id := m.send(i, j, f.Append(nil, make([]byte, 8)))
							for k := range m.nodes {
								if k != i && (j < 0 || j == k) {
									sent[[2]int{id, k}] = true
								}
							}
						}
					}
				}
				m.step(tick)
			}
			m.step(0)
			lost := 0
			for s := range sent {
				if !m.sendings[s] {
					lost++
				}
			}
			if lost != 0 {
				t.Errorf("%d of %d packets were not opened", lost, len(sent))
			}
			if m.switched < 8 {
				t.Errorf("got %d changes of key, want 8 and more", m.switched)
			}
			for i, n := range m.nodes {
				c := n.ring.Counters()
				if c.BadTag+c.Malformed+c.Spent+c.NoTX != 0 {
					t.Errorf("node %d: got %+v", i, c)
				}
			}
		})
	}
}

// TestOperatorChangesKey gives nodes in contact another cluster key, one after the
// other and 5 seconds apart, with and without exchange of keys. Nothing is lost, and in the
// end all send with the new key alone.
//
// Proves: seal.nonce
func TestOperatorChangesKey(t *testing.T) {
	for _, exchange := range []bool{true, false} {
		m := newModel(t, 2, 3, modelKeys{cluster: true})
		for _, n := range m.nodes {
			n.ring.SetExchange(exchange)
		}
		fresh := m.key(frame.ClusterKey, 0xcc)
		sent := map[[2]int]bool{}
		for tick := range 8 * 60 {
			if i := tick/40 - 4; tick%40 == 0 && i >= 0 && i < len(m.nodes) {
				if _, err := m.nodes[i].ring.SetKey(m.now, fresh, m.r.Uint64()); err != nil {
					t.Fatal(err)
				}
				m.distribute(i, -1)
			}
			for i := range m.nodes {
				for k := range m.nodes {
					if k != i && tick > 16 {
						id := m.send(i, -1, message(64, m.nodes[i].addr, 0))
						sent[[2]int{id, k}] = true
						sent[[2]int{m.send(i, k, message(64, m.nodes[i].addr, m.nodes[k].addr)), k}] = true
					}
				}
			}
			m.step(tick)
		}
		m.step(0)
		lost := 0
		for s := range sent {
			if !m.sendings[s] {
				lost++
			}
		}
		if lost != 0 || len(sent) < 1000 {
			t.Errorf("exchange %v: %d of %d packets were not opened", exchange, lost, len(sent))
		}
		for i, n := range m.nodes {
			for slot, s := range n.ring.Status() {
				if s.State == seal.Active && !n.ring.Material(uint8(slot)).Equal(fresh) || s.State != seal.Active && s.State != seal.None {
					t.Errorf("exchange %v: node %d: slot %d is %v", exchange, i, slot, s.State)
				}
			}
		}
	}
}

// TestKeysFindTogether breaks everything at once, loss, doubles, restarts, changes of
// keys at any time, an attacker who makes up and repeats packets; then lets all be
// for a minute: everything queued has arrived and every node opens what any other
// sends, to it alone and to all. No nonce comes twice in any of it.
//
// Proves: seal.nonce
func TestKeysFindTogether(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 3
	}
	for name, keys := range allModelKeys {
		t.Run(name, func(t *testing.T) {
			for seed := range seeds {
				m := newModel(t, seed, 3, keys)
				m.loss, m.attack = []float64{0.01, 0.1, 0.4}[seed%3], true
				for tick := range 8 * 60 {
					switch m.r.IntN(40) {
					case 0:
						if keys.master { // else a node that starts again knows no key in use
							m.rekey(m.r.IntN(len(m.nodes)))
						}
					case 1:
						if m.r.IntN(8) == 0 {
							m.restart(m.r.IntN(len(m.nodes)))
						}
					case 2, 3, 4:
						m.data(m.r.IntN(len(m.nodes)), -1)
					default:
						i := m.r.IntN(len(m.nodes))
						m.data(i, (i+1+m.r.IntN(len(m.nodes)-1))%len(m.nodes))
					}
					m.step(tick)
				}
				m.loss, m.attack = 0, false
				for tick := range 8 * 60 {
					m.step(tick)
				}
				for i, n := range m.nodes {
					if len(n.unsent) != 0 {
						t.Errorf("seed %d: node %d: %d messages have not arrived", seed, i, len(n.unsent))
					}
					for j := -1; j < len(m.nodes); j++ {
						if j == i {
							continue
						}
						f := frame.PayloadFields{Type: frame.DirectMsg, OrigNode: n.addr}
						f.Prev = n.addr
						id := m.send(i, j, f.Append(nil, make([]byte, 8)))
						m.step(1)
						for k := range m.nodes {
							if k != i && (j < 0 || j == k) && !m.sendings[[2]int{id, k}] {
								t.Errorf("seed %d: node %d does not open what %d sends to %d", seed, k, i, j)
							}
						}
					}
				}
			}
		})
	}
}
