// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
)

// With AcceptAhead a Dial returns before Accept is called, and what it writes, and its end, are read
// when it is; more than the backlog are asked again, and the close of the listener resets those that
// wait. Mutations it catches: local.Listen leaves Ahead out; optionsOf leaves OptAcceptAhead out;
// the poll names connections that nobody has, and panics.
//
// Proves: socket.ahead
func TestAcceptAhead(t *testing.T) {
	t.Parallel()
	twoAndOne(t, func(t *testing.T, a, b *stack.Node) {
		ctx := within(t)
		l, err := stack.SocketConfig{AcceptAhead: true, Backlog: 2}.Listen(ctx, a, "tipc", echoService)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.WaitFor(ctx, echoService); err != nil {
			t.Fatal(err)
		}
		var clients [2]*stack.Conn
		for i := range clients {
			if clients[i], err = b.Dial(ctx, "tipc", echoService); err != nil {
				t.Fatal(err)
			}
			defer clients[i].Close()
		}
		if _, err := clients[0].Write([]byte("early")); err != nil {
			t.Fatal(err)
		}
		if err := clients[0].CloseWait(ctx); err != nil {
			t.Fatal(err)
		}
		_, err = stack.SocketConfig{DialTimeout: 50 * time.Millisecond}.Dial(ctx, b, "tipc", echoService)
		if !errors.As(err, new(*stack.ConnError)) {
			t.Errorf("beyond the backlog: %v", err)
		}
		s, err := l.AcceptContext(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if all, err := io.ReadAll(s); err != nil || string(all) != "early" {
			t.Errorf("read %q, %v", all, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		clients[1].SetDeadline(time.Now().Add(testTimeout))
		if _, err := clients[1].Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("its listener is closed: %v", err)
		}
	})
}

// A context ends a read and an accept that wait, and leaves the socket as it was. Mutations it
// catches: awaitContext leaves ctx out; ReadContext and AcceptContext do; acceptOn does.
func TestContextsEndReads(t *testing.T) {
	t.Parallel()
	twoAndOne(t, func(t *testing.T, a, b *stack.Node) {
		l, err := a.Listen(within(t), "tipc", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ctx, cancel := context.WithCancel(within(t))
		end := make(chan error, 1)
		go func() {
			_, err := l.AcceptContext(ctx)
			end <- err
		}()
		cancel()
		if err := <-end; !errors.Is(err, context.Canceled) {
			t.Errorf("accept: %v", err)
		}
		server, client := join(t, l, b, "tipc", l.Addr())
		defer server.Close()
		defer client.Close()
		ctx, cancel = context.WithCancel(within(t))
		go func() {
			_, err := server.ReadContext(ctx, make([]byte, 1))
			end <- err
		}()
		cancel()
		if err := <-end; !errors.Is(err, context.Canceled) {
			t.Errorf("read: %v", err)
		}
		client.Write([]byte("xy"))
		buf := make([]byte, 1)
		if _, err := server.ReadContext(within(t), buf); err != nil || buf[0] != 'x' {
			t.Errorf("read %q, %v", buf, err)
		}
		if _, err := server.ReadContext(ctx, buf); !errors.Is(err, context.Canceled) && !(attachedTests && err == nil) { // what is here is not waited for
			t.Errorf("a context that is done: %v", err)
		}
		if k, err := server.ReadContext(ctx, nil); k != 0 || err != nil {
			t.Errorf("of nothing: %d, %v", k, err)
		}
	})
}

// Options of the system's sockets: sizes can be set on every socket, and a descriptor is there where
// a socket has one, for neither reading nor writing. Mutations it catches: rawConn has no Read or
// Write of its own; SetReadBuffer does not look at what it is given; setSendBuffer sets what it is
// given; a socket without a descriptor refuses SyscallConn; SyscallConn does not look at closed.
func TestSocketOptions(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	server, client := link(t, a, b, "tipc")
	defer server.Close()
	pc, err := a.ListenPacket(within(t), "tipcrdm", nil)
	if err != nil {
		t.Fatal(err)
	}
	type options interface {
		syscall.Conn
		SetReadBuffer(int) error
		SetWriteBuffer(int) error
		Close() error
	}
	for _, s := range []options{client, pc} {
		if err := errors.Join(s.SetReadBuffer(3<<20), s.SetReadBuffer(1000), s.SetWriteBuffer(1), s.SetWriteBuffer(1<<20)); err != nil {
			t.Errorf("%T: %v", s, err)
		}
		if err := s.SetReadBuffer(-1); err == nil {
			t.Errorf("%T: a buffer of -1 bytes", s)
		}
		raw, err := s.SyscallConn()
		if err != nil {
			t.Fatalf("%T: %v", s, err)
		}
		called := 0
		no := func(uintptr) bool { called++; return true }
		if err := errors.Join(raw.Read(no), raw.Write(no)); !errors.Is(err, errors.ErrUnsupported) || called > 0 {
			t.Errorf("%T: reads or writes: %v", s, err)
		}
		err = raw.Control(func(uintptr) { called++ })
		if attachedTests && (err != nil || called != 1) || !attachedTests && (!errors.Is(err, errors.ErrUnsupported) || called > 0) {
			t.Errorf("%T: control: %v, called %d times", s, err, called)
		}
	}
	if _, err := client.Write(make([]byte, 66000)); err != nil { // there is room for the longest record
		t.Error(err)
	}
	for _, s := range []options{client, pc} {
		s.Close()
		if err := s.SetWriteBuffer(1); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%T, closed: %v", s, err)
		}
		if err := s.SetReadBuffer(1); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%T, closed: %v", s, err)
		}
		if _, err := s.SyscallConn(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%T, closed: descriptor: %v", s, err)
		}
	}
}
