// SPDX-License-Identifier: Apache-2.0

package udp_test

import (
	"context"
	"errors"
	"net/netip"
	"syscall"
	"testing"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/stack/carrier/udp"
)

// Two nodes that know nobody meet when one of them is told of the other, also through a
// wrapper; the bearer's ends are told.
//
// Proves: device.udp
func TestNodeAddRemote(t *testing.T) {
	t.Parallel()
	at := local(3)
	da := device(t, nil, udp.Config{Local: at[0], Remotes: at[2:]})
	db := device(t, nil, udp.Config{Local: at[1], Remotes: at[2:]})
	a, b := node(t, fault.New(da, fault.Config{}), 1), node(t, db, 2)
	s := must.Get(a.Admin().Bearers(context.Background()))[0]
	if s.Medium != "udp" || s.Local != at[0] || s.Remote != at[2] {
		t.Errorf("got medium %q, ends %v and %v, want udp, %v and %v", s.Medium, s.Local, s.Remote, at[0], at[2])
	}
	if err := a.Admin().AddRemote(context.Background(), "udp:UDP1", at[1]); err != nil {
		t.Fatal(err)
	}
	if err := a.WaitFor(within(t), stack.Service{Type: stack.NodeState, Instance: uint32(b.Addr())}); err != nil {
		t.Error(err)
	}
	for bearer, remote := range map[string]string{"UDP2": "127.0.0.9:0", "UDP1": "228.0.0.1:0"} {
		if err := a.Admin().AddRemote(context.Background(), bearer, netip.MustParseAddrPort(remote)); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s, %s: got %v, want EINVAL", bearer, remote, err)
		}
	}
}
