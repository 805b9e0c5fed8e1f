// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/internal/local"
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
		var all [local.Batch]*netdev.Buffer
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
func boxedPair(t *testing.T) (n *stack.Node, first, second *stack.PacketConn, send func(...*stack.PacketConn)) {
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
	n, err = stack.Open(t.Context(), stack.Config{Bearers: []stack.Bearer{d}, Address: 1, Wait: stack.Sleep, Chunks: 512, Tolerance: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close(context.Background()) })
	other, _ := openQuiet(t, h, 2, stack.Config{Tolerance: 30 * time.Second})
	first, second = mustOpen(t, n, stack.Service{Type: 18888}), mustOpen(t, n, nil)
	if err := other.WaitFor(t.Context(), stack.Service{Type: 18888}); err != nil {
		t.Fatal(err)
	}
	from := mustOpen(t, other, nil)
	return n, first, second, func(to ...*stack.PacketConn) {
		for _, c := range to {
			if _, err := from.WriteTo(make([]byte, 1000), insidePacket(c).Addr()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A call that begins to wait finds what the one before has left in the device,
// though no descriptor says so.
func TestNextCallFindsWhatIsLeft(t *testing.T) {
	n, c, _, send := boxedPair(t)
	inside(n).Loop().Lock()
	defer inside(n).Loop().Unlock()
	d := inside(n).Device().(*boxed)
	w := poll.Wait{List: insidePacket(c).Readers()}
	for len(d.box) == 0 { // a frame of the link before the others has the call look more than once
		inside(n).PollOnce(inside(n).Loop().Now(), true)
		inside(n).Narrow()
		send(c, c, c, c)
		inside(n).Loop().Await(&w, func() bool { return insidePacket(c).Port().Pending() > 0 })
		inside(n).Loop().Leave(&w)
		for insidePacket(c).Port().Pending() > 0 {
			insidePacket(c).Port().Read(make([]byte, 1000))
		}
	}
	left := len(d.box)
	looks := 0
	inside(n).Loop().Await(&w, func() bool { looks++; return looks > 1 })
	if len(d.box) == left {
		t.Error("the call slept beside frames")
	}
	inside(n).Loop().Leave(&w)
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
		inside(n).Loop().Lock()
		asleep = inside(n).Loop().State().Asleep
		if asleep {
			send(first, second)
			inside(n).PollOnce(inside(n).Loop().Now(), true)
			if insidePacket(first).Port().Pending() == 1 && insidePacket(second).Port().Pending() == 0 && !inside(n).Loop().State().Rung {
				t.Error("the driver is left to sleep beside its message")
			}
		}
		inside(n).Loop().Unlock()
	}
	if err := <-read; err != nil {
		t.Error(err)
	}
}
