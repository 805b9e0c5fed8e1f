// SPDX-License-Identifier: Apache-2.0

package bearers

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/udp"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

// timeout is how long anything may take that must happen.
const timeout = 2 * time.Minute

// tolerance is that of links: this process may stand still for seconds where others want the
// machine too.
const tolerance = 20 * time.Second

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	t.Cleanup(cancel)
	return ctx
}

// hosts are two network namespaces with two cables between them, w0 and w1; on w1 there
// is IP.
type hosts [2]*netns.NS

func newHosts(t *testing.T) (h hosts) {
	netns.Require(t)
	h = hosts{netns.New(t), netns.New(t)}
	for _, name := range []string{"w0", "w1"} {
		netns.Veth(t, h[0], h[1], name, name, 1500)
	}
	for i, ns := range h {
		ns.Run("ip", "addr", "add", local(i).Addr().String()+"/24", "dev", "w1")
	}
	return h
}

func local(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 7, 0, byte(i + 1)}), 6118)
}

// open makes host i's device of a kind: of w0, but UDP of w1.
func (h hosts) open(t *testing.T, i int, kind string) (d netdev.Device) {
	t.Helper()
	var err error
	h[i].Do(func() {
		switch kind {
		case "AF_PACKET":
			d, err = xdp.OpenPacket("w0", nil)
		case "AF_XDP":
			d, err = xdp.OpenXSK("w0", &xdp.XSKConfig{Mode: xdp.ModeGeneric})
		case "auto":
			d, err = xdp.Open("w0", nil)
		case "UDP":
			d, err = udp.Open(udp.Config{Local: local(i), Remotes: []netip.AddrPort{local(1 - i)}, MTU: 1400})
		}
	})
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	return d
}

// A talk is numbered messages over a connection from one node to another, of which none
// may be lost, doubled or overtaken.
type talk struct {
	done chan struct{}
	wg   sync.WaitGroup
	sent int
}

func begin(t *testing.T, from, to *stack.Node) *talk {
	service := stack.Service{Type: 18888, Instance: 17}
	l, err := to.Listen(within(t), "tipcpacket", service)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := from.WaitFor(within(t), service); err != nil {
		t.Fatal(err)
	}
	var out *stack.Conn
	dialed := make(chan error, 1)
	go func() {
		var err error
		out, err = from.Dial(within(t), "tipcpacket", service)
		dialed <- err
	}()
	l.SetDeadline(time.Now().Add(timeout))
	in, err := l.AcceptConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := <-dialed; err != nil {
		t.Fatal(err)
	}
	out.SetDeadline(time.Now().Add(2 * timeout))
	in.SetDeadline(time.Now().Add(2 * timeout))
	k := &talk{done: make(chan struct{})}
	k.wg.Go(func() {
		defer out.Close()
		for last := 0; last == 0; k.sent++ {
			select {
			case <-k.done:
				last = 1
			default:
			}
			if _, err := out.Write(fmt.Appendf(nil, "%d %d %0*d", k.sent, last, 500, 0)); err != nil {
				t.Errorf("message %d: %v", k.sent, err)
				return
			}
		}
	})
	k.wg.Go(func() {
		defer in.Close()
		buf := make([]byte, 2000)
		for i, last := 0, 0; last == 0; i++ {
			n, err := in.Read(buf)
			got := -1
			fmt.Sscan(string(buf[:n]), &got, &last)
			if err != nil || got != i {
				t.Errorf("got message %d, %v, want %d", got, err, i)
				return
			}
		}
	})
	return k
}

func (k *talk) end() (messages int) {
	close(k.done)
	k.wg.Wait()
	return k.sent
}

