// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/stack/carrier/hub"
)

var _ net.PacketConn = (*stack.PacketConn)(nil)

// inBubble runs f with two nodes on a clock that jumps.
func inBubble(t *testing.T, f func(t *testing.T, a, b *stack.Node, wire *fault.Injector)) {
	run := synctest.Test
	if attachedTests { // there are sockets of the system between, whose clock does not jump
		run = func(t *testing.T, f func(*testing.T)) { f(t) }
	}
	run(t, func(t *testing.T) {
		h := hub.New(hub.Config{})
		pa, _ := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
		pb, _ := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, 2})
		wire := fault.New(pb, fault.Config{})
		var nodes [2]*stack.Node
		for i, dev := range []netdev.Device{pa, wire} {
			cfg := stack.Config{Bearers: []stack.Bearer{dev}, Address: stack.NodeAddr(i + 1), Wait: stack.Sleep, Chunks: 512}
			if attachedTests {
				cfg.Tolerance = steady
			}
			n, err := stack.Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			nodes[i] = attachedIfSo(t, n)
			defer func() {
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				n.Close(ctx)
				if s := must.Get(n.Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal {
					t.Errorf("%d of %d chunks came back", s.ChunksFree, s.ChunksTotal)
				}
			}()
		}
		if attachedTests { // where a link lasts, its node would wait for what is not acknowledged
			defer wire.Set(fault.Config{})
		}
		f(t, nodes[0], nodes[1], wire)
	})
}

func mustListen(t *testing.T, n *stack.Node, c stack.SocketConfig, addr net.Addr) *stack.PacketConn {
	t.Helper()
	p, err := c.ListenPacket(t.Context(), n, "tipcrdm", addr)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Proves: contact.supervision
func TestDeadNodeInABubble(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		mustListen(t, b, stack.SocketConfig{}, echoService)
		if err := a.WaitFor(t.Context(), echoService); err != nil {
			t.Fatal(err)
		}
		sub, err := a.Subscribe(t.Context(), stack.AllNodes)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		wire.Set(fault.Config{In: fault.Faults{Loss: 1}, Out: fault.Faults{Loss: 1}})
		cut := time.Now()
		for ev := range sub.Events(t.Context()) {
			got = append(got, ev.String())
			if ev.Withdrawn {
				break
			}
		}
		// On the bubble's clock this is exact: after the last packet, the sixth
		// tick of 375 ms finds five silent ones.
		if d := time.Since(cut); d < 1500*time.Millisecond || d > 2250*time.Millisecond {
			t.Errorf("noticed after %v, want 1.5s to 2.25s", d)
		}
		if want := "published 0:1-1 at <1:0>, published 0:2-2 at <2:0>, withdrawn 0:2-2 at <2:0>"; strings.Join(got, ", ") != want {
			t.Errorf("got %q, want %q", got, want)
		}
		wire.Set(fault.Config{})
		if err := a.WaitFor(t.Context(), echoService); err != nil {
			t.Errorf("after the network healed: %v", err)
		}
	})
}

// A link without acknowledgements fills up; the writer waits until its deadline
// and is told which limit it hit.
//
// Proves: link.importance
func TestWriteBlocksAndSaysWhy(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		mustListen(t, b, stack.SocketConfig{}, echoService)
		if err := a.WaitFor(t.Context(), echoService); err != nil {
			t.Fatal(err)
		}
		c := mustListen(t, a, stack.SocketConfig{Importance: stack.Medium}, nil)
		wire.Set(fault.Config{Out: fault.Faults{Loss: 1}})
		const wait = 300 * time.Millisecond
		var blocked *stack.BlockedError
		sent := 0
		data := make([]byte, 1000) // no two fit into one packet
		var began time.Time
		for ; ; sent++ {
			began = time.Now()
			c.SetWriteDeadline(began.Add(wait))
			if _, err := c.WriteTo(data, echoService); err != nil {
				if !errors.As(err, &blocked) || !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Fatalf("got %v", err)
				}
				t.Log(err)
				break
			}
		}
		if blocked.Node != 2 || blocked.Link != "1:eth0-2:eth0" || blocked.Limit != 200 || blocked.Waiting != 200 ||
			blocked.Window != 50 || blocked.Importance != stack.Medium || blocked.Blocked < wait || time.Since(began) != blocked.Blocked {
			t.Errorf("got %+v", blocked)
		}
		// The window has the opening of the broadcast link and the names in it too.
		if want := 50 - 2 + 200; sent != want {
			t.Errorf("%d messages were taken, want %d", sent, want)
		}
		// The network heals within the tolerance: the next write goes through.
		c.SetWriteDeadline(time.Time{})
		wire.Set(fault.Config{})
		if _, err := c.WriteTo([]byte("x"), echoService); err != nil {
			t.Error(err)
		}
	})
}

