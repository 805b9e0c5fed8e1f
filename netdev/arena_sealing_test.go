// SPDX-License-Identifier: Apache-2.0

package netdev_test

import (
	"bytes"
	"testing"

	"github.com/utipc/utipc/netdev"
)

// Data leaves the reserve alone, sealing half of it, the link protocol nothing.
//
// Proves: keys.node
func TestSealingReserve(t *testing.T) {
	a := netdev.NewArena(netdev.ArenaConfig{Small: 100, Reserve: 20})
	for _, c := range []struct {
		use  netdev.Use
		left int
		name string
	}{{netdev.Data, 20, "data"}, {netdev.Sealing, 10, "sealing"}, {netdev.Control, 0, "control"}} {
		for a.Get(100, c.use) != nil {
		}
		if a.Free() != c.left || c.use.String() != c.name {
			t.Errorf("%v: %d chunks left, want %d", c.use, a.Free(), c.left)
		}
	}
}

// A secret chunk is wiped when it is free, by whichever way it comes back.
func TestSecretChunksAreWiped(t *testing.T) {
	for _, back := range []func(*netdev.Buffer){(*netdev.Buffer).Release, (*netdev.Buffer).Recycle} {
		a := netdev.NewArena(netdev.ArenaConfig{Small: 2})
		b := a.Get(100, netdev.Control)
		copy(b.Extend(6), "secret")
		b.Secret()
		b.Hold()
		b.Release()
		if !bytes.Contains(a.Memory(), []byte("secret")) {
			t.Error("wiped while it is held")
		}
		back(b)
		if bytes.Contains(a.Memory(), []byte("secret")) {
			t.Error("not wiped")
		}
	}
}
