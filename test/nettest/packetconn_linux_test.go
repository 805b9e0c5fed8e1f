// SPDX-License-Identifier: Apache-2.0

package nettest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

// What the table's rows have: two sockets of two nodes, or of one, and where the second
// is bound.
type sockets struct {
	here    *stack.Node
	a, b    *stack.PacketConn
	service stack.Service
}

const soon = 30 * time.Millisecond

// packetRows is what a net.PacketConn of ours promises, whatever carries its frames.
var packetRows = []struct {
	name string
	run  func(t *testing.T, s *sockets)
}{
	{"to a service, to a range, to a socket", func(t *testing.T, s *sockets) {
		for i, to := range []net.Addr{s.service, s.service.Range(), s.b.LocalAddr()} {
			want := fmt.Sprint("message ", i)
			s.send(t, want, to)
			if got, from := s.receive(t, s.b); got != want || from != s.a.LocalAddr() {
				t.Errorf("to %v: got %q from %v", to, got, from)
			}
			s.b.WriteTo([]byte("back"), s.a.LocalAddr())
			if got, from := s.receive(t, s.a); got != "back" || from != s.b.LocalAddr() {
				t.Errorf("got %q from %v", got, from)
			}
		}
	}},
	{"every length", func(t *testing.T, s *sockets) {
		for _, n := range []int{1, 2, 63, 64, 1400, 1420, 1421, 1500, 4096, 9000, 65536, 66000} {
			out := bytes.Repeat([]byte{byte(n)}, n)
			s.send(t, string(out), s.service)
			if got, _ := s.receive(t, s.b); got != string(out) {
				t.Errorf("%d bytes: got %d", n, len(got))
			}
		}
		n, err := s.a.WriteTo(make([]byte, 66001), s.service)
		if n != 0 || !errors.Is(err, stack.ErrTooLong) {
			t.Errorf("66001 bytes: got %d, %v", n, err)
		}
	}},
	{"no data is never seen", func(t *testing.T, s *sockets) {
		s.send(t, "", s.service)
		s.send(t, "x", s.service)
		if got, _ := s.receive(t, s.b); got != "x" {
			t.Errorf("got %q", got)
		}
	}},
	{"truncation", func(t *testing.T, s *sockets) {
		s.send(t, "hello", s.service)
		s.send(t, "more", s.service)
		s.send(t, "end", s.service)
		b := make([]byte, 2)
		if n, _, err := s.b.ReadFrom(b); n != 2 || string(b) != "he" || err != nil {
			t.Errorf("got %d bytes %q, %v", n, b, err)
		}
		if n, m, err := s.b.ReadMsg(nil); n != 0 || !m.Truncated || err != nil {
			t.Errorf("got %d bytes, %+v, %v", n, m, err)
		}
		if n, m, err := s.b.ReadMsg(make([]byte, 3)); n != 3 || m.Truncated || err != nil {
			t.Errorf("got %d bytes, %+v, %v", n, m, err)
		}
	}},
	{"deadline in the past", func(t *testing.T, s *sockets) {
		s.send(t, "x", s.service)
		s.wait(t, s.b)
		for _, past := range []time.Time{time.Unix(1, 0), time.Now()} {
			s.b.SetDeadline(past)
			_, _, err := s.b.ReadFrom(make([]byte, 9)) // though there is something
			timedOut(t, "read", err)
			_, err = s.b.WriteTo([]byte("x"), s.a.LocalAddr())
			timedOut(t, "write", err)
		}
		s.b.SetDeadline(time.Time{})
		if got, _ := s.receive(t, s.b); got != "x" {
			t.Errorf("got %q", got)
		}
	}},
	{"deadline in the future", func(t *testing.T, s *sockets) {
		began := time.Now()
		s.b.SetReadDeadline(began.Add(soon))
		_, _, err := s.b.ReadFrom(make([]byte, 9))
		timedOut(t, "read", err)
		if d := time.Since(began); d < soon {
			t.Errorf("after %v, want %v", d, soon)
		}
		s.b.SetReadDeadline(time.Now().Add(time.Minute))
		s.send(t, "x", s.service)
		if got, _ := s.receive(t, s.b); got != "x" {
			t.Errorf("got %q", got)
		}
		s.b.SetReadDeadline(time.Now().Add(time.Millisecond)) // of reads alone
		for until := time.Now().Add(2 * time.Millisecond); time.Now().Before(until); {
			runtime.Gosched()
		}
		if _, err := s.b.WriteTo([]byte("x"), s.a.LocalAddr()); err != nil {
			t.Error(err)
		}
	}},
	{"deadline set, moved and cleared while a call waits", func(t *testing.T, s *sockets) {
		ended := make(chan error, 1)
		reading := make(chan struct{})
		go func() {
			close(reading)
			_, _, err := s.b.ReadFrom(make([]byte, 9))
			ended <- err
		}()
		<-reading
		s.b.SetReadDeadline(time.Now().Add(time.Hour))
		s.b.SetReadDeadline(time.Time{})
		select {
		case err := <-ended:
			t.Fatal("ended without a deadline:", err)
		case <-time.After(soon):
		}
		s.b.SetReadDeadline(time.Now())
		timedOut(t, "read", <-ended)
	}},
	{"Close ends waiting calls, and all later ones", func(t *testing.T, s *sockets) {
		ended := make(chan error, 3)
		for range cap(ended) {
			go func() {
				_, _, err := s.b.ReadFrom(make([]byte, 9))
				ended <- err
			}()
		}
		select {
		case err := <-ended:
			t.Fatal(err)
		case <-time.After(soon):
		}
		if err := s.b.Close(); err != nil {
			t.Fatal(err)
		}
		for range cap(ended) {
			closed(t, "read", <-ended)
		}
		_, _, err := s.b.ReadFrom(make([]byte, 9))
		closed(t, "read", err)
		_, _, err = s.b.ReadMsg(nil)
		closed(t, "read", err)
		_, err = s.b.WriteTo([]byte("x"), s.a.LocalAddr())
		closed(t, "write", err)
		closed(t, "close", s.b.Close())
		closed(t, "bind", s.b.Bind(s.service))
		for _, set := range []func(time.Time) error{s.b.SetDeadline, s.b.SetReadDeadline, s.b.SetWriteDeadline} {
			closed(t, "set", set(time.Time{}))
		}
		closed(t, "set", s.b.SetImportance(stack.High))
		if s.b.LocalAddr() == nil || s.b.RemoteAddr() != nil || len(must.Get(s.b.Bindings(context.Background()))) != 0 {
			t.Errorf("got %v, %v, %v", s.b.LocalAddr(), s.b.RemoteAddr(), must.Get(s.b.Bindings(context.Background())))
		}
	}},
	{"addresses", func(t *testing.T, s *sockets) {
		for _, c := range []*stack.PacketConn{s.a, s.b} {
			a, ok := c.LocalAddr().(stack.SocketAddr)
			if !ok || a.Port == 0 || a.Node == 0 || a.Network() != "tipc" || !strings.HasPrefix(a.String(), "<") {
				t.Errorf("got %#v", c.LocalAddr())
			}
			if back, err := stack.ParseAddr(a.String()); err != nil || back != net.Addr(a) {
				t.Errorf("%v: got %v, %v", a, back, err)
			}
		}
		for _, to := range []net.Addr{nil, &net.UDPAddr{}, &net.UnixAddr{}} {
			n, err := s.a.WriteTo([]byte("x"), to)
			var op *net.OpError
			var wrong *net.AddrError
			if n != 0 || !errors.As(err, &op) || op.Op != "write" || !errors.As(err, &wrong) || op.Timeout() {
				t.Errorf("to %v: got %v", to, err)
			}
		}
		n, err := s.a.WriteTo([]byte("x"), stack.Service{Type: 999})
		if n != 0 || !errors.Is(err, stack.ErrUnreachable) {
			t.Errorf("to nobody: got %v", err)
		}
		if _, err := s.a.WriteTo([]byte("x"), stack.Range{Type: 18888, Lower: 2, Upper: 1}); !errors.Is(err, stack.ErrRange) {
			t.Errorf("to no range: got %v", err)
		}
	}},
	{"bindings", func(t *testing.T, s *sockets) {
		more := stack.Range{Type: 301, Lower: 5, Upper: 9}
		if err := s.a.Bind(more); err != nil {
			t.Fatal(err)
		}
		if bs := must.Get(s.a.Bindings(context.Background())); len(bs) != 1 || bs[0].Range != more || bs[0].Socket.Port != s.a.LocalAddr().(stack.SocketAddr).Port {
			t.Errorf("got %v", bs)
		}
		if err := s.a.Unbind(stack.Range{Type: 301, Lower: 5, Upper: 8}); !errors.Is(err, stack.ErrNotBound) {
			t.Errorf("another range: got %v", err)
		}
		if err := s.a.Unbind(more); err != nil || len(must.Get(s.a.Bindings(context.Background()))) != 0 {
			t.Errorf("got %v, %v", err, must.Get(s.a.Bindings(context.Background())))
		}
		for addr, want := range map[net.Addr]error{stack.Service{Type: 63}: stack.ErrReserved, stack.Range{Type: 64, Lower: 2, Upper: 1}: stack.ErrRange} {
			if err := s.a.Bind(addr); !errors.Is(err, want) {
				t.Errorf("%v: got %v, want %v", addr, err, want)
			}
		}
		if err := s.a.Bind(s.b.LocalAddr()); err == nil {
			t.Error("bound to a socket's address")
		}
	}},
	{"what comes back", func(t *testing.T, s *sockets) {
		if err := s.a.SetReturnable(true); err != nil {
			t.Fatal(err)
		}
		gone := s.b.LocalAddr()
		s.b.Close()
		s.send(t, strings.Repeat("0123456789", 300), gone)
		b := make([]byte, 4000)
		s.a.SetReadDeadline(time.Now().Add(timeout))
		n, from, err := s.a.ReadFrom(b)
		var r *stack.RejectError
		if !errors.As(err, &r) || n != 1024 || string(b[:4]) != "0123" || r.Dest.String() != gone.String() || from.String() != gone.String() {
			t.Errorf("got %d bytes from %v, %v", n, from, err)
		}
	}},
	{"many at once", func(t *testing.T, s *sockets) {
		const writers, readers, each = 4, 3, 100
		s.b.SetReceiveLimit(16 << 20)
		var wg sync.WaitGroup
		var mu sync.Mutex
		got := map[uint32]bool{}
		for range readers {
			wg.Go(func() {
				b := make([]byte, 9)
				for {
					n, _, err := s.b.ReadFrom(b)
					if err != nil {
						if !errors.Is(err, os.ErrDeadlineExceeded) {
							t.Error(err)
						}
						return
					}
					mu.Lock()
					if id := binary.BigEndian.Uint32(b[:n]); got[id] {
						t.Errorf("message %d twice", id)
					} else {
						got[id] = true
					}
					if len(got) == writers*each {
						s.b.SetReadDeadline(time.Now()) // ends all readers
					}
					mu.Unlock()
				}
			})
		}
		s.b.SetReadDeadline(time.Now().Add(timeout))
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					b := binary.BigEndian.AppendUint32(nil, uint32(w*each+i))
					if _, err := s.a.WriteTo(b, s.service); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		if len(got) != writers*each {
			t.Errorf("%d messages, want %d", len(got), writers*each)
		}
	}},
	{"reads, writes and Close at once", func(t *testing.T, s *sockets) {
		var wg sync.WaitGroup
		begun := make(chan struct{}, 100)
		for range 4 {
			wg.Go(func() {
				for {
					if _, err := s.a.WriteTo([]byte("x"), s.b.LocalAddr()); err != nil {
						closed(t, "write", err)
						return
					}
					select {
					case begun <- struct{}{}:
					default:
					}
				}
			})
			wg.Go(func() {
				_, _, err := s.a.ReadFrom(make([]byte, 9))
				closed(t, "read", err)
			})
		}
		<-begun
		s.a.Close()
		wg.Wait()
	}},
	{"the default destination", func(t *testing.T, s *sockets) {
		if _, err := s.a.Write([]byte("x")); err == nil {
			t.Error("wrote to nobody")
		}
		var c net.Conn
		c, err := s.here.DialContext(t.Context(), "tipcrdm", s.service.String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if c.RemoteAddr() != s.service {
			t.Errorf("got %v", c.RemoteAddr())
		}
		if n, err := c.Write([]byte("hello")); n != 5 || err != nil {
			t.Fatal(n, err)
		}
		if got, from := s.receive(t, s.b); got != "hello" || from != c.LocalAddr() {
			t.Errorf("got %q from %v", got, from)
		}
		s.b.WriteTo([]byte("back"), c.LocalAddr())
		b := make([]byte, 9)
		c.SetReadDeadline(time.Now().Add(timeout))
		if n, err := c.Read(b); string(b[:n]) != "back" || err != nil {
			t.Errorf("got %q, %v", b[:n], err)
		}
	}},
}

const timeout = 2 * time.Minute

func (s *sockets) send(t *testing.T, text string, to net.Addr) {
	t.Helper()
	if n, err := s.a.WriteTo([]byte(text), to); n != len(text) || err != nil {
		t.Fatalf("to %v: got %d, %v", to, n, err)
	}
}

// receive reads a message within the timeout.
func (s *sockets) receive(t *testing.T, c *stack.PacketConn) (string, net.Addr) {
	t.Helper()
	b := make([]byte, 66000)
	c.SetReadDeadline(time.Now().Add(timeout))
	n, from, err := c.ReadFrom(b)
	if err != nil {
		t.Fatal(err)
	}
	c.SetReadDeadline(time.Time{})
	return string(b[:n]), from
}

// wait returns when something waits to be read.
func (s *sockets) wait(t *testing.T, c *stack.PacketConn) {
	t.Helper()
	for until := time.Now().Add(timeout); must.Get(c.Stats(context.Background())).Queued == 0; runtime.Gosched() {
		if time.Now().After(until) {
			t.Fatal("nothing came")
		}
	}
}

// timedOut checks that err is what package net documents for a deadline.
func timedOut(t *testing.T, op string, err error) {
	t.Helper()
	var e net.Error
	var o *net.OpError
	if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &e) || !e.Timeout() || !errors.As(err, &o) || o.Op != op || o.Net != "tipcrdm" {
		t.Errorf("got %v, want a time-out of %s", err, op)
	}
}

