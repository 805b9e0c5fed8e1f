// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// serveAll answers what comes to all sockets of a Poller, all in the calling goroutine,
// until it is closed.
func serveAll(p *stack.Poller) error {
	ready := make([]*stack.Polled, 3) // fewer than there are
	buf := make([]byte, 66000)
	for {
		k, err := p.Wait(ready)
		if err != nil {
			return err
		}
		for _, s := range ready[:k] {
			if err := serveOne(p, s, buf); err != syscall.EAGAIN && err != io.EOF && !errors.Is(err, net.ErrClosed) {
				return err
			}
		}
	}
}

func serveOne(p *stack.Poller, s *stack.Polled, buf []byte) error {
	for {
		switch c := s.Owner.(type) {
		case *stack.PacketConn:
			k, m, err := c.TryReadMsg(buf)
			if err != nil {
				return err
			}
			if _, err := c.TryWriteTo(buf[:k], m.From); err != nil {
				return err
			}
		case *stack.Listener:
			x, err := c.TryAccept()
			if err != nil {
				return err
			}
			p.Add(x, x)
		case *stack.Conn:
			k, _, err := c.TryReadMsg(buf)
			if err != nil {
				return err
			}
			if _, err := c.TryWrite(buf[:k]); err != nil {
				return err
			}
		case *stack.Group:
			k, m, err := c.TryReadMsg(buf)
			if err != nil {
				return err
			}
			if m.Kind == stack.GroupData {
				if _, err := c.TryWriteTo(buf[:k], m.From); err != nil {
					return err
				}
			}
		}
	}
}

