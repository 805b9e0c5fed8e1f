// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"errors"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
)

// A listener that is dialed with the other network refuses, by name and by address, here and from
// another node, whichever of them is attached; the error says with what to dial it, and that works.
//
// Mutations it catches: AnyKind is set; the two kinds are exchanged; the error does not come through
// the daemon; it is no ECONNREFUSED.
//
// Proves: socket.kinds
func TestWrongNetwork(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, _ *fault.Injector) {
		name := stack.Service{Type: 18888, Instance: 70}
		for network, other := range map[string]string{"tipc": "tipcpacket", "tipcpacket": "tipc"} {
			for _, ahead := range []bool{false, true} {
				name.Instance++
				l, err := stack.SocketConfig{AcceptAhead: ahead}.Listen(t.Context(), b, network, name)
				if err != nil {
					t.Fatal(err)
				}
				var accepts sync.WaitGroup
				accepts.Go(func() {
					for {
						c, err := l.Accept()
						if err != nil {
							return
						}
						c.Close()
					}
				})
				for _, n := range []*stack.Node{a, b} {
					if err := n.WaitFor(t.Context(), name); err != nil {
						t.Fatal(err)
					}
					for _, to := range []net.Addr{name, l.LocalAddr()} {
						_, err := n.Dial(t.Context(), other, to)
						var wrong *stack.WrongNetworkError
						var refused *stack.ConnError
						if !errors.As(err, &wrong) || wrong.Listener != network || !errors.As(err, &refused) || refused.Code != frame.NoPort {
							t.Fatalf("%s dialed as %s: %v", network, other, err)
						}
						if !errors.Is(err, stack.ErrWrongNetwork) || !errors.Is(err, syscall.ECONNREFUSED) || stack.Errno(err) != syscall.ECONNREFUSED {
							t.Errorf("%v is errno %v", err, stack.Errno(err))
						}
						want := `refused (no port): the listener is of network "` + network + `" (dial it with that)`
						if !strings.HasPrefix(err.Error(), "dial "+other) || !strings.HasSuffix(err.Error(), want) {
							t.Errorf("it says %q", err)
						}
						c, err := n.Dial(t.Context(), wrong.Listener, to)
						if err != nil {
							t.Fatal(err)
						}
						c.Close()
					}
				}
				l.Close()
				accepts.Wait()
			}
		}
	})
}
