// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
)

// Ten thousand sockets that come and go leave nothing: bound or not, with messages
// unread, and probed.
//
// Proves: socket.small
func TestPacketSocketsComeAndGo(t *testing.T) {
	const cycles = 10000
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		if err := a.WaitFor(t.Context(), stack.Service{Type: stack.NodeState, Instance: 2}); err != nil {
			t.Fatal(err)
		}
		state := func() string {
			return fmt.Sprintf("%d and %d sockets, %d and %d names",
				len(must.Get(a.Admin().Sockets(context.Background()))), len(must.Get(b.Admin().Sockets(context.Background()))), len(must.Get(a.Admin().Names(context.Background()))), len(must.Get(b.Admin().Names(context.Background()))))
		}
		<-time.After(time.Second) // of the bubble: all names are there
		want, goroutines := state(), runtime.NumGoroutine()
		for i := range cycles {
			network := [2]string{"tipcrdm", "tipcgram"}[i%2]
			c, err := a.ListenPacket(t.Context(), network, nil)
			if err != nil {
				t.Fatal(err)
			}
			if i%10 == 0 {
				if err := c.Bind(stack.Service{Type: 300, Instance: uint32(i)}); err != nil {
					t.Fatal(err)
				}
			}
			to := c.LocalAddr().(stack.SocketAddr)
			d, err := b.DialPacket(t.Context(), network, to)
			if err != nil {
				t.Fatal(err)
			}
			if i%10 == 1 {
				if _, err := d.Write([]byte("unread")); err != nil {
					t.Fatal(err)
				}
			}
			if i%50 == 0 {
				if alive, _, err := b.Probe(t.Context(), to); !alive || err != nil {
					t.Fatal(alive, err)
				}
			}
			c.Close()
			d.Close()
		}
		<-time.After(time.Second) // of the bubble: the last names are withdrawn
		if got := state(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if now := runtime.NumGoroutine(); now > goroutines { // some of tests before may have gone since
			t.Errorf("%d goroutines, %d before", now, goroutines)
		}
	})
}
