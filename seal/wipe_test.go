// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

func testKey(t testing.TB, mode frame.KeyMode, c byte) *Key {
	t.Helper()
	b := make([]byte, 20)
	for i := range b {
		b[i] = c
	}
	k, err := NewKey(mode, b)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestRingWipes holds on to a ring's own copies and looks at them after they were let go.
//
// Proves: seal.secrets
func TestRingWipes(t *testing.T) {
	const p = 5
	r := NewRing(0, true)
	k := testKey(t, frame.ClusterKey, 'k')
	var held []*material
	hold := func(s uint8) {
		m := r.tx[s].key.m
		if m == k.m || m.at()[0] != 'k' {
			t.Fatalf("slot %d: got no copy of its own", s)
		}
		held = append(held, m)
	}
	set := func() {
		s, err := r.SetKey(0, k, 0)
		if err != nil {
			t.Fatal(err)
		}
		hold(s)
	}
	master := func() {
		if err := r.SetMaster(0, k, 0); err != nil {
			t.Fatal(err)
		}
		hold(0)
	}
	set()
	set() // replaces the first, which nobody used
	r.users[r.pending] = 1
	if r.HandleTimeout(Lasting) != Switched {
		t.Fatal("the key did not become active")
	}
	set()
	r.users[r.pending], r.users[r.active] = 1, 0
	if r.HandleTimeout(2*Lasting) != Switched { // the first active one is deleted
		t.Fatal("the key did not become active")
	}
	master()
	master()
	r.Flush(3 * time.Minute)
	for i, m := range held {
		if m.n != 0 || *m.at() != [MaxKeyLen]byte{} {
			t.Errorf("key %d of %d is still there", i, len(held))
		}
	}
	if len(held) != p || k.Len() != 20 || r.Working() {
		t.Errorf("got %d keys, the caller's of %d bytes, working %v, want %d, 20, false", len(held), k.Len(), r.Working(), p)
	}
}
