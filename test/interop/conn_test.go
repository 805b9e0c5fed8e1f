// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/nettest"

	"github.com/utipc/utipc/frame"
	musthave "github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

// commander returns what has a kernel carry out commands of package play.
func (b *bed) commander() func(line string) <-chan string {
	b.t.Helper()
	program, err := newGuestProgram(b.ctx, b.kernel)
	must(b.t, err)
	return guestPart{program, "1", true}.do
}

// done waits for an answer, which must be the one wanted.
func (b *bed) done(answer <-chan string, want string) {
	b.t.Helper()
	select {
	case got := <-answer:
		if got != want {
			b.t.Fatalf("got %q, want %q", got, want)
		}
	case <-b.ctx.Done():
		b.t.Fatalf("no answer, want %q: %v", want, b.ctx.Err())
	}
}

// kernelListens has a kernel listen, under a new name, as socket L and that name.
func (b *bed) kernelListens(do func(string) <-chan string, kind string, instance uint32) stack.Service {
	b.t.Helper()
	svc := stack.Service{Type: scriptType, Instance: instance}
	l := fmt.Sprint("L", instance)
	for _, line := range []string{l + " open " + kind, l + " bind " + svc.String(), l + " listen"} {
		b.done(do(line), "ok")
	}
	b.ours(svc)
	return svc
}

// dial connects to a kernel that accepts, as socket S and the instance.
func (b *bed) dial(do func(string) <-chan string, network string, svc stack.Service) *stack.Conn {
	b.t.Helper()
	accepted := do(fmt.Sprintf("L%d accept S%[1]d", svc.Instance))
	c, err := b.node.Dial(b.ctx, network, svc)
	must(b.t, err)
	b.done(accepted, "ok")
	return c
}

// Our connections with a kernel: what needs more than a script.
//
// Proves: socket.conn, socket.close
func TestConnWithKernel(t *testing.T) {
	b := linked(t, 15*time.Minute)
	do := b.commander()
	for _, tt := range []struct {
		name string
		test func(b *bed, do func(string) <-chan string)
	}{
		{"as net.Conn, stream", func(b *bed, _ func(string) <-chan string) { b.relayed("tipc", 4) }},
		{"as net.Conn, seqpacket", func(b *bed, _ func(string) <-chan string) { b.relayed("tipcpacket", 5, "-1") }},
		{"small writes", (*bed).smallWrites},
		{"write, close, exit", (*bed).writeCloseExit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sub := *b
			sub.t = t
			tt.test(&sub, do)
		})
	}
}

// relayed tests that connections of ours which a kernel joins in pairs, handing on what
// comes, behave as those of package net do.
func (b *bed) relayed(network string, instance uint32, words ...string) {
	svc := stack.Service{Type: scriptType + 1, Instance: instance}
	b.job(append([]string{"relay", fmt.Sprint(svc.Type), fmt.Sprint(instance)}, words...)...)
	b.ours(svc)
	nettest.TestConn(b.t, func() (c1, c2 net.Conn, stop func(), err error) {
		var ends [2]*stack.Conn
		for i := range ends {
			if ends[i], err = b.node.Dial(b.ctx, network, svc); err != nil {
				return nil, nil, nil, err
			}
		}
		return ends[0], ends[1], func() {
			for _, c := range ends {
				if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
					b.t.Error(err)
				}
			}
		}, nil
	})
}

// smallWrites counts the messages that a kernel makes of small writes: far fewer than
// there are writes while an answer takes its time, if the socket is not told TIPC_NODELAY.
// Source: docs/spec/07-sockets.md §5.3.
func (b *bed) smallWrites(do func(string) <-chan string) {
	svc := b.kernelListens(do, "stream", 1)
	c := b.dial(do, "tipc", svc)
	defer c.Close()
	// An answer takes longer than some writes.
	b.run("tc2 qdisc add dev eth0 root netem delay 50ms")
	defer b.run("tc2 qdisc del dev eth0 root")
	const writes, size = 2000, 10
	pour := func() int {
		before := musthave.Get(b.node.Admin().Stats(context.Background())).MessagesIn
		poured := do(fmt.Sprintf("S1 pour %d %d", writes*size, size))
		in := make([]byte, 66000)
		for got := 0; got < writes*size; {
			n, err := c.Read(in)
			must(b.t, err)
			got += n
		}
		b.done(poured, fmt.Sprintf("%d bytes", writes*size))
		return int(musthave.Get(b.node.Admin().Stats(context.Background())).MessagesIn - before)
	}
	if n := pour(); n > writes/2 {
		b.t.Errorf("%d writes became %d messages", writes, n)
	}
	b.done(do("S1 set nodelay 1"), "ok")
	if n := pour(); n < writes {
		b.t.Errorf("%d writes became %d messages, with TIPC_NODELAY", writes, n)
	}
}

// writeCloseExit tests that a kernel's process gets all that was written before a
// connection was closed and the node with it: the program that wrote waits for nothing
// else. A connection that was left open ends in order.
func (b *bed) writeCloseExit(do func(string) <-chan string) {
	const messages, size = 10000, 100
	c := b.dial(do, "tipcpacket", b.kernelListens(do, "seqpacket", 2))
	left := b.dial(do, "tipcpacket", b.kernelListens(do, "seqpacket", 3))
	drained := do(fmt.Sprintf("S2 drain all %d", size))
	writeBytes(b.t, c, messages*size, size)
	must(b.t, c.Close())
	_, err := left.Write([]byte("x"))
	must(b.t, err)
	// A test before this one may have closed a connection whose kernel's process was gone: what
	// was lost there is reported here. That nothing of ours is, the kernel says.
	if err := b.node.Close(b.ctx); err != nil && !errors.As(err, new(*stack.UnsentError)) {
		b.t.Fatal(err)
	}
	b.done(drained, fmt.Sprintf("%d bytes, then end", messages*size))
	b.done(do("S3 end"), "1 bytes")
	b.done(do("S3 end"), "end")
}

// A kernel that dies takes its connections with it: reads and writes here end, each time
// they are tried. A kernel that comes back can be dialed again.
//
// Proves: socket.conn
func TestConnKernelDies(t *testing.T) {
	b := linked(t, 15*time.Minute)
	hello := func() *stack.Conn {
		b.job("listen-seqpacket", "18889", "4", "-q")
		b.ours(kernelService)
		c, err := b.node.Dial(b.ctx, "tipcpacket", kernelService)
		must(t, err)
		_, err = c.Write([]byte("hello"))
		must(t, err)
		in := make([]byte, 100)
		n, err := c.Read(in)
		if err != nil || string(in[:n]) != "hello" {
			t.Fatalf("got %q, %v", in[:n], err)
		}
		return c
	}
	c := hello()
	defer c.Close()
	b.kill()
	for range 2 {
		_, err := c.Read(make([]byte, 100))
		var lost *stack.ConnError
		if !errors.As(err, &lost) || !errors.Is(err, syscall.ECONNRESET) || !errors.Is(err, stack.ErrUnreachable) || lost.Code != frame.NoNode {
			t.Errorf("read after the kernel died: got %v", err)
		}
		if _, err := c.Write([]byte("hello")); !errors.Is(err, stack.ErrUnreachable) {
			t.Errorf("write after the kernel died: got %v", err)
		}
	}
	b.boot()
	b.contact()
	hello().Close()
}
