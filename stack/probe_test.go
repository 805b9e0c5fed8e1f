// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/fault"
)

// Proves: socket.seen
func TestProbe(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		server := mustListen(t, b, stack.SocketConfig{}, echoService)
		if err := a.WaitFor(t.Context(), echoService); err != nil {
			t.Fatal(err)
		}
		gone := mustListen(t, b, stack.SocketConfig{}, nil)
		gone.Close()
		for alive := attachedTests; alive; { // Close does not wait for the daemon for long
			var err error
			if alive, _, err = b.Probe(within(t), gone.LocalAddr().(stack.SocketAddr)); err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range []*stack.Node{a, b} { // of another node, and of this one
			for want, c := range map[bool]*stack.PacketConn{true: server, false: gone} {
				if got, _, err := n.Probe(t.Context(), c.LocalAddr().(stack.SocketAddr)); got != want || err != nil {
					t.Errorf("from %v: got %v, %v, want %v", n.Addr(), got, err, want)
				}
			}
		}
		if s := must.Get(server.Stats(context.Background())); s.MessagesIn != 0 || s.Queued != 0 {
			t.Errorf("the socket noticed: %+v", s)
		}
		if n := len(must.Get(a.Admin().Sockets(context.Background()))); n != 1 { // the topology service
			t.Errorf("%d sockets: %v", n, must.Get(a.Admin().Sockets(context.Background())))
		}
	})
}

// A probe that finds no answer says whose, on which link and for how long; one whose
// node is lost, or closed, ends with that.
//
// Proves: socket.seen
func TestProbeWithoutAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		to := mustListen(t, b, stack.SocketConfig{}, echoService).LocalAddr().(stack.SocketAddr)
		if err := a.WaitFor(t.Context(), echoService); err != nil {
			t.Fatal(err)
		}
		wire.Set(fault.Config{In: fault.Faults{Loss: 1}, Out: fault.Faults{Loss: 1}})
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		var silent *stack.SilentError
		var timeout net.Error
		_, _, err := a.Probe(ctx, to)
		if !errors.As(err, &silent) || !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() ||
			silent.Node != 2 || silent.Link != "1:eth0-2:eth0" || silent.Waited != 300*time.Millisecond {
			t.Errorf("got %v: %+v", err, silent)
		}
		ended := make(chan error)
		go func() { _, _, err := a.Probe(t.Context(), to); ended <- err }()
		if err := <-ended; !errors.Is(err, stack.ErrUnreachable) {
			t.Errorf("contact lost: got %v", err)
		}
		if _, _, err := a.Probe(t.Context(), to); !errors.Is(err, stack.ErrUnreachable) {
			t.Errorf("no contact: got %v", err)
		}
		wire.Set(fault.Config{})
		if err := a.WaitFor(t.Context(), echoService); err != nil {
			t.Fatal(err)
		}
		wire.Set(fault.Config{In: fault.Faults{Loss: 1}, Out: fault.Faults{Loss: 1}})
		go func() { _, _, err := a.Probe(t.Context(), to); ended <- err }()
		synctest.Wait()
		began := time.Now()
		go a.Close(t.Context())
		if err := <-ended; !errors.Is(err, net.ErrClosed) || time.Since(began) > time.Millisecond {
			t.Errorf("node closed: got %v after %v", err, time.Since(began))
		}
		if _, _, err := a.Probe(t.Context(), to); !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed node: got %v", err)
		}
	})
}

// A message that came back tells where it was to go, and has its first 1024 bytes; the
// marks of what is sent can be changed.
//
// Proves: socket.packet
func TestOptionsAtRunTime(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		server := mustListen(t, b, stack.SocketConfig{}, echoService)
		if err := a.WaitFor(t.Context(), echoService); err != nil {
			t.Fatal(err)
		}
		c := mustListen(t, a, stack.SocketConfig{}, nil)
		c.SetReadDeadline(time.Now().Add(time.Minute))
		buf, data := make([]byte, 66000), make([]byte, 3000)
		elsewhere := stack.Service{Type: 18888, Instance: 18, Node: 2}
		c.WriteTo(data, elsewhere) // droppable: it does not come back
		if err := c.SetReturnable(true); err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			to   net.Addr
			name stack.Service
			code stack.ErrorCode
			dest stack.SocketAddr
		}{
			{elsewhere, stack.Service{Type: 18888, Instance: 18}, 1, stack.SocketAddr{Node: 2}},
			{stack.SocketAddr{Port: 4711, Node: 2}, stack.Service{}, 2, stack.SocketAddr{Port: 4711, Node: 2}},
			{stack.SocketAddr{Port: 4711}, stack.Service{}, 2, stack.SocketAddr{Port: 4711, Node: 1}},
		} {
			if _, err := c.WriteTo(data, x.to); err != nil {
				t.Fatal(err)
			}
			n, from, err := c.ReadFrom(buf)
			var r *stack.RejectError
			if !errors.As(err, &r) || n != 1024 || r.Code != x.code || r.Name != x.name || r.Dest.Port != x.dest.Port || r.Dest.Node != x.dest.Node || from.String() != r.Dest.String() {
				t.Fatalf("to %v: got %d bytes from %v, %v", x.to, n, from, err)
			}
		}
		if s := must.Get(c.Stats(context.Background())); s.CameBack != 3 || s.MessagesOut != 4 {
			t.Errorf("got %+v", s)
		}
		if err := c.SetImportance(stack.Critical); err != nil {
			t.Fatal(err)
		}
		c.WriteTo([]byte("x"), echoService)
		if _, m, err := server.ReadMsg(buf); m.Importance != stack.Critical {
			t.Errorf("got %+v, %v", m, err)
		}
		// Limits by importance: twice as much at each (spec 07 §7).
		if err := server.SetReceiveLimit(4 * (100 + 64)); err != nil {
			t.Fatal(err)
		}
		for imp, want := range []int{4, 8, 16, 32} {
			c.SetImportance(stack.Importance(imp))
			for range 40 {
				c.WriteTo(data[:100], echoService)
			}
			got := 0
			for range 40 - want { // these came back
				var r *stack.RejectError
				if _, _, err := c.ReadFrom(buf); !errors.As(err, &r) || r.Code != 4 || r.Dest.Port != server.LocalAddr().(stack.SocketAddr).Port {
					t.Fatalf("importance %d: %v", imp, err)
				}
			}
			for ; must.Get(server.Stats(context.Background())).Queued > 0; got++ {
				server.ReadFrom(buf)
			}
			if got != want {
				t.Errorf("importance %d: %d messages of 100 bytes, want %d", imp, got, want)
			}
		}
		for what, err := range map[string]error{
			"importance": c.SetImportance(4), "limit": c.SetReceiveLimit(-1), "method": c.SetMulticast(3),
		} {
			if !errors.Is(err, stack.ErrConfig) {
				t.Errorf("%s: got %v", what, err)
			}
		}
		server.Bind(stack.Range{Type: 300, Lower: 1, Upper: 2})
		if bs := must.Get(server.Bindings(context.Background())); len(bs) != 2 || bs[0].Range != echoService.Range() || bs[1].Range.Type != 300 {
			t.Errorf("got %v", bs)
		}
		server.Close()
		if bs := must.Get(server.Bindings(context.Background())); len(bs) != 0 {
			t.Errorf("got %v", bs)
		}
		if err := server.SetReturnable(true); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

