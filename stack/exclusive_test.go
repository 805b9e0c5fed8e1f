// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
)

// soleName is what the tests bind exclusively.
var soleName = stack.Service{Type: 18888, Instance: 17}

// wantTaken checks that an error says that soleName is bound by a socket, and that it was lost or not.
func wantTaken(t testing.TB, what string, err error, by net.Addr, lost bool) {
	t.Helper()
	var taken *stack.NameTakenError
	var op *net.OpError
	if !errors.As(err, &taken) || !errors.As(err, &op) || !errors.Is(err, stack.ErrNameTaken) || !errors.Is(err, syscall.EADDRINUSE) || stack.Errno(err) != syscall.EADDRINUSE {
		t.Errorf("%s: got %v", what, err)
		return
	}
	if taken.Name != soleName.Range() || taken.By != by || taken.Lost != lost || !strings.Contains(err.Error(), soleName.String()) || !strings.Contains(err.Error(), by.String()) {
		t.Errorf("%s: got %v, %+v, want by %v", what, err, taken, by)
	}
}

// A name that a socket has for itself is refused to others that want it so, of every kind, here and on
// another node; a socket that is bound without gets it, and the exclusive one is told, by calls that wait and
// by those that come, until it unbinds that name or is bound again.
//
// Mutations it catches: Exclusive is not handed on, of a Listener, a PacketConn, of Bind.
func TestExclusive(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, _ *fault.Injector) {
		ctx := t.Context()
		if err := errors.Join(a.WaitNodes(ctx, 2), b.WaitNodes(ctx, 2)); err != nil {
			t.Fatal(err)
		}
		sole := stack.SocketConfig{Exclusive: true}
		if _, err := (stack.SocketConfig{Exclusive: true, Scope: stack.NodeScope}).ListenPacket(ctx, a, "tipcrdm", soleName); !errors.Is(err, stack.ErrConfig) {
			t.Errorf("of a node: %v", err)
		}
		for _, kind := range []string{"packet", "listener", "port"} {
			var by net.Addr
			var holder interface {
				Close() error
				Unbind(net.Addr) error
				Bind(net.Addr) error
			}
			var err error
			lost := make(chan error, 1)
			switch kind {
			case "packet":
				p := mustListen(t, b, sole, soleName)
				if err = p.BindScope(stack.Service{Type: 18888, Instance: 18}, stack.NodeScope); !errors.Is(err, stack.ErrConfig) {
					t.Errorf("bind in the node: %v", err)
				}
				holder, by = p, p.LocalAddr()
				go func() {
					_, _, err := p.ReadFrom(make([]byte, 10))
					lost <- err
				}()
			case "listener":
				l, err := sole.Listen(ctx, b, "tipc", soleName)
				if err != nil {
					t.Fatal(err)
				}
				holder, by = l, l.LocalAddr()
				go func() {
					_, err := l.Accept()
					lost <- err
				}()
			default:
				p, err := (stack.HandlerConfig{SocketConfig: sole}).Handle(ctx, b, soleName, stack.HandlerFunc(func(*stack.Reply, *stack.Message) {}))
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					<-p.Done()
					lost <- &net.OpError{Op: "handle", Err: p.Err()}
				}()
				holder, by = p, p.Addr()
			}
			for i, n := range []*stack.Node{a, b} {
				_, err = sole.ListenPacket(ctx, n, "tipcrdm", soleName)
				wantTaken(t, kind+", packet", err, by, false)
				_, err = sole.Listen(ctx, n, "tipcpacket", soleName)
				wantTaken(t, kind+", listener", err, by, false)
				_, err = (stack.HandlerConfig{SocketConfig: sole}).Handle(ctx, n, soleName, stack.HandlerFunc(func(*stack.Reply, *stack.Message) {}))
				wantTaken(t, kind+", port", err, by, false)
				p := mustListen(t, n, sole, stack.Service{Type: 18888, Instance: uint32(100 + i)})
				wantTaken(t, kind+", bind", p.Bind(soleName), by, false)
				p.Close()
			}
			plain := mustListen(t, a, stack.SocketConfig{}, soleName)
			wantTaken(t, kind+" has lost it", <-lost, plain.LocalAddr(), true)
			if kind == "port" {
				plain.Close()
				continue
			}
			switch h := holder.(type) {
			case *stack.PacketConn:
				if _, err := plain.WriteTo([]byte("for nobody"), by); err != nil {
					t.Fatal(err)
				}
				_, _, err := h.ReadFrom(make([]byte, 10))
				wantTaken(t, "read again", err, plain.LocalAddr(), true)
				if err := h.Unbind(soleName); err != nil {
					t.Errorf("unbind: %v", err)
				}
				b := make([]byte, 10)
				if n, _, err := h.ReadFrom(b); err != nil || string(b[:n]) != "for nobody" {
					t.Errorf("after unbind: %q, %v", b[:n], err)
				}
				if err := h.Unbind(soleName); !errors.Is(err, stack.ErrNotBound) {
					t.Errorf("unbind again: %v", err)
				}
			case *stack.Listener:
				_, err := h.Accept()
				wantTaken(t, "accept again", err, plain.LocalAddr(), true)
			}
			if err := errors.Join(plain.Close(), a.WaitPublished(ctx), holder.Bind(soleName)); err != nil {
				t.Errorf("%s binds again: %v", kind, err)
			}
			holder.Close()
		}
	})
}
