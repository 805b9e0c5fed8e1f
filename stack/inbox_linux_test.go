// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/internal/poll"
)

// A boxed device takes all that waits at once and keeps it for the next calls, as
// that of package udp does: its descriptor is readable for what came since then.
type boxed struct {
	netdev.Device
	fd  int
	box []*netdev.Buffer
}

func (d *boxed) FD() int { return d.fd }

func (d *boxed) Attach(a *netdev.Arena, wake func()) error {
	return d.Device.Attach(a, func() { unix.Write(d.fd, []byte{1, 0, 0, 0, 0, 0, 0, 0}) })
}

func (d *boxed) Receive(bufs []*netdev.Buffer) (int, error) {
	if len(d.box) == 0 {
		var all [batch]*netdev.Buffer
		unix.Read(d.fd, make([]byte, 8))
		n, err := d.Device.Receive(all[:])
		if err != nil {
			return 0, err
		}
		d.box = append(d.box, all[:n]...)
	}
	n := copy(bufs, d.box)
	d.box = d.box[n:]
	return n, nil
}

// boxedPair opens a node on a boxed device, and returns how another one sends a
// message to each of its two sockets, one frame each.
func boxedPair(t *testing.T) (n *Node, first, second *PacketConn, send func(...*PacketConn)) {
	t.Helper()
	h := hub.New(hub.Config{})
	port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	d := &boxed{Device: port}
	if d.fd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(d.fd) })
	n, err = Open(t.Context(), Config{Bearers: []Bearer{d}, Address: 1, Wait: Sleep, Chunks: 512, Tolerance: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close(context.Background()) })
	other, _ := openQuiet(t, h, 2, Config{Tolerance: 30 * time.Second})
	first, second = mustOpen(t, n, Service{Type: 18888}), mustOpen(t, n, nil)
	if err := other.WaitFor(t.Context(), Service{Type: 18888}); err != nil {
		t.Fatal(err)
	}
	from := mustOpen(t, other, nil)
	return n, first, second, func(to ...*PacketConn) {
		for _, c := range to {
			if _, err := from.WriteTo(make([]byte, 1000), c.inside().local); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A call that begins to wait finds what the one before has left in the device,
// though no descriptor says so.
func TestNextCallFindsWhatIsLeft(t *testing.T) {
	n, c, _, send := boxedPair(t)
	n.inside().loop.Lock()
	defer n.inside().loop.Unlock()
	d := n.inside().attached[0].Device.(*boxed)
	w := poll.Wait{List: &c.inside().readers}
	for len(d.box) == 0 { // a frame of the link before the others has the call look more than once
		n.inside().pollOnce(n.inside().loop.Now(), true)
		n.inside().attached[0].width = 0
		send(c, c, c, c)
		n.inside().loop.Await(&w, func() bool { return c.inside().port.Pending() > 0 })
		n.inside().loop.Leave(&w)
		for c.inside().port.Pending() > 0 {
			c.inside().port.Read(make([]byte, 1000))
		}
	}
	left := len(d.box)
	looks := 0
	n.inside().loop.Await(&w, func() bool { looks++; return looks > 1 })
	if len(d.box) == left {
		t.Error("the call slept beside frames")
	}
	n.inside().loop.Leave(&w)
}

// Rule (e): who takes frames out of a device and leaves some rings for a leader
// that sleeps, whom the descriptor may not wake any more.
func TestSenderRingsForWhatItLeaves(t *testing.T) {
	n, first, second, send := boxedPair(t)
	read := make(chan error)
	go func() {
		_, _, err := second.ReadFrom(make([]byte, 1000))
		read <- err
	}()
	for asleep := false; !asleep; {
		runtime.Gosched()
		n.inside().loop.Lock()
		asleep = n.inside().loop.State().Asleep
		if asleep {
			send(first, second)
			n.inside().pollOnce(n.inside().loop.Now(), true)
			if first.inside().port.Pending() == 1 && second.inside().port.Pending() == 0 && !n.inside().loop.State().Rung {
				t.Error("the driver is left to sleep beside its message")
			}
		}
		n.inside().loop.Unlock()
	}
	if err := <-read; err != nil {
		t.Error(err)
	}
}