// A socket with a default destination is a net.Conn that reads from everybody.
//
// Proves: socket.packet
func TestDialPacket(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		server := mustListen(t, b, stack.SocketConfig{}, echoService)
		server.SetReadDeadline(time.Now().Add(time.Minute))
		if err := a.WaitFor(t.Context(), echoService); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 100)
		for _, to := range []net.Addr{echoService, echoService.Range(), server.LocalAddr()} {
			p, err := a.DialPacket(t.Context(), "tipcgram", to)
			if err != nil {
				t.Fatal(err)
			}
			var c net.Conn = p
			if c.RemoteAddr() != to {
				t.Errorf("got %v at %v", c.RemoteAddr(), c.LocalAddr())
			}
			if n, err := c.Write([]byte("hello")); n != 5 || err != nil {
				t.Fatal(n, err)
			}
			n, from, err := server.ReadFrom(buf)
			if string(buf[:n]) != "hello" || err != nil {
				t.Fatalf("got %q, %v", buf[:n], err)
			}
			server.WriteTo([]byte("you too"), from)
			if n, err := c.Read(buf); string(buf[:n]) != "you too" || err != nil {
				t.Fatalf("got %q, %v", buf[:n], err)
			}
			p.WriteTo([]byte("other"), server.LocalAddr())
			if n, _, _ := server.ReadFrom(buf); string(buf[:n]) != "other" {
				t.Errorf("got %q", buf[:n])
			}
			c.Close()
			if _, err := c.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
				t.Errorf("got %v", err)
			}
		}
		c := mustListen(t, a, stack.SocketConfig{}, nil)
		var op *net.OpError
		if _, err := c.Write([]byte("x")); !errors.As(err, &op) || op.Op != "write" || c.RemoteAddr() != nil {
			t.Errorf("got %v", err)
		}
		for _, x := range []struct {
			network string
			to      net.Addr
		}{{"udp", echoService}, {"tipcrdm", nil}, {"tipcrdm", &net.UDPAddr{}}} {
			if p, err := a.DialPacket(t.Context(), x.network, x.to); !errors.As(err, &op) || op.Op != "dial" || p != nil {
				t.Errorf("%s to %v: got %v, %v", x.network, x.to, p, err)
			}
		}
	})
}

// A node tells of its sockets, of services and of other nodes.
//
// Proves: socket.seen
func TestSnapshots(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		server := mustListen(t, b, stack.SocketConfig{}, echoService)
		if err := a.WaitFor(t.Context(), echoService); err != nil {
			t.Fatal(err)
		}
		c := mustListen(t, a, stack.SocketConfig{NameWait: time.Second}, nil)
		c.WriteTo([]byte("hello"), echoService)
		if _, _, err := server.ReadFrom(make([]byte, 3)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.WriteTo(nil, stack.Service{Type: 300}); !errors.Is(err, stack.ErrUnreachable) {
			t.Errorf("got %v", err)
		}
		if s := must.Get(c.Stats(context.Background())); s.Blocked != 1 || s.BlockedFor != time.Second || s.MessagesOut != 1 || s.BytesOut != 5 {
			t.Errorf("got %+v", s)
		}
		found := false
		for _, s := range must.Get(b.Admin().Sockets(context.Background())) {
			if s.Kind == admin.PacketSocket {
				found = s.Addr == server.LocalAddr() && len(s.Bindings) == 1 && s.MessagesIn == 1 && s.Truncated == 1
			}
		}
		if !found {
			t.Errorf("got %+v", must.Get(b.Admin().Sockets(context.Background())))
		}
		if p := must.Get(a.Admin().Peers(context.Background())); len(p) != 1 || p[0].Node != 2 || !p[0].Up || p[0].MessagesOut != 1 || p[0].BytesOut != 5 {
			t.Errorf("got %+v", p)
		}
		rows := map[uint32]admin.ServiceStats{}
		for _, s := range must.Get(a.Admin().ServiceStats(context.Background())) {
			rows[s.Type] = s
		}
		if rows[18888].BytesOut != 5 || rows[300].Unbound == 0 {
			t.Errorf("got %+v", rows)
		}
	})
}
