// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/internal/poll"
)

// A fakeDevice is a device whose Transmit and Receive a test may replace.
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
func openFake(t *testing.T, h *hub.Hub, i int) (*Node, *fakeDevice) {
	t.Helper()
	port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i)})
	if err != nil {
		t.Fatal(err)
	}
	d := &fakeDevice{Device: port}
	n, err := Open(t.Context(), Config{Bearers: []Bearer{d}, Address: NodeAddr(i), Wait: Sleep, Chunks: 512})
	if err != nil {
		t.Fatal(err)
	}
	return n, d
}

func mustOpen(t *testing.T, n *Node, addr net.Addr) *PacketConn {
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
		n.inside().loop.Lock()
		w := poll.Wait{List: &c.inside().readers}
		var began time.Time
		looks := 0
		n.inside().loop.Await(&w, func() bool {
			if looks++; looks == 2 {
				began = time.Now()
				go n.inside().submit(c.inside(), socketDest(c.inside().local), []byte("x"))
				synctest.Wait() // it finds the lock taken
			}
			return looks > 2
		})
		if c.inside().port.Pending() != 1 || time.Since(began) != 0 {
			t.Errorf("the driver slept for %v beside %d messages", time.Since(began), c.inside().port.Pending())
		}
		n.inside().loop.Leave(&w)
		n.inside().loop.Unlock()
	})
}

// A deadline beyond what a Duration can say is no reason to stay awake.
func TestDistantDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, d := openFake(t, hub.New(hub.Config{}), 1)
		defer n.Close(context.Background())
		c := mustOpen(t, n, nil)
		looks := 0
		d.receive = func(bufs []*netdev.Buffer) (int, error) {
			if looks++; looks == 1000 {
				go c.Close()
			}
			return d.Device.Receive(bufs)
		}
		c.SetReadDeadline(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
		time.AfterFunc(time.Second, func() { c.Close() })
		c.ReadFrom(nil)
		if looks >= 1000 {
			t.Errorf("a call that waits for a second looked %d times", looks)
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
		server := mustOpen(t, b, Service{Type: 18888})
		if err := a.WaitFor(t.Context(), Service{Type: 18888}); err != nil {
			t.Fatal(err)
		}
		c := mustOpen(t, a, nil)
		<-time.After(10 * time.Millisecond) // the background goroutine sleeps in its parker
		synctest.Wait()
		full := true
		d.transmit = func(bufs []*netdev.Buffer) (int, error) {
			if full {
				full = false
				return 0, nil
			}
			return d.Device.Transmit(bufs)
		}
		began := time.Now()
		if _, err := c.WriteTo([]byte("x"), Service{Type: 18888}); err != nil {
			t.Fatal(err)
		}
		server.ReadFrom(nil)
		if took := time.Since(began); took > 2*poll.Retry {
			t.Errorf("the message took %v", took)
		}
	})
}