// closed checks that err is that of a closed socket.
func closed(t *testing.T, op string, err error) {
	t.Helper()
	var e net.Error
	var o *net.OpError
	if !errors.Is(err, net.ErrClosed) || !errors.As(err, &o) || o.Op != op || o.Net != "tipcrdm" || errors.As(err, &e) && e.Timeout() {
		t.Errorf("got %v, want %s of a closed socket", err, op)
	}
}

// TestPacketConn holds packet sockets to the table, and looks for goroutines, sockets
// and bindings that are left.
//
// Proves: socket.packet
func TestPacketConn(t *testing.T) {
	for _, c := range carriers {
		t.Run(c.name, func(t *testing.T) {
			a, b := c.make(t)
			packets(t, open(t, a, 1), open(t, b, 2))
		})
	}
	t.Run("one node", func(t *testing.T) {
		a, b := onHub(t)
		n := open(t, a, 1)
		open(t, b, 2)
		packets(t, n, n)
	})
}

func packets(t *testing.T, here, there *stack.Node) {
	if err := here.WaitFor(t.Context(), stack.Service{Type: stack.NodeState, Instance: uint32(there.Addr())}); err != nil {
		t.Fatal(err)
	}
	before, socketsBefore := runtime.NumGoroutine(), len(must.Get(here.Admin().Sockets(context.Background())))+len(must.Get(there.Admin().Sockets(context.Background())))
	for i, row := range packetRows {
		t.Run(row.name, func(t *testing.T) {
			s := &sockets{here: here, service: stack.Service{Type: 18888, Instance: uint32(i)}}
			var err error
			if s.a, err = here.ListenPacket(t.Context(), "tipcrdm", nil); err != nil {
				t.Fatal(err)
			}
			defer s.a.Close()
			if s.b, err = there.ListenPacket(t.Context(), "tipcrdm", s.service); err != nil {
				t.Fatal(err)
			}
			defer s.b.Close()
			if err := here.WaitFor(t.Context(), s.service); err != nil {
				t.Fatal(err)
			}
			row.run(t, s)
		})
	}
	if n := len(must.Get(here.Admin().Sockets(context.Background()))) + len(must.Get(there.Admin().Sockets(context.Background()))); n != socketsBefore {
		t.Errorf("%d sockets, were %d", n, socketsBefore)
	}
	for until := time.Now().Add(timeout); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(until) {
			b := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, were %d:\n%s", runtime.NumGoroutine(), before, b[:runtime.Stack(b, true)])
		}
	}
}
