// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// link makes a connection of a network from b to a.
func link(t testing.TB, a, b *stack.Node, network string) (server, client *stack.Conn) {
	t.Helper()
	l, err := a.Listen(within(t), network, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return join(t, l, b, network, l.LocalAddr())
}

func join(t testing.TB, l *stack.Listener, b *stack.Node, network string, addr net.Addr) (server, client *stack.Conn) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		var err error
		if err = b.WaitFor(within(t), stack.Service{Type: stack.NodeState, Instance: uint32(l.LocalAddr().(stack.SocketAddr).Node)}); err == nil {
			client, err = b.Dial(within(t), network, addr)
		}
		if err != nil {
			l.Close()
		}
		done <- err
	}()
	server, err := l.AcceptConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return server, client
}

func send(t testing.TB, c net.Conn, b []byte) {
	t.Helper()
	if n, err := c.Write(b); n != len(b) || err != nil {
		t.Fatalf("wrote %d of %d: %v", n, len(b), err)
	}
}

// random is n bytes that are the same every time.
func random(n int) []byte {
	b := make([]byte, n)
	src := rand.NewChaCha8([32]byte{byte(n)})
	src.Read(b)
	return b
}

func twoAndOne(t *testing.T, test func(t *testing.T, a, b *stack.Node)) {
	t.Run("two nodes", func(t *testing.T) {
		a, b := pair(t, stack.Config{})
		test(t, a, b)
	})
	t.Run("one node", func(t *testing.T) {
		a, _ := pair(t, stack.Config{})
		test(t, a, a)
	})
}

// Proves: socket.conn
func TestConnMessages(t *testing.T) {
	t.Parallel()
	twoAndOne(t, func(t *testing.T, a, b *stack.Node) {
		l, err := a.Listen(within(t), "tipcpacket", echoService)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.WaitFor(within(t), echoService); err != nil {
			t.Fatal(err)
		}
		server, client := join(t, l, b, "tipcpacket", echoService)
		if name, ok := client.Service(); !ok || name != echoService || client.RemoteAddr() != server.LocalAddr() {
			t.Errorf("connected to %v by %v, which is %v", client.RemoteAddr(), name, server.LocalAddr())
		}
		got := make([]byte, frame.MaxPayload)
		for _, size := range []int{1, 2, 999, 1000, 1400, 1500, 8000, 65999, 66000} {
			want := random(size)
			for _, way := range [][2]*stack.Conn{{client, server}, {server, client}} {
				send(t, way[0], want)
				if n, err := way[1].Read(got); err != nil || !bytes.Equal(got[:n], want) {
					t.Fatalf("%d bytes came as %d: %v", size, n, err)
				}
			}
		}
		if _, err := client.Write(make([]byte, 66001)); !errors.Is(err, stack.ErrTooLong) || !errors.Is(err, syscall.EMSGSIZE) {
			t.Errorf("a message of 66001 bytes: %v", err)
		}
		send(t, client, []byte("too long"))
		if n, size, err := server.ReadMsg(got[:3]); n != 3 || size != 8 || err != nil {
			t.Errorf("read %d of %d: %v", n, size, err)
		}
		client.Close()
		if _, err := server.Read(got); err != io.EOF {
			t.Errorf("after the peer's close: %v", err)
		}
	})
}

// Proves: socket.conn
func TestConnStream(t *testing.T) {
	t.Parallel()
	twoAndOne(t, func(t *testing.T, a, b *stack.Node) {
		server, client := link(t, a, b, "tipc")
		want := random(1<<20 + 17)
		go func() {
			client.Write(want)
			client.Close()
		}()
		got, err := io.ReadAll(server)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("read %d of %d bytes: %v", len(got), len(want), err)
		}
		if _, err := server.Read(got); err != io.EOF {
			t.Errorf("the second end: %v", err)
		}
		if _, err := server.Write(got); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("wrote to a closed peer: %v", err)
		}
	})
}

