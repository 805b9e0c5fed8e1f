// SPDX-License-Identifier: Apache-2.0

package nettest

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/net/nettest"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/carrier/udp"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

// carriers make the devices of two nodes.
var carriers = []struct {
	name string
	make func(t *testing.T) (a, b netdev.Device)
}{
	{"hub", onHub},
	{"AF_XDP generic", func(t *testing.T) (a, b netdev.Device) { return onVeth(t, xsk(xdp.ModeGeneric)) }},
	{"AF_XDP native", func(t *testing.T) (a, b netdev.Device) { return onVeth(t, xsk(xdp.ModeNative)) }},
	{"AF_PACKET", func(t *testing.T) (a, b netdev.Device) { return onVeth(t, packet) }},
	{"UDP", onUDP},
}

// Proves: socket.conn, daemon.api
func TestConn(t *testing.T) {
	for _, c := range carriers {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, b := c.make(t)
			here, there := open(t, a, 1), open(t, b, 2)
			pipes(t, here, there)
		})
	}
	t.Run("attached", func(t *testing.T) {
		t.Parallel()
		a, b := onHub(t)
		here, there := open(t, a, 1), open(t, b, 2)
		pipes(t, attached(t, here), attached(t, there))
	})
	t.Run("one node", func(t *testing.T) {
		t.Parallel()
		a, b := onHub(t)
		n := open(t, a, 1)
		open(t, b, 2)
		pipes(t, n, n)
	})
}

// pipes runs the suite on connections from one node to another, dialed by name.
func pipes(t *testing.T, here, there *stack.Node) {
	service := stack.Service{Type: 18888, Instance: 17}
	l, err := there.Listen(t.Context(), "tipc", service)
	if err != nil {
		t.Fatal(err)
	}
	if err := here.WaitFor(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
		dialed := make(chan error, 1)
		go func() {
			var err error
			c1, err = here.DialContext(t.Context(), "tipc", service.String())
			dialed <- err
		}()
		l.SetDeadline(time.Now().Add(timeout))
		if c2, err = l.Accept(); err != nil {
			return nil, nil, nil, err
		}
		if err := <-dialed; err != nil {
			return nil, nil, nil, err
		}
		return c1, c2, func() { c1.Close(); c2.Close() }, nil
	})
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// open opens a node whose links outlive what keeps the machine from it.
func open(t *testing.T, d netdev.Device, i int) *stack.Node {
	t.Helper()
	n, err := stack.Open(t.Context(), stack.Config{Bearers: []stack.Bearer{d}, Address: stack.NodeAddr(0x1001000 + i), Tolerance: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		if err := n.Close(ctx); err != nil && !lostAtPeer(err) {
			t.Error(err)
		}
		if s := must.Get(n.Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal {
			t.Errorf("%d of %d chunks came back", s.ChunksFree, s.ChunksTotal)
		}
	})
	return n
}

// lostAtPeer reports whether a node's Close says no more than that bytes were lost as a peer
// closed before it had read them: the suite closes both ends of a pipe whatever is under way.
func lostAtPeer(err error) bool {
	var unsent *stack.UnsentError
	return errors.As(err, &unsent) && unsent.Packets == 0 && !errors.Is(err, context.DeadlineExceeded)
}

// attached attaches to a daemon that is made for it, of n.
func attached(t *testing.T, n *stack.Node) *stack.Node {
	t.Helper()
	srv, err := daemon.New(n, daemon.Config{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "utipc.sock")
	l, err := attach.Listen(path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	a, err := stack.Attach(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		if err := a.Close(ctx); err != nil && !lostAtPeer(err) {
			t.Errorf("%v\n%s", err, ours()) // before Shutdown ends what hangs
		}
		ctx, cancel = context.WithTimeout(context.Background(), timeout)
		defer cancel()
		if err := srv.Shutdown(ctx, "the test is over"); err != nil {
			t.Errorf("%v\n%s", err, ours())
		}
		<-served
	})
	return a
}

// ours are the stacks of the goroutines that are in an attached node, or in its daemon.
func ours() []byte {
	all := make([]byte, 4<<20)
	var b []byte
	for _, g := range bytes.Split(all[:runtime.Stack(all, true)], []byte("\n\n")) {
		for _, in := range []string{"/attach.", "/daemon.", "/stack.(*far"} {
			if bytes.Contains(g, []byte("utipc/utipc"+in)) {
				b = append(append(b, g...), "\n\n"...)
				break
			}
		}
	}
	return b
}

func onHub(t *testing.T) (a, b netdev.Device) {
	h := hub.New(hub.Config{})
	var ports [2]netdev.Device
	for i := range ports {
		p, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		ports[i] = p
	}
	return ports[0], ports[1]
}

func onVeth(t *testing.T, device func(name string) (netdev.Device, error)) (a, b netdev.Device) {
	netns.Require(t)
	names := [2]string{"left", "right"}
	ends := [2]*netns.NS{netns.New(t), netns.New(t)}
	netns.Veth(t, ends[0], ends[1], names[0], names[1], 1500)
	var devices [2]netdev.Device
	for i := range devices {
		var err error
		ends[i].Do(func() { devices[i], err = device(names[i]) })
		if err != nil {
			t.Fatal(err)
		}
	}
	return devices[0], devices[1]
}

func xsk(mode xdp.Mode) func(string) (netdev.Device, error) {
	return func(name string) (netdev.Device, error) { return xdp.OpenXSK(name, &xdp.XSKConfig{Mode: mode}) }
}

func packet(name string) (netdev.Device, error) { return xdp.OpenPacket(name, nil) }

// onUDP makes two bearers that have each other as remote, on loopback addresses that no
// other process of these tests takes.
func onUDP(t *testing.T) (a, b netdev.Device) {
	pid := os.Getpid()
	var ends [2]netip.AddrPort
	for i := range ends {
		ends[i] = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 128 | byte(pid>>15)&63, byte(pid >> 7), byte(pid<<1)&^1 + byte(i)}), 6118)
	}
	var devices [2]netdev.Device
	for i := range devices {
		d, err := udp.Open(udp.Config{Local: ends[i], Remotes: []netip.AddrPort{ends[1-i]}})
		if err != nil {
			t.Fatal(err)
		}
		devices[i] = d
	}
	return devices[0], devices[1]
}
