// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// A node that hears its own identity reports the station and the bearer on which it heard it,
// and whether that station is a card of its own.
// Mutations: handleDiscovery compares the address alone; alarm leaves the station out, or the conflict.
func TestDuplicateIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Config{})
		open := func(bearers ...stack.Bearer) *stack.Node {
			id, err := stack.ParseIdentity("node-x")
			if err != nil {
				t.Fatal(err)
			}
			n, err := stack.Open(t.Context(), stack.Config{Identity: id, Bearers: bearers, Wait: stack.Sleep, Chunks: 512})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		port := func(name string, last byte) stack.Bearer {
			p, err := h.Port(name, frame.MAC{2, 0, 0, 0, 0, last})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		reported := func(n *stack.Node, want ...string) {
			t.Helper()
			w, err := n.Admin().Watch(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for {
				ev, err := w.Next(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				if ev.Kind == admin.DuplicateAddress {
					if got := ev.Bearer + ": " + ev.Reason; !slices.Contains(want, got) {
						t.Errorf("got %q, want one of %q", got, want)
					}
					return
				}
			}
		}
		a := open(port("eth0", 1))
		b := open(port("eth0", 2))
		reported(a, "eth0: station 02:00:00:00:00:02")
		reported(b, "eth0: station 02:00:00:00:00:01")
		if got := must.Get(a.Admin().Stats(context.Background())).Conflict; got.Node == 0 || got.Station != "02:00:00:00:00:02" || got.Bearer != "eth0" || got.Ago > time.Minute || got.Times == 0 {
			t.Errorf("got the conflict %+v, want station 02:00:00:00:00:02 on eth0, of the last minute", got)
		}
		if l := len(must.Get(a.Admin().Links(context.Background()))) + len(must.Get(b.Admin().Links(context.Background()))); l > 0 {
			t.Errorf("%d links between two nodes of one identity", l)
		}
		b.Close(t.Context())
		a.Close(t.Context())

		c := open(port("eth1", 3), port("eth2", 4))
		reported(c, "eth1: station 02:00:00:00:00:04, which is this node's own bearer eth2",
			"eth2: station 02:00:00:00:00:03, which is this node's own bearer eth1")
		c.Close(t.Context())
	})
}
