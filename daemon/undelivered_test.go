// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
)

// A message that the send buffer of the program's socket is too small for is written all
// the same, and those after it: the buffer is made larger. The mutation: trySend does not
// widen the buffer.
func TestSmallSendBuffer(t *testing.T) {
	b := newBed(t, daemon.Config{})
	near, fd, err := attach.Pair()
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := near.SyscallConn()
	b.srv.ServeConn(near)
	remote, err := attach.NewConn(fd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remote.Close() })
	remote.SetDeadline(time.Now().Add(testTimeout))
	p := &program{t: t, c: remote}
	p.must(attach.HelloRequest(1, 0, "test"))
	raw.Control(func(fd uintptr) { unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF, 8000) })
	own := p.socket(attach.KindRDM)
	q := b.program(t)
	q.socket(attach.KindRDM)
	sizes := []int{100, 40000, 200, attach.MaxData}
	for _, n := range sizes {
		q.send(attach.Header{Op: attach.OpSend, Addr: own}, make([]byte, n))
	}
	for _, n := range sizes {
		if r := p.read(); len(r.data) != n {
			t.Errorf("got %d bytes, want %d", len(r.data), n)
		}
	}
	waitFor(t, func() bool { return b.srv.Counters().Messages == uint64(len(sizes)) })
	if c := b.srv.Counters(); c.Undelivered != 0 {
		t.Errorf("%+v", c)
	}
}

// shutRead makes the program's socket take nothing more, while the program stays.
func (p *program) shutRead() {
	raw, err := p.c.SyscallConn()
	if err != nil {
		p.t.Fatal(err)
	}
	raw.Control(func(fd uintptr) { unix.Shutdown(int(fd), unix.SHUT_RD) })
}

// A datagram that the program's socket does not take any more goes back to its sender, and
// the socket ends. The mutation: pass takes such an error for "there is no more".
func TestUndeliveredDatagram(t *testing.T) {
	t.Parallel()
	b := newBed(t, daemon.Config{})
	p := b.program(t)
	to, _ := p.socket(attach.KindRDM).Socket()
	c := b.sender(t)
	p.shutRead()
	if _, err := c.WriteTo([]byte("hello"), to); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	k, _, err := c.ReadFrom(buf)
	var reject *stack.RejectError
	if !errors.As(err, &reject) || reject.Code != frame.NoPort || string(buf[:k]) != "hello" {
		t.Errorf("got %q, %v, want the message back", buf[:k], err)
	}
	waitFor(t, func() bool { c := b.srv.Counters(); return c.Undelivered == 1 && c.Connections == 0 })
}

// A connection whose program's socket takes nothing more ends, and the peer reads a reset.
// The mutation: as of TestUndeliveredDatagram.
func TestUndeliveredOfConnection(t *testing.T) {
	t.Parallel()
	b := newBed(t, daemon.Config{})
	p, c := b.connected(t, attach.KindStream)
	p.shutRead()
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 100)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a reset", err)
	}
	waitFor(t, func() bool { c := b.srv.Counters(); return c.Undelivered == 1 && c.Connections == 0 })
}

// What has come out of the node and waits for a program that does not read goes back to its
// sender when that program is gone, as what waits in the node does. The mutation: drain
// drops the record that was left.
func TestStalledDatagramReturns(t *testing.T) {
	t.Parallel()
	for _, ring := range []bool{false, true} {
		b := newBed(t, daemon.Config{})
		p := b.program(t)
		to, _ := p.socket(attach.KindRDM).Socket()
		if ring {
			p.useRing(0)
		}
		c := b.sender(t)
		data, sent := make([]byte, 60000), uint64(0)
		for b.srv.Counters().Stalled == 0 || sent < b.srv.Counters().Messages+4 {
			if _, err := c.WriteTo(data, to); err != nil {
				t.Fatal(err)
			}
			sent++
			waitFor(t, func() bool { c := b.srv.Counters(); return c.Messages == sent || c.Stalled > 0 })
		}
		p.c.Close()
		for back := b.srv.Counters().Messages; back < sent; back++ {
			var reject *stack.RejectError
			if _, _, err := c.ReadFrom(make([]byte, 100)); !errors.As(err, &reject) {
				t.Fatalf("ring %v: %d of %d were written to the program or came back, then %v", ring, back, sent, err)
			}
		}
	}
}
