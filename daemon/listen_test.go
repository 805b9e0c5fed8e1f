// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/callfault"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

// openSockets is how many sockets of the system the process has.
func openSockets() (k int) {
	for _, f := range must.Get(os.ReadDir("/proc/self/fd")) {
		if to, _ := os.Readlink("/proc/self/fd/" + f.Name()); strings.HasPrefix(to, "socket:") {
			k++
		}
	}
	return k
}

// A connection that was accepted and cannot be handed to the program is reset, and leaves no
// socket and no descriptor: where the system refuses its descriptor at once, where it does after
// it was short of memory, and where the program goes meanwhile.
//
// Mutations: done of handOver does not close the descriptor; drain
// does not call done when WriteFD fails.
//
// Proves: daemon.socket
func TestConnectionThatIsNotHandedOver(t *testing.T) {
	for name, c := range map[string]struct {
		at, later syscall.Errno // what the system says to the first attempt, and to one that waits
		goes      bool
	}{
		"refused at once":                  {at: syscall.EPERM},
		"refused after a shortage":         {at: syscall.ENOMEM, later: syscall.EPERM},
		"the program goes in the shortage": {at: syscall.ENOMEM, later: syscall.ENOMEM, goes: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, daemon.Config{})
			sockets := func() int { return len(must.Get(b.node.Admin().Sockets(context.Background()))) }
			before, open := sockets(), openSockets()
			p := b.program(t)
			p.socket(attach.KindStream)
			p.must(attach.Header{Op: attach.OpListen, Addr: service(18888, 1)}, nil)
			if err := b.peer.WaitFor(within(t), stack.Service{Type: 18888, Instance: 1}); err != nil {
				t.Fatal(err)
			}
			p.send(attach.Header{Op: attach.OpAccept, ID: 1000}, nil)
			var waits atomic.Bool
			callfault.Use(func(call callfault.Call) syscall.Errno {
				switch call {
				case callfault.Send:
					return c.at
				case callfault.SendWait:
					waits.Store(true)
					return c.later
				}
				return 0
			})
			defer callfault.Use(nil)
			d, err := b.peer.Dial(within(t), "tipc", stack.Service{Type: 18888, Instance: 1})
			if c.goes {
				waitFor(t, waits.Load)
				p.c.Close()
			}
			if err == nil {
				_, err = d.Read(make([]byte, 1))
				d.Close()
			}
			if !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the dialer: got %v, want a reset", err)
			}
			p.c.Close()
			callfault.Use(nil)
			waitFor(t, func() bool { return sockets() == before })
			waitFor(t, func() bool { return openSockets() <= open })
		})
	}
}
