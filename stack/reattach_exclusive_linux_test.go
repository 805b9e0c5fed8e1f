// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stacktest"
)

// After a restart of the daemon exclusive sockets have their names again, alone, once the other nodes know; a name
// that another node has taken meanwhile is lost. Where a node is silent they wait for it, and other sockets of
// the program go on.
//
// Mutations it catches: soleWait is longer than the test; renewSole does not settle; it takes what failed for what
// is there.
//
// Proves: daemon.dies
func TestExclusiveNamesAfterRestart(t *testing.T) {
	t.Parallel()
	c := stacktest.NewCluster(t, 2)
	h := serveOn(t, c.Node(0), filepath.Join(t.TempDir(), "utipc.sock"), daemon.Config{})
	a, err := stack.AttachConfig{}.Attach(within(t), h.path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(within(t))
	name := func(i int) stack.Service { return stack.Service{Type: 18888, Instance: uint32(200 + i)} }
	ordinary := listen(t, a, name(0))
	var sole []*stack.PacketConn
	for i := range 3 {
		pc, err := stack.SocketConfig{Exclusive: true}.ListenPacket(within(t), a, "tipcrdm", name(1+i))
		if err != nil {
			t.Fatal(err)
		}
		sole = append(sole, pc)
	}
	h.stop(t)
	var other *stack.PacketConn
	waitFor(t, func() bool { // until what the daemon had is withdrawn there
		other, err = stack.SocketConfig{Exclusive: true}.ListenPacket(within(t), c.Node(1), "tipcrdm", name(3))
		return err == nil
	})
	defer other.Close()
	c.Around(1).Cut()
	h.again(t, c.Node(0), daemon.Config{})
	ordinary.SetReadDeadline(time.Now().Add(stacktest.Tolerance / 2))
	if _, err := ordinary.WriteTo([]byte("on"), name(0)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 9)
	if n, _, err := ordinary.ReadFrom(b); err != nil || string(b[:n]) != "on" {
		t.Errorf("beside a silent node: %q, %v", b[:n], err)
	}
	c.Around(1).Heal()
	for i := range 2 {
		if err := c.Node(1).WaitFor(within(t), name(1+i)); err != nil {
			t.Fatal(err)
		}
		sole[i].SetReadDeadline(time.Now().Add(testTimeout))
		plain, err := c.Node(1).ListenPacket(within(t), "tipcrdm", name(1+i)) // it goes before
		if err != nil {
			t.Fatal(err)
		}
		defer plain.Close()
		if _, _, err := sole[i].ReadFrom(b); !errors.Is(err, stack.ErrNameTaken) {
			t.Errorf("another binds name %d: %v", i, err)
		}
	}
	sole[2].SetReadDeadline(time.Now().Add(testTimeout))
	var refused *stack.ReattachError
	if _, _, err := sole[2].ReadFrom(b); !errors.As(err, &refused) || !errors.Is(err, stack.ErrNameTaken) {
		t.Errorf("a name that another has taken: %v", err)
	}
}