// One goroutine serves sockets of all kinds, here and from another node.
//
// Proves: daemon.sleeps
func TestPollerServesMany(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	p, err := b.NewPoller()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		c := listen(t, b, stack.Service{Type: 18888, Instance: uint32(i)})
		p.Add(c, c)
	}
	for _, network := range []string{"tipc", "tipcpacket"} {
		l, err := b.Listen(within(t), network, stack.Service{Type: 18889, Instance: uint32(len(network))})
		if err != nil {
			t.Fatal(err)
		}
		p.Add(l, l)
	}
	g, err := b.Join(within(t), stack.Service{Type: 4242, Instance: 1})
	if err != nil {
		t.Fatal(err)
	}
	p.Add(g, g)
	done := make(chan error, 1)
	go func() { done <- serveAll(p) }()

	for _, n := range []*stack.Node{a, b} {
		for i := range 8 {
			if err := n.WaitFor(within(t), stack.Service{Type: 18888, Instance: uint32(i)}); err != nil {
				t.Fatal(err)
			}
			req, resp := fmt.Append(nil, "to ", i), make([]byte, 10)
			if k, _, err := n.Call(within(t), stack.Service{Type: 18888, Instance: uint32(i)}, req, resp); err != nil || string(resp[:k]) != string(req) {
				t.Fatalf("got %q, %v", resp[:k], err)
			}
		}
		for _, network := range []string{"tipc", "tipcpacket"} {
			to := stack.Service{Type: 18889, Instance: uint32(len(network))}
			if err := n.WaitFor(within(t), to); err != nil {
				t.Fatal(err)
			}
			c, err := n.Dial(within(t), network, to)
			if err != nil {
				t.Fatal(err)
			}
			c.SetDeadline(time.Now().Add(testTimeout))
			for k := range 100 {
				buf := fmt.Append(nil, network, 100+k)
				if _, err := c.Write(buf); err != nil {
					t.Fatal(err)
				}
				got := make([]byte, len(buf))
				if _, err := io.ReadFull(c, got); err != nil || string(got) != string(buf) {
					t.Fatalf("got %q, %v", got, err)
				}
			}
			c.Close()
		}
		m, err := n.Join(within(t), stack.Service{Type: 4242, Instance: 2})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.WaitMembers(within(t), 1); err != nil {
			t.Fatal(err)
		}
		m.SetDeadline(time.Now().Add(testTimeout))
		if _, err := m.Write([]byte("all")); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 10)
		if k, from, err := m.ReadFrom(got); err != nil || string(got[:k]) != "all" || from != g.LocalAddr() {
			t.Fatalf("got %q from %v, %v", got[:k], from, err)
		}
		m.Close()
	}
	p.Close()
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// Who sends between Enter and Leave takes what he has made ready himself; what he leaves
// wakes who waits.
//
// Proves: daemon.sleeps
func TestPollerEnterTakeLeave(t *testing.T) {
	t.Parallel()
	a, _ := pair(t, stack.Config{})
	p, err := a.NewPoller()
	if err != nil {
		t.Fatal(err)
	}
	to, from := listen(t, a, nil), listen(t, a, nil)
	s := p.Add(to, "to")
	ready := make([]*stack.Polled, 4)
	if k := p.Take(ready); k != 1 || ready[0] != s || s.Owner != "to" {
		t.Fatalf("added: got %d, %v", k, ready[0])
	}
	if k := p.Take(ready); k != 0 {
		t.Fatalf("got %d", k)
	}
	buf := make([]byte, 10)
	if _, _, err := to.TryReadMsg(buf); err != syscall.EAGAIN {
		t.Errorf("got %v", err)
	}
	waited := make(chan int, 1)
	wait := func() {
		k, _ := p.Wait(make([]*stack.Polled, 4))
		waited <- k
	}
	go wait()
	waits := true
	for i := range 100 {
		hosting.Enter(p)
		if _, err := from.WriteTo([]byte("x"), to.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		if p.Take(ready) == 0 {
			if !waits {
				t.Fatalf("message %d: nobody else takes, and it is not there", i)
			}
			select { // Wait looks once before it sleeps, and may have begun just now
			case k := <-waited:
				if waits = false; k != 1 {
					t.Fatalf("message %d: waited for %d", i, k)
				}
			case <-within(t).Done():
				t.Fatalf("message %d: nobody took it", i)
			}
		}
		if _, _, err := to.TryReadMsg(buf); err != nil {
			t.Fatal(err)
		}
		hosting.Leave(p)
	}
	if !waits {
		go wait()
	}
	hosting.Enter(p)
	if _, err := from.WriteTo([]byte("x"), to.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	hosting.Leave(p)
	select {
	case k := <-waited:
		if k != 1 {
			t.Errorf("waited for %d", k)
		}
	case <-within(t).Done():
		t.Error("what was left is not told")
	}
	s.Again()
	if k := p.Take(ready); k != 1 {
		t.Errorf("again: got %d", k)
	}
	to.Close()
	if k := p.Take(ready); k != 1 {
		t.Errorf("closed: got %d", k)
	}
	if _, _, err := to.TryReadMsg(buf); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// A Try call that would have to wait says so, and succeeds when the Poller says that the
// other end has read.
//
// Proves: daemon.sleeps
func TestTryWriteIsRefusedNotBlocked(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	client, server := link(t, a, b, "tipcpacket") // of a and of b
	data := make([]byte, 60000)
	var err error
	n := 0
	for ; err == nil; n++ {
		_, err = client.TryWrite(data)
	}
	if err != syscall.EAGAIN || n < 2 {
		t.Fatalf("after %d: %v", n, err)
	}
	if _, _, err := client.TryReadMsg(data); err != syscall.EAGAIN {
		t.Errorf("got %v", err)
	}
	server.Close()
	p, err := a.NewPoller()
	if err != nil {
		t.Fatal(err)
	}
	p.Add(client, nil)
	for {
		if _, err := p.Wait(make([]*stack.Polled, 1)); err != nil {
			t.Fatal(err)
		}
		_, _, err := client.TryReadMsg(data)
		if err == io.EOF {
			break
		}
		if err != syscall.EAGAIN {
			t.Fatal(err)
		}
	}
	if _, err := client.TryWrite(data); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %v", err)
	}
}
