// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/poll"
)

// A fakeDevice is a device whose Transmit and Receive a test may replace, while it holds the
// lock of the node.
type fakeDevice struct {
	netdev.Device
	transmit func(bufs []*netdev.Buffer) (int, error)
	receive  func(bufs []*netdev.Buffer) (int, error)
	down     atomic.Bool // the interface carries nothing
}

func (d *fakeDevice) MTU() int {
	if d.down.Load() {
		return 0
	}
	return d.Device.MTU()
}

func (d *fakeDevice) Transmit(bufs []*netdev.Buffer) (int, error) {
	if d.transmit != nil {
		return d.transmit(bufs)
	}
	return d.Device.Transmit(bufs)
}

func (d *fakeDevice) Receive(bufs []*netdev.Buffer) (int, error) {
	if d.receive != nil {
		return d.receive(bufs)
	}
	return d.Device.Receive(bufs)
}

// openFake opens a node with the address i on h that does not spin.
func openFake(t *testing.T, h *hub.Hub, i int) (*stack.Node, *fakeDevice) {
	t.Helper()
	port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i)})
	if err != nil {
		t.Fatal(err)
	}
	d := &fakeDevice{Device: port}
	n, err := stack.Open(t.Context(), stack.Config{Bearers: []stack.Bearer{d}, Address: stack.NodeAddr(i), Wait: stack.Sleep, Chunks: 512})
	if err != nil {
		t.Fatal(err)
	}
	return n, d
}

func mustOpen(t *testing.T, n *stack.Node, addr net.Addr) *stack.PacketConn {
	t.Helper()
	c, err := n.ListenPacket(t.Context(), "tipcrdm", addr)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What comes to a leader while it lets go of the lock between two polls ends its
// wait, as what comes while it sleeps does.
func TestDriverHearsWhileItBreathes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, _ := openFake(t, hub.New(hub.Config{}), 1)
		defer n.Close(context.Background())
		c := mustOpen(t, n, nil)
		inside(n).Loop().Lock()
		w := poll.Wait{List: insidePacket(c).Readers()}
		var began time.Time
		looks := 0
		inside(n).Loop().Await(&w, func() bool {
			if looks++; looks == 2 {
				began = time.Now()
				go inside(n).Submit(insidePacket(c), backend.SocketDest(insidePacket(c).Addr()), []byte("x"))
				synctest.Wait() // it finds the lock taken
			}
			return looks > 2
		})
		if insidePacket(c).Port().Pending() != 1 || time.Since(began) != 0 {
			t.Errorf("the driver slept for %v beside %d messages", time.Since(began), insidePacket(c).Port().Pending())
		}
		inside(n).Loop().Leave(&w)
		inside(n).Loop().Unlock()
	})
}

// A deadline beyond what a Duration can say is no reason to stay awake.
func TestDistantDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, d := openFake(t, hub.New(hub.Config{}), 1)
		defer n.Close(context.Background())
		c := mustOpen(t, n, nil)
		var looks atomic.Int32 // the node polls on behind the call
		inside(n).Loop().Lock()
		d.receive = func(bufs []*netdev.Buffer) (int, error) {
			if looks.Add(1) == 1000 {
				go c.Close()
			}
			return d.Device.Receive(bufs)
		}
		inside(n).Loop().Unlock()
		c.SetReadDeadline(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
		time.AfterFunc(time.Second, func() { c.Close() })
		c.ReadFrom(nil)
		if k := looks.Load(); k >= 1000 {
			t.Errorf("a call that waits for a second looked %d times", k)
		}
	})
}

// A frame that a full device does not take from a sender is offered again soon,
// though the leader sleeps.
func TestFullDeviceIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Config{})
		a, d := openFake(t, h, 1)
		defer a.Close(context.Background())
		b, _ := openFake(t, h, 2)
		defer b.Close(context.Background())
		server := mustOpen(t, b, stack.Service{Type: 18888})
		if err := a.WaitFor(t.Context(), stack.Service{Type: 18888}); err != nil {
			t.Fatal(err)
		}
		c := mustOpen(t, a, nil)
		<-time.After(10 * time.Millisecond) // the background goroutine sleeps in its parker
		synctest.Wait()
		full := true
		inside(a).Loop().Lock()
		d.transmit = func(bufs []*netdev.Buffer) (int, error) {
			if full {
				full = false
				return 0, nil
			}
			return d.Device.Transmit(bufs)
		}
		inside(a).Loop().Unlock()
		began := time.Now()
		if _, err := c.WriteTo([]byte("x"), stack.Service{Type: 18888}); err != nil {
			t.Fatal(err)
		}
		server.ReadFrom(nil)
		if took := time.Since(began); took > 2*poll.Retry {
			t.Errorf("the message took %v", took)
		}
	})
}