// Contact is lost while a writer waits: it is told so, not left.
//
// Proves: link.importance
func TestWriterEndsWithContact(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		mustListen(t, b, stack.SocketConfig{}, echoService)
		if err := a.WaitFor(t.Context(), echoService); err != nil {
			t.Fatal(err)
		}
		c := mustListen(t, a, stack.SocketConfig{}, nil)
		if err := a.Admin().SetLink(context.Background(), 2, "eth0", stack.LinkConfig{Tolerance: 1500 * time.Millisecond}); err != nil { // attached, it is more
			t.Fatal(err)
		}
		wire.Set(fault.Config{In: fault.Faults{Loss: 1}, Out: fault.Faults{Loss: 1}})
		var err error
		for err == nil {
			_, err = c.WriteTo([]byte("x"), echoService)
			if r, none := c.TryNextReport(); none == nil { // attached, a write does not wait for this
				err = r.Err
			}
		}
		if !errors.Is(err, stack.ErrUnreachable) {
			t.Errorf("got %v, want %v", err, stack.ErrUnreachable)
		}
	})
}

// Proves: socket.deadlines
func TestDeadlinesAndClosing(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		c := mustListen(t, a, stack.SocketConfig{}, echoService)
		ended := make(chan error)
		read := func() {
			_, _, err := c.ReadFrom(make([]byte, 1))
			ended <- err
		}
		// A deadline that is set, or moved, while the call waits.
		go read()
		synctest.Wait()
		c.SetReadDeadline(time.Now().Add(time.Second))
		began := time.Now()
		if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
		// Past already.
		if _, _, err := c.ReadFrom(nil); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		c.SetReadDeadline(time.Time{})
		// Two readers, of which one drives: Close ends both.
		go read()
		go read()
		synctest.Wait()
		c.Close()
		for range 2 {
			var op *net.OpError
			if err := <-ended; !errors.Is(err, net.ErrClosed) || !errors.As(err, &op) || op.Net != "tipcrdm" || op.Op != "read" {
				t.Errorf("got %v", err)
			}
		}
		for _, err := range []error{
			c.Close(), c.SetDeadline(time.Time{}), c.Bind(echoService),
			func() error { _, err := c.WriteTo(nil, echoService); return err }(),
			func() error { _, _, err := c.ReadMsg(nil); return err }(),
		} {
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("on a closed socket: %v", err)
			}
		}
	})
}

// Proves: socket.deadlines
func TestContextEndsWaiting(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		for range 2 { // one drives, one is parked
			go func() { ended <- a.WaitFor(ctx, echoService) }()
		}
		synctest.Wait()
		cancel()
		for range 2 {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
	})
}

func TestAddressesAndErrors(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		for _, c := range []struct {
			network string
			addr    net.Addr
			want    error
		}{
			{"udp", nil, net.UnknownNetworkError("udp")},
			{"tipcrdm", stack.Service{Type: 63}, stack.ErrReserved},
			{"tipcrdm", stack.Range{Type: 64, Lower: 2, Upper: 1}, stack.ErrRange},
			{"tipcgram", stack.Range{Type: 64, Lower: 2, Upper: 3}, nil},
		} {
			if _, err := a.ListenPacket(t.Context(), c.network, c.addr); !errors.Is(err, c.want) {
				t.Errorf("%s %v: got %v, want %v", c.network, c.addr, err, c.want)
			}
		}
		p := mustListen(t, a, stack.SocketConfig{}, echoService)
		for _, addr := range []net.Addr{nil, &net.UDPAddr{}, stack.SocketAddr{Port: 1, Node: 99}, stack.Service{Type: 4711}} {
			if _, err := p.WriteTo([]byte("x"), addr); err == nil || !strings.HasPrefix(err.Error(), "write tipcrdm") {
				t.Errorf("write to %v: %v", addr, err)
			}
		}
		if _, err := p.WriteTo(make([]byte, 1421), p.LocalAddr()); err != nil {
			t.Errorf("within the node: %v", err)
		}
		if _, err := p.WriteTo(make([]byte, frame.MaxPayload+1), p.LocalAddr()); !errors.Is(err, stack.ErrTooLong) {
			t.Errorf("got %v", err)
		}
		if err := a.WaitFor(t.Context(), stack.Service{Type: stack.NodeState, Instance: 2}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.WriteTo(make([]byte, frame.MaxPayload+1), stack.SocketAddr{Port: 1, Node: 2}); !errors.Is(err, stack.ErrTooLong) {
			t.Errorf("got %v", err)
		}
		if err := p.Unbind(stack.Service{Type: 18888, Instance: 18}); !errors.Is(err, stack.ErrNotBound) {
			t.Errorf("got %v", err)
		}
		if err := p.Unbind(echoService); err != nil {
			t.Error(err)
		}
	})
}

