// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// testTimeout is how long a test waits for what must happen.
const testTimeout = 2 * time.Minute

// steady is the tolerance of links between nodes on the system's clock: however long the
// machine keeps one of two nodes from its processor, a link is not lost for that.
const steady = 30 * time.Second

var echoService = stack.Service{Type: 18888, Instance: 17}

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	t.Cleanup(cancel)
	return ctx
}

// openOn opens a node on a port of its own on h.
func openOn(t testing.TB, h *hub.Hub, i int, cfg stack.Config) *stack.Node {
	t.Helper()
	port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i)})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Bearers = []stack.Bearer{port}
	if cfg.Address == 0 {
		cfg.Address = stack.NodeAddr(0x1001000 + i)
	}
	if cfg.Tolerance == 0 {
		cfg.Tolerance = steady
	}
	sealed := len(sealedWith.Keys) > 0
	if sealed {
		cfg.Encryption = sealedWith
	}
	n, err := stack.Open(within(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if x := must.Get(n.Admin().Encryption(context.Background())); sealed && (!x.Working && x.Keys.Sealed == 0 || len(x.Peers) > 0 && (x.Keys.Sealed == 0 || x.Keys.Opened == 0) || x.PlainDropped != 0) {
			t.Errorf("node %d: not all went sealed: %+v", i, x)
		}
		if err := n.Close(within(t)); err != nil {
			t.Errorf("close node %d: %v", i, err)
		}
		if s := must.Get(n.Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal {
			t.Errorf("node %d: %d of %d chunks came back", i, s.ChunksFree, s.ChunksTotal)
		}
	})
	return attachedIfSo(t, n)
}

func pair(t testing.TB, cfg stack.Config) (a, b *stack.Node) {
	h := hub.New(hub.Config{})
	return openOn(t, h, 1, cfg), openOn(t, h, 2, cfg)
}

func listen(t testing.TB, n *stack.Node, addr net.Addr) *stack.PacketConn {
	t.Helper()
	c, err := n.ListenPacket(within(t), "tipcrdm", addr)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// echo answers everything that arrives at c until it is closed.
func echo(t testing.TB, c *stack.PacketConn) {
	var wg sync.WaitGroup
	wg.Go(func() {
		b := make([]byte, 2048)
		for {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				if !errors.Is(err, net.ErrClosed) {
					t.Errorf("echo: %v", err)
				}
				return
			}
			if _, err := c.WriteTo(b[:n], from); err != nil {
				t.Errorf("echo: %v", err)
				return
			}
		}
	})
	t.Cleanup(func() { c.Close(); wg.Wait() })
}

// echoed has a socket of b answer at echoService, and returns one of a, which knows it.
func echoed(t testing.TB, a, b *stack.Node) *stack.PacketConn {
	t.Helper()
	echo(t, listen(t, b, echoService))
	if err := a.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	c := listen(t, a, nil)
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(testTimeout))
	return c
}

func TestEchoByName(t *testing.T) {
	t.Parallel()
	for _, wait := range []stack.WaitMode{stack.Adaptive, stack.Sleep, stack.Spin} {
		t.Run(fmt.Sprint(wait), func(t *testing.T) {
			a, b := pair(t, stack.Config{Wait: wait})
			c := echoed(t, a, b)
			buf := make([]byte, 2048)
			for i := range 300 {
				msg := fmt.Appendf(nil, "message %d %0*d", i, i, 0)
				if _, err := c.WriteTo(msg, echoService); err != nil {
					t.Fatal(err)
				}
				n, from, err := c.ReadFrom(buf)
				if err != nil || string(buf[:n]) != string(msg) {
					t.Fatalf("got %q %v, want %q", buf[:n], err, msg)
				}
				if s := from.(stack.SocketAddr); s.Node != b.Addr() {
					t.Fatalf("answer from %v", from)
				}
			}
		})
	}
}

func TestReadDeadline(t *testing.T) {
	a, _ := pair(t, stack.Config{})
	c := listen(t, a, nil)
	defer c.Close()
	c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	_, _, err := c.ReadFrom(make([]byte, 10))
	var ne net.Error
	if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &ne) || !ne.Timeout() {
		t.Errorf("got %v, want a timeout", err)
	}
}

func TestManySendersAndReaders(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	const senders, each = 8, 2000
	server := listen(t, b, echoService)
	if err := a.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	c := listen(t, a, nil)
	defer c.Close()
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				if _, err := c.WriteTo(fmt.Appendf(nil, "%d %d", s, i), echoService); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	var mu sync.Mutex
	got := map[int]int{} // messages per sender
	total := 0
	for range 3 {
		wg.Go(func() {
			buf := make([]byte, 64)
			for {
				mu.Lock()
				done := total == senders*each
				mu.Unlock()
				if done {
					server.SetReadDeadline(time.Unix(1, 0))
				}
				n, _, err := server.ReadFrom(buf)
				if errors.Is(err, os.ErrDeadlineExceeded) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				var s, i int
				fmt.Sscan(string(buf[:n]), &s, &i)
				mu.Lock()
				got[s]++
				total++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for s := range senders {
		if got[s] != each {
			t.Errorf("sender %d: got %d messages, want %d", s, got[s], each)
		}
	}
	server.Close()
}
