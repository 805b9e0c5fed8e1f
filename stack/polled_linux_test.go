// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// A polled device is a hub's port with a descriptor, as a kernel's socket has,
// that is readable from the start and for ever; Receive returns fault.
type polled struct {
	*hub.Port
	fd    int
	fault error
	looks atomic.Int64 // calls of Receive
}

func newPolled(t *testing.T, fault error) *polled {
	t.Helper()
	port, err := hub.New(hub.Config{}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Eventfd(1, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return &polled{Port: port, fd: fd, fault: fault}
}

func (d *polled) FD() int { return d.fd }

func (d *polled) Receive([]*netdev.Buffer) (int, error) {
	d.looks.Add(1)
	return 0, d.fault
}

// A device that has failed, was closed behind the node's back, or says that
// there are frames and gives none, does not keep the leader awake.
func TestSickDeviceCostsLittle(t *testing.T) {
	for name, fault := range map[string]error{
		"failing": errors.New("broken"), "closed": net.ErrClosed, "without memory": nil,
	} {
		t.Run(name, func(t *testing.T) {
			d := newPolled(t, fault)
			n, err := stack.Open(within(t), stack.Config{Bearers: []stack.Bearer{d}, Address: 1, Wait: stack.Sleep})
			if err != nil {
				t.Fatal(err)
			}
			defer n.Close(within(t))
			c := listen(t, n, nil)
			before, began := d.looks.Load(), time.Now()
			c.SetReadDeadline(began.Add(200 * time.Millisecond))
			if _, _, err := c.ReadFrom(nil); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error(err)
			}
			if k, took := d.looks.Load()-before, time.Since(began); k > 2*took.Milliseconds() {
				t.Errorf("looked at %d times in %v", k, took)
			}
		})
	}
}