// A message longer than the buffer is cut, and ReadMsg says so; the empty one is
// never seen; the name it was sent to is known.
//
// Proves: socket.deadlines
func TestReadMsg(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		server := mustListen(t, b, stack.SocketConfig{}, stack.Range{Type: 18888, Lower: 0, Upper: 99})
		c := mustListen(t, a, stack.SocketConfig{Importance: stack.High}, nil)
		if err := a.WaitFor(t.Context(), echoService); err != nil {
			t.Fatal(err)
		}
		c.WriteTo(nil, echoService)
		c.WriteTo([]byte("hello"), echoService)
		c.WriteTo([]byte("direct"), server.LocalAddr())
		buf := make([]byte, 3)
		n, m, err := server.ReadMsg(buf)
		if err != nil || string(buf[:n]) != "hel" || !m.Truncated || !m.Named || m.Name != echoService.Range() ||
			m.Importance != stack.High || m.From != c.LocalAddr() {
			t.Errorf("got %q, %+v, %v", buf[:n], m, err)
		}
		if n, m, err = server.ReadMsg(make([]byte, 9)); err != nil || n != 6 || m.Named || m.Truncated {
			t.Errorf("got %d bytes, %+v, %v", n, m, err)
		}
	})
}

// Proves: device.open
func TestOpenRefuses(t *testing.T) {
	h := hub.New(hub.Config{})
	port := func(mtu int) netdev.Device {
		p, err := hub.New(hub.Config{MTU: mtu}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	named := func(name string) netdev.Device {
		p, err := hub.New(hub.Config{}).Port(name, frame.MAC{2, 0, 0, 0, 0, name[0]})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p, _ := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
	for what, cfg := range map[string]stack.Config{
		"no bearer":    {},
		"same name":    {Bearers: []stack.Bearer{port(1500), port(1500)}, Address: 1},
		"no such one":  {Bearers: []stack.Bearer{port(1500)}, Address: 1, Links: map[string]stack.LinkConfig{"eth1": {Window: 20}}},
		"its window":   {Bearers: []stack.Bearer{port(1500)}, Address: 1, Links: map[string]stack.LinkConfig{"eth0": {MaxWindow: 8192}}},
		"four bearers": {Bearers: []stack.Bearer{named("a"), named("b"), named("c"), named("d")}, Address: 1},
		"priority":     {Bearers: []stack.Bearer{port(1500)}, Address: 1, Priority: 32},
		"MTU of 99":    {Bearers: []stack.Bearer{port(99)}, Address: 1},
		"network id":   {Bearers: []stack.Bearer{p}, Address: 1, NetID: 10000},
		"tolerance":    {Bearers: []stack.Bearer{port(1500)}, Address: 1, Tolerance: time.Millisecond},
		"window":       {Bearers: []stack.Bearer{port(1500)}, Address: 1, Window: 9000},
		"threshold":    {Bearers: []stack.Bearer{port(1500)}, Address: 1, MonitorThreshold: 4096},
		"no threshold": {Bearers: []stack.Bearer{port(1500)}, Address: 1, MonitorThreshold: -1},
		"wait mode":    {Bearers: []stack.Bearer{port(1500)}, Address: 1, Wait: 3},
		"few chunks":   {Bearers: []stack.Bearer{port(1500)}, Address: 1, Chunks: 63},
		"no chunks":    {Bearers: []stack.Bearer{port(1500)}, Address: 1, Chunks: -1},
		"nil bearer":   {Bearers: []stack.Bearer{nil}, Address: 1},
	} {
		if n, err := stack.Open(t.Context(), cfg); !errors.Is(err, stack.ErrConfig) {
			t.Errorf("%s: got %v, %v", what, n, err)
		} else {
			t.Logf("%s: %v", what, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	id, _ := stack.ParseIdentity("alpha")
	if _, err := stack.Open(ctx, stack.Config{Bearers: []stack.Bearer{port(1500)}, Identity: id}); !errors.Is(err, context.Canceled) {
		t.Errorf("during the trial: %v", err)
	}
}