// up waits until a node has so many links that are up.
func up(t *testing.T, n *stack.Node, links int) {
	t.Helper()
	w, err := n.Admin().Watch(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for {
		k := 0
		for _, l := range must.Get(n.Admin().Links(context.Background())) {
			if l.Up {
				k++
			}
		}
		if k == links {
			return
		}
		if _, err := w.Next(within(t)); err != nil {
			t.Fatalf("%d links are up, want %d: %v", k, links, err)
		}
	}
}

// A node goes from one carrier to the next while it talks, also from those without a
// descriptor's poll to Go's poller: nothing is lost, and no descriptor stays behind.
//
// Proves: socket.bearers
func TestCarriersChangeUnderLoad(t *testing.T) {
	for _, goPoller := range []bool{false, true} {
		t.Run(fmt.Sprintf("GoPoller %v", goPoller), func(t *testing.T) {
			h := newHosts(t)
			descriptors := count(t)
			var nodes [2]*stack.Node
			for i := range nodes {
				n, err := stack.Open(within(t), stack.Config{NoBearers: true, Tolerance: tolerance, Address: stack.NodeAddr(0x1001001 + i), GoPoller: goPoller})
				if err != nil {
					t.Fatal(err)
				}
				defer n.Close(context.Background())
				nodes[i] = n
			}
			enable := func(i int, kind string) {
				t.Helper()
				d := h.open(t, i, kind)
				began := time.Now()
				if err := nodes[i].Admin().AddDevice(within(t), d, admin.BearerConfig{}); err != nil {
					t.Fatalf("%s: %v", kind, err)
				}
				t.Logf("%s: enabled in %v", kind, time.Since(began).Round(time.Millisecond))
			}
			disable := func(i int, name string) {
				t.Helper()
				if err := nodes[i].Admin().DisableBearer(within(t), name); err != nil {
					t.Fatal(err)
				}
			}
			for i := range nodes {
				enable(i, "AF_PACKET")
			}
			up(t, nodes[0], 1)
			k := begin(t, nodes[0], nodes[1])
			for _, kind := range []string{"AF_XDP", "AF_PACKET", "auto"} {
				for i := range nodes {
					enable(i, "UDP")
				}
				up(t, nodes[0], 2)
				up(t, nodes[1], 2)
				for i := range nodes {
					disable(i, "eth:w0")
					enable(i, kind)
				}
				up(t, nodes[0], 2)
				up(t, nodes[1], 2)
				for i := range nodes {
					disable(i, "udp:UDP1")
				}
			}
			t.Logf("%d messages", k.end())
			for i, n := range nodes {
				disable(i, "w0")
				if b, l := must.Get(n.Admin().Bearers(context.Background())), must.Get(n.Admin().Links(context.Background())); len(b)+len(l) > 0 {
					t.Errorf("got %+v, %+v, want no bearers, no links", b, l)
				}
			}
			for i := range nodes { // and again, with nothing between
				enable(i, "auto")
			}
			up(t, nodes[0], 1)
			for _, n := range nodes {
				var unsent *stack.UnsentError // of streams that their peer had closed first
				if err := n.Close(within(t)); err != nil && !(errors.As(err, &unsent) && unsent.Packets == 0) {
					t.Error(err)
				}
				if s := must.Get(n.Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal {
					t.Errorf("%d of %d chunks came back", s.ChunksFree, s.ChunksTotal)
				}
			}
			const pollers = 8 // Go's own
			// Some are closed by who waits on them, once it has noticed.
			for end := time.Now().Add(timeout); count(t) > descriptors+pollers; runtime.GC() {
				if time.Now().After(end) {
					t.Fatalf("got %d descriptors, had %d", count(t), descriptors)
				}
			}
		})
	}
}

// count is the number of this process's descriptors.
func count(t *testing.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// A program that is attached, or a tool, asks for bearers in words; the answers are those
// that a kernel gives.
//
// Proves: socket.bearers
func TestRequestBearer(t *testing.T) {
	h := newHosts(t)
	asked := 0
	opener := func(i int) admin.BearerOpener {
		return func(_ context.Context, r admin.BearerRequest) (d netdev.Device, err error) {
			asked++
			h[i].Do(func() {
				if r.Medium == "eth" {
					d, err = xdp.Open(r.Device, nil)
					return
				}
				d, err = udp.Open(udp.Config{
					Name: r.Name, Local: netip.AddrPortFrom(r.LocalIP, r.LocalPort), MTU: r.MTU,
					Remotes: []netip.AddrPort{netip.AddrPortFrom(r.RemoteIP, r.RemotePort)},
				})
			})
			return d, err
		}
	}
	var nodes [2]*stack.Node
	for i := range nodes {
		n, err := stack.Open(within(t), stack.Config{NoBearers: true, Tolerance: tolerance, Address: stack.NodeAddr(0x1001001 + i), OpenBearer: opener(i)})
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close(context.Background())
		nodes[i] = n
	}
	n := nodes[0]
	if err := n.Admin().EnableBearer(within(t), admin.BearerRequest{Medium: "eth", Device: "w0", Priority: 12, Tolerance: 900 * time.Millisecond, Window: 200}); err != nil {
		t.Fatal(err)
	}
	for i, n := range nodes {
		r := admin.BearerRequest{Medium: "udp", Name: "UDP9", LocalIP: local(i).Addr(), RemoteIP: local(1 - i).Addr()}
		if err := n.Admin().EnableBearer(within(t), r); err != nil {
			t.Fatal(err)
		}
	}
	up(t, n, 1)
	b := must.Get(n.Admin().Bearers(context.Background()))
	if len(b) != 2 || b[0].Links.Priority != 12 || b[0].Links.Tolerance != 900*time.Millisecond || b[0].Links.MaxWindow != 200 {
		t.Errorf("got %+v", b)
	}
	if x := b[1]; x.Name != "UDP9" || x.Medium != "udp" || x.MTU != 14000 || x.Local != local(0) || x.Remote != local(1) {
		t.Errorf("got %+v", x)
	}
	if err := n.Admin().SetBearer(context.Background(), "udp:UDP9", admin.BearerConfig{MTU: 1200}); err != nil {
		t.Error(err)
	}
	if b := must.Get(n.Admin().Bearers(context.Background())); b[1].MTU != 1200 {
		t.Errorf("got an MTU of %d, want 1200", b[1].MTU)
	}
	up(t, n, 1)
	for mtu := 0; mtu != 1200; mtu = must.Get(n.Admin().Links(context.Background()))[0].MTU {
		up(t, n, 1)
	}
	if err := n.Admin().SetBearer(context.Background(), "udp:UDP9", admin.BearerConfig{MTU: 15000}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("more than the device's: got %v, want %v", err, syscall.EINVAL)
	}
	before := asked
	for _, c := range []struct {
		request admin.BearerRequest
		errno   syscall.Errno
		reason  string
	}{
		{admin.BearerRequest{Medium: "ib", Device: "w1"}, syscall.EINVAL, ""},
		{admin.BearerRequest{Medium: "eth", Device: "w0"}, syscall.EINVAL, "Already enabled."},
		{admin.BearerRequest{Medium: "udp", Name: "UDP9", LocalIP: local(0).Addr()}, syscall.EINVAL, "Already enabled."},
		{admin.BearerRequest{Medium: "eth", Device: "w7"}, syscall.ENODEV, "Failed to enable media."},
		{admin.BearerRequest{Medium: "eth", Device: "w1", Priority: 32}, syscall.EINVAL, ""},
	} {
		err := n.Admin().EnableBearer(within(t), c.request)
		var r *admin.Refusal
		if !errors.Is(err, c.errno) || stack.Errno(err) != c.errno || c.reason != "" && (!errors.As(err, &r) || r.Reason != c.reason) {
			t.Errorf("%+v: got %v, want %v, %q", c.request, err, c.errno, c.reason)
		}
	}
	if asked != before+2 {
		t.Errorf("devices were opened %d times, want 2", asked-before)
	}
	if b := must.Get(n.Admin().Bearers(context.Background())); len(b) != 2 {
		t.Errorf("got %+v", b)
	}
	alone, err := stack.Open(within(t), stack.Config{NoBearers: true, Address: 9})
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close(context.Background())
	if err := alone.Admin().EnableBearer(within(t), admin.BearerRequest{Medium: "eth", Device: "w0"}); !errors.Is(err, syscall.EOPNOTSUPP) {
		t.Errorf("got %v, want %v", err, syscall.EOPNOTSUPP)
	}
}
