// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

// A binding's scope reaches the node, from an attached one too, and it is taken back with
// it alone.
func TestBindScope(t *testing.T) {
	b := newBed(t, daemon.Config{})
	remote, err := stack.Attach(within(t), b.path)
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close(within(t))
	scopes := func() (all []stack.Scope) {
		for _, n := range must.Get(b.node.Admin().Names(context.Background())) {
			if n.Range.Type == 900 {
				all = append(all, n.Scope)
			}
		}
		return all
	}
	type bound interface {
		BindScope(addr net.Addr, scope stack.Scope) error
		UnbindScope(addr net.Addr, scope stack.Scope) error
		Close() error
	}
	name := stack.Service{Type: 900, Instance: 1}
	for where, n := range map[string]*stack.Node{"open": b.node, "attached": remote} {
		c, err := n.ListenPacket(within(t), "tipcrdm", nil)
		if err != nil {
			t.Fatal(err)
		}
		l, err := n.Listen(within(t), "tipc", nil)
		if err != nil {
			t.Fatal(err)
		}
		for what, s := range map[string]bound{"packet": c, "listener": l} {
			if err := s.BindScope(name, stack.NodeScope); err != nil {
				t.Fatal(where, what, err)
			}
			if got := scopes(); len(got) != 1 || got[0] != stack.NodeScope {
				t.Errorf("%s %s: bound with %v", where, what, got)
			}
			if err := s.UnbindScope(name, stack.ClusterScope); !errors.Is(err, stack.ErrNotBound) {
				t.Errorf("%s %s: got %v", where, what, err)
			}
			if err := s.BindScope(name, 9); !errors.Is(err, stack.ErrConfig) {
				t.Errorf("%s %s: got %v", where, what, err)
			}
			if err := s.UnbindScope(name, stack.NodeScope); err != nil {
				t.Error(where, what, err)
			}
			if got := scopes(); len(got) != 0 {
				t.Errorf("%s %s: bound still: %v", where, what, got)
			}
			s.Close()
		}
	}
}
