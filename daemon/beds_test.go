// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack"
)

// connected is a program's connection to the peer, and the peer's end of it.
func (b *bed) connected(t testing.TB, kind attach.Kind) (*program, *stack.Conn) {
	t.Helper()
	l, err := b.peer.Listen(within(t), kind.Network(), stack.Service{Type: 18888, Instance: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if err := b.node.WaitFor(within(t), stack.Service{Type: 18888, Instance: 1}); err != nil {
		t.Fatal(err)
	}
	p := b.program(t)
	p.socket(kind)
	p.send(attach.Header{Op: attach.OpConnect, ID: 600, Addr: service(18888, 1)}, nil)
	c, err := l.AcceptConn()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(testTimeout))
	p.answer(600)
	return p, c
}

// sender is a socket of the peer that gets back what the daemon's node does not take.
func (b *bed) sender(t testing.TB) *stack.PacketConn {
	t.Helper()
	if err := b.peer.WaitFor(within(t), stack.Service{Type: stack.NodeState, Instance: uint32(b.node.Addr())}); err != nil {
		t.Fatal(err)
	}
	c, err := stack.SocketConfig{Returnable: true}.ListenPacket(within(t), b.peer, "tipcrdm", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(testTimeout))
	return c
}