// Writes of several goroutines stay whole, also those that take many messages.
//
// Proves: socket.conn
func TestConnWritesAreWhole(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	server, client := link(t, a, b, "tipc")
	const writers, each, size = 4, 5, 150_000
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for range each {
				if _, err := client.Write(bytes.Repeat([]byte{byte(i)}, size)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { all.Wait(); client.Close() }()
	got, err := io.ReadAll(server)
	if err != nil || len(got) != writers*each*size {
		t.Fatalf("read %d bytes: %v", len(got), err)
	}
	for ; len(got) > 0; got = got[size:] {
		if !bytes.Equal(got[:size], bytes.Repeat(got[:1], size)) {
			t.Fatal("a write is mixed with another")
		}
	}
}

// untilBlocked writes until that has waited for the peer until its deadline, and returns how
// often it did not. A write that begins after its deadline, or waits for the link, has the next
// deadline come later.
func untilBlocked(t *testing.T, c interface{ SetWriteDeadline(time.Time) error }, write func() error) (sent int, blocked *stack.BlockedError) {
	t.Helper()
	for wait := 20 * time.Millisecond; wait < testTimeout; {
		c.SetWriteDeadline(time.Now().Add(wait))
		err := write()
		if err == nil {
			sent++
			continue
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("after %d: %v", sent, err)
		}
		if errors.As(err, &blocked) && blocked.Peer.Port != 0 {
			return sent, blocked
		}
		wait *= 2
	}
	t.Fatalf("after %d nothing says that it waits for the peer", sent)
	return
}

// A reader that stops holds its writer back, who learns why.
//
// Proves: socket.conn, socket.deadlines
func TestConnReaderStops(t *testing.T) {
	t.Parallel()
	twoAndOne(t, func(t *testing.T, a, b *stack.Node) {
		server, client := link(t, a, b, "tipcpacket")
		sent, blocked := untilBlocked(t, client, func() error { _, err := client.Write(make([]byte, 1000)); return err })
		if blocked.Peer != client.RemoteAddr() || blocked.Unacked <= blocked.Window || !blocked.Blocks {
			t.Errorf("blocked: %+v", blocked)
		}
		client.SetWriteDeadline(time.Time{})
		done := make(chan error, 1)
		go func() {
			_, err := client.Write(make([]byte, 1000))
			done <- err
		}()
		for i := range sent + 1 { // but those that failed
			if i == sent {
				if err := <-done; err != nil {
					t.Fatal(err)
				}
			}
			if _, err := server.Read(make([]byte, 2000)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Proves: socket.conn
func TestConnEnds(t *testing.T) {
	t.Parallel()
	twoAndOne(t, func(t *testing.T, a, b *stack.Node) {
		server, client := link(t, a, b, "tipcpacket")
		send(t, client, []byte("last"))
		client.Abort()
		got := make([]byte, 10)
		if n, err := server.Read(got); err != nil || string(got[:n]) != "last" {
			t.Errorf("read %q: %v", got[:n], err)
		}
		for range 2 {
			if _, err := server.Read(got); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("after an abort: %v", err)
			}
			if _, err := server.Write(got); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("written after an abort: %v", err)
			}
		}
		for _, call := range []func() error{
			func() error { _, err := client.Read(got); return err },
			func() error { _, err := client.Write(got); return err },
			client.Close, client.Abort,
			func() error { return client.SetDeadline(time.Time{}) },
		} {
			if err := call(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("use after Abort: %v", err)
			}
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Proves: socket.conn
func TestConnPeerNodeLost(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	server, client := link(t, a, b, "tipc")
	waits := make(chan error, 1)
	go func() {
		_, err := client.Read(make([]byte, 1))
		waits <- err
	}()
	_ = server
	a.Close(within(t))
	if err := <-waits; err != io.EOF {
		t.Errorf("the peer's node was closed: %v", err)
	}
}

// Proves: socket.conn
func TestDialErrors(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	l, err := a.Listen(within(t), "tipc", nil)
	if err != nil {
		t.Fatal(err)
	}
	nobody := stack.Service{Type: 4711, Instance: 1}
	gone := l.LocalAddr()
	packet := listen(t, a, nil)
	if err := b.WaitFor(within(t), stack.Service{Type: stack.NodeState, Instance: uint32(a.Addr())}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		network string
		addr    net.Addr
		config  stack.SocketConfig
		want    error
	}{
		{"unknown network", "tcp", nobody, stack.SocketConfig{}, net.UnknownNetworkError("tcp")},
		{"nobody has the name", "tipc", nobody, stack.SocketConfig{}, stack.ErrUnreachable},
		{"nobody has it in time", "tipc", nobody, stack.SocketConfig{NameWait: time.Millisecond}, stack.ErrUnreachable},
		{"no such node", "tipc", stack.SocketAddr{Port: 1, Node: 0x1009009}, stack.SocketConfig{}, stack.ErrUnreachable},
		{"no such socket", "tipc", stack.SocketAddr{Port: 1, Node: a.Addr()}, stack.SocketConfig{}, syscall.ECONNREFUSED},
		{"no such socket here", "tipc", stack.SocketAddr{Port: 1, Node: b.Addr()}, stack.SocketConfig{}, syscall.ECONNREFUSED},
		{"a socket that does not listen", "tipcpacket", packet.LocalAddr(), stack.SocketConfig{DialTimeout: 50 * time.Millisecond}, os.ErrDeadlineExceeded},
		{"nobody accepts", "tipc", gone, stack.SocketConfig{DialTimeout: 50 * time.Millisecond}, os.ErrDeadlineExceeded},
	} {
		if _, err := c.config.Dial(within(t), b, c.network, c.addr); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	l.Close()
	if _, err := b.Dial(within(t), "tipc", gone); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the listener is closed: %v", err)
	}
	ctx, cancel := context.WithCancel(within(t))
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := b.Dial(ctx, "tipc", packet.LocalAddr()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// What goes with the request is the first message.
//
// Proves: socket.conn
func TestDialWith(t *testing.T) {
	t.Parallel()
	twoAndOne(t, func(t *testing.T, a, b *stack.Node) {
		l, err := a.Listen(within(t), "tipcpacket", echoService)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			c, err := stack.SocketConfig{NameWait: testTimeout, Importance: stack.High}.DialWith(within(t), b, "tipcpacket", echoService, []byte("first"))
			if err == nil {
				_, err = c.Write([]byte("second"))
			}
			done <- err
		}()
		c, err := l.AcceptConn()
		if err != nil {
			t.Fatal(err)
		}
		if c.Importance() != stack.High {
			t.Errorf("importance %v", c.Importance())
		}
		got := make([]byte, 10)
		for _, want := range []string{"first", "second"} {
			if n, err := c.Read(got); err != nil || string(got[:n]) != want {
				t.Errorf("read %q, want %q: %v", got[:n], want, err)
			}
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// Proves: socket.conn
func TestListenerEnds(t *testing.T) {
	a, _ := pair(t, stack.Config{})
	l, err := a.Listen(within(t), "tipc", nil)
	if err != nil {
		t.Fatal(err)
	}
	l.SetDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := l.Accept(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	l.SetDeadline(time.Time{})
	done := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		done <- err
	}()
	l.Close()
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed again: %v", err)
	}
	if err := l.Bind(echoService); !errors.Is(err, net.ErrClosed) {
		t.Errorf("bound after Close: %v", err)
	}
}

// A peer that closes at once has accepted all the same.
//
// Proves: socket.conn
func TestDialToWhoClosesAtOnce(t *testing.T) {
	t.Parallel()
	twoAndOne(t, func(t *testing.T, a, b *stack.Node) {
		l, err := a.Listen(within(t), "tipc", nil)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Close()
			}
		}()
		if err := b.WaitFor(within(t), stack.Service{Type: stack.NodeState, Instance: uint32(a.Addr())}); err != nil {
			t.Fatal(err)
		}
		for range 200 {
			c, err := b.Dial(within(t), "tipc", l.LocalAddr())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Read(make([]byte, 1)); err != io.EOF {
				t.Fatalf("read: %v", err)
			}
			c.Close()
		}
	})
}

// Who writes, closes and ends his node has sent all: what waits for the peer to read, or
// is collected, too.
//
// Proves: socket.close
func TestNodeCloseSendsAll(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"tipc", "tipcpacket"} {
		t.Run(network, func(t *testing.T) {
			h := hub.New(hub.Config{})
			a, b := openOn(t, h, 1, stack.Config{}), openOn(t, h, 2, stack.Config{})
			server, client := link(t, a, b, network)
			const messages, size = 10_000, 10
			got := make(chan int, 1)
			go func() {
				sum := 0
				buf := make([]byte, 4096)
				for {
					n, err := server.Read(buf)
					if err != nil {
						if err != io.EOF {
							t.Error(err)
						}
						got <- sum
						return
					}
					sum += n
				}
			}()
			for range messages {
				send(t, client, make([]byte, size))
			}
			if err := client.Close(); err != nil {
				t.Error(err)
			}
			if err := b.Close(within(t)); err != nil {
				t.Error(err)
			}
			if n := <-got; n != messages*size {
				t.Errorf("%d of %d bytes arrived", n, messages*size)
			}
		})
	}
}

// SetNoDelay lets short writes go one by one: a reader that asks for them one by one
// gets the next without having answered.
//
// Proves: socket.nagle
func TestConnNoDelay(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	server, client := link(t, a, b, "tipc")
	for _, on := range []bool{true, false, true} {
		if err := client.SetNoDelay(on); err != nil {
			t.Fatal(err)
		}
	}
	server.SetReadDeadline(time.Now().Add(testTimeout))
	for range 1000 {
		send(t, client, []byte("x"))
		if n, err := server.Read(make([]byte, 10)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	client.Close()
	if err := client.SetNoDelay(false); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
