// SPDX-License-Identifier: Apache-2.0

package seal

import "testing"

// Material is the key of a slot of a ring.
func (r *Ring) Material(slot uint8) *Key { return r.tx[slot].key }

// Check checks what always holds of a ring with one peer.
func (r *Ring) Check(t testing.TB, p *Peer) {
	t.Helper()
	for s, k := range r.tx {
		if (k != nil) != (s != 0 && (uint8(s) == r.pending || uint8(s) == r.active)) && s != 0 {
			t.Fatalf("slot %d: key there %v, pending %d, active %d", s, k != nil, r.pending, r.active)
		}
	}
	if r.pending != 0 && r.pending == r.active {
		t.Fatalf("slot %d is pending and active", r.pending)
	}
	sum := 0
	for s, n := range r.users {
		if s != 0 && n < 0 {
			t.Fatalf("slot %d: %d users", s, n)
		}
		sum += n
	}
	if sum != 0 || p.reported != 0 && r.users[p.reported] != 1 {
		t.Fatalf("got users %v, the peer reports %d", r.users, p.reported)
	}
	seen := 0
	for _, s := range []uint8{p.pending, p.active, p.passive} {
		if s != 0 {
			if p.slot(s) == nil || seen>>s&1 != 0 {
				t.Fatalf("pending %d, active %d, passive %d: slot %d", p.pending, p.active, p.passive, s)
			}
			seen |= 1 << s
		}
	}
	for i, k := range p.rx {
		if k != nil && seen>>(i+1)&1 == 0 {
			t.Fatalf("slot %d is none's", i+1)
		}
	}
}
