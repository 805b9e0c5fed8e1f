// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

// What a program reads of each thing that cannot be: which sentinel, which address, and what
// to do, the same on a node of its own and attached.
//
// Mutations it catches: noRoute that always returns ErrNoLink; OpError that does not wrap a
// cause; LengthError without the limit; UnknownNetwork that does not look at the network.
func TestMessages(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	attached, _ := attachTo(t, a, stack.AttachConfig{SyncErrors: true})
	group := 5000
	for _, n := range []*stack.Node{a, attached} {
		name, scoped, r := stack.Service{Type: 400, Instance: 1}, stack.Service{Type: 400, Instance: 1, Node: 0x1001099}, stack.Range{Type: 400, Upper: 9}
		socket := stack.SocketAddr{Port: 7, Node: 0x1001099}
		pc := listen(t, n, nil)
		member := stack.Service{Type: uint32(group), Instance: 1}
		group++
		g := must.Get(n.Join(within(t), member))
		waits := must.Get(stack.SocketConfig{NameWait: time.Millisecond}.ListenPacket(within(t), n, "tipcrdm", nil))
		long := make([]byte, 70000)
		dial := func(network string, to net.Addr) func() error {
			return func() error { _, err := n.Dial(within(t), network, to); return err }
		}
		write := func(c *stack.PacketConn, b []byte, to net.Addr) func() error {
			return func() error { _, err := c.WriteTo(b, to); return err }
		}
		for _, c := range []struct {
			do   func() error
			is   error
			text string
		}{
			{write(pc, []byte("x"), name), stack.ErrNoName, "->400:1: no socket is bound to 400:1 (is one? utipc nametable show)"},
			{write(pc, []byte("x"), r), stack.ErrNoName, "no socket is bound to 400:0-9 (is one? utipc nametable show)"},
			{write(pc, []byte("x"), scoped), stack.ErrNoNode, "no node 1001099 is known (which are? utipc node list)"},
			{write(pc, []byte("x"), socket), stack.ErrNoNode, "no node 1001099 is known (which are? utipc node list)"},
			{write(waits, []byte("x"), name), stack.ErrNoName, "no socket is bound to 400:1 for "},
			{dial("tipc", name), stack.ErrNoName, "no socket is bound to 400:1 (is one? utipc nametable show)"},
			{dial("tipcpacket", socket), stack.ErrNoNode, "no node 1001099 is known"},
			{func() error { _, err := g.Write([]byte("x")); return err }, stack.ErrNoMember, "nobody else is in the group (wait with Group.WaitMembers)"},
			{func() error { _, err := g.WriteTo([]byte("x"), socket); return err }, stack.ErrNoMember, "no member of the group is <1001099:7> (who is? Group.Members)"},
			{func() error { _, _, err := n.Call(within(t), name, []byte("x"), nil); return err }, stack.ErrNoName, "no socket is bound to 400:1"},
			{func() error { _, _, err := n.Probe(within(t), socket); return err }, stack.ErrNoNode, "no node 1001099 is known"},
			{write(pc, long, name), stack.ErrTooLong, "message too long: 70000 bytes, the limit is 66000"},
			{write(pc, long, r), syscall.EMSGSIZE, "message too long: 70000 bytes, the limit is 66000"},
			{func() error { _, err := g.Write(long); return err }, stack.ErrTooLong, "message too long: 70000 bytes, the limit is 66000"},
			{func() error { _, err := stack.SocketConfig{}.DialWith(within(t), n, "tipc", name, long); return err }, stack.ErrTooLong, ""},
			{dial("tipcrdm", name), net.UnknownNetworkError("tipcrdm"), "unknown network tipcrdm: for messages without a connection; use ListenPacket or DialPacket"},
			{dial("udp", name), net.UnknownNetworkError("udp"), "unknown network udp: want tipc or tipcpacket"},
			{func() error { _, err := n.Listen(within(t), "tipcgram", name); return err }, net.UnknownNetworkError("tipcgram"), "use ListenPacket or DialPacket"},
			{func() error { _, err := n.ListenPacket(within(t), "tipc", name); return err }, net.UnknownNetworkError("tipc"), "unknown network tipc: for connections; use Listen or Dial"},
			{func() error { _, err := n.ListenPacket(within(t), "udp", name); return err }, net.UnknownNetworkError("udp"), "unknown network udp: want tipcrdm or tipcgram"},
			{func() error { _, err := n.DialContext(within(t), "tcp", "localhost:80"); return err }, nil, `"localhost:80" (want TYPE:INSTANCE, e.g. 18888:17, or 18888-17.tipc)`},
		} {
			err := c.do()
			var op *net.OpError
			if err == nil || !errors.As(err, &op) || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v, want %v, %q in it", err, c.is, c.text)
			}
			if cause := errors.Is(c.is, stack.ErrUnreachable); cause != errors.Is(err, stack.ErrUnreachable) {
				t.Errorf("%v: is it ErrUnreachable: %t", err, !cause)
			}
		}
	}
	_ = b
}

// Mutation it catches: Attach that adds nothing to the system's error.
func TestAttachMessage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.sock")
	_, err := stack.Attach(context.Background(), path)
	for _, want := range []string{path, "no daemon is there", "systemctl start utipc", "--socket", "UTIPC_SOCKET"} {
		if !errors.Is(err, syscall.ENOENT) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}
