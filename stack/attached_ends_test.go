// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

// attachedModes are the ways in which programs use a daemon.
var attachedModes = map[string]stack.AttachConfig{
	"plain": {}, "answered": {SyncErrors: true}, "ring": {Ring: stack.RingAlways}, "ring, asleep": {Ring: stack.RingAlways, Wait: stack.Sleep},
}

// What waits on an attached node ends with a deadline that is set, or moved, meanwhile,
// with its context, with Close of the socket, and with that of the node.
//
// Proves: daemon.api
func TestAttachedCallsEnd(t *testing.T) {
	t.Parallel()
	a, _ := pair(t, stack.Config{})
	for name, cfg := range attachedModes {
		t.Run(name, func(t *testing.T) {
			n, _ := attachTo(t, a, cfg)
			c, silent := listen(t, n, nil), listen(t, n, nil)
			l, err := n.Listen(within(t), "tipc", nil)
			if err != nil {
				t.Fatal(err)
			}
			g, err := n.Join(within(t), stack.Service{Type: 4242, Instance: 1})
			if err != nil {
				t.Fatal(err)
			}
			sub, err := n.Subscribe(within(t), stack.Range{Type: 18888, Upper: 9})
			if err != nil {
				t.Fatal(err)
			}
			buf := make([]byte, 10)
			ctx, cancel := context.WithCancel(context.Background())
			reads := map[string]func() error{
				"ReadFrom": func() error { _, _, err := c.ReadFrom(buf); return err },
				"Accept":   func() error { _, err := l.Accept(); return err },
				"ReadMsg":  func() error { _, _, err := g.ReadMsg(make([]byte, 10)); return err },
			}
			ends := func(calls map[string]func() error, what func(), want error) {
				t.Helper()
				ended := make(chan string, len(calls))
				for name, f := range calls {
					go func() {
						if err := f(); !errors.Is(err, want) {
							name += fmt.Sprint(": ", err)
						}
						ended <- name
					}()
				}
				what()
				for range calls {
					select {
					case got := <-ended:
						if calls[got] == nil {
							t.Errorf("got %s, want %v", got, want)
						}
					case <-within(t).Done():
						t.Fatal("a call did not end")
					}
				}
			}
			deadline := func(at time.Time) func() {
				return func() {
					for _, s := range []interface{ SetDeadline(time.Time) error }{c, l, g} {
						if err := s.SetDeadline(at); err != nil {
							t.Error(err)
						}
					}
				}
			}
			ends(reads, deadline(time.Now().Add(20*time.Millisecond)), os.ErrDeadlineExceeded)
			deadline(time.Time{})()
			ends(reads, deadline(time.Unix(1, 0)), os.ErrDeadlineExceeded)
			ends(reads, func() {}, os.ErrDeadlineExceeded) // it was over before
			deadline(time.Time{})()
			waits := map[string]func() error{
				"Next":        func() error { _, err := sub.Next(ctx); return err },
				"WaitMembers": func() error { return g.WaitMembers(ctx, 3) },
				"WaitFor":     func() error { return n.WaitFor(ctx, stack.Service{Type: 18888, Instance: 5}) },
				"Call":        func() error { _, _, err := n.Call(ctx, silent.LocalAddr(), []byte("?"), buf); return err },
			}
			ends(waits, cancel, context.Canceled)
			ends(reads, func() { c.Close(); l.Close(); g.Close() }, net.ErrClosed)
			for _, s := range []io.Closer{c, l, g} {
				if err := s.Close(); !errors.Is(err, net.ErrClosed) {
					t.Errorf("closed twice: got %v", err)
				}
			}
			c = listen(t, n, nil)
			ctx = context.Background()
			delete(waits, "WaitMembers")
			waits["Read"] = func() error { _, _, err := c.ReadFrom(make([]byte, 10)); return err }
			ends(waits, func() { n.Close(within(t)) }, net.ErrClosed)
			if _, err := n.ListenPacket(within(t), "tipcrdm", nil); !errors.Is(err, net.ErrClosed) || n.Err() == nil {
				t.Errorf("got %v, the node's end is %v", err, n.Err())
			}
		})
	}
}

// Programs and sockets that come and go leave no goroutine, nor anything at the daemon.
//
// Proves: daemon.api
func TestAttachedLeavesNothing(t *testing.T) {
	a, b := pair(t, stack.Config{})
	echo(t, listen(t, b, echoService))
	if err := a.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	_, h := attachTo(t, a, stack.AttachConfig{})
	sockets := len(must.Get(a.Admin().Sockets(context.Background())))
	connections := h.srv.Counters().Connections
	before := runtime.NumGoroutine()
	const programs, slack = 20, 5 // what belongs to the daemon may have begun since; a leak is one of each program, or of each third
	for i := range programs {
		n, err := stack.AttachConfig{SyncErrors: i%2 == 0}.Attach(within(t), h.path)
		if err != nil {
			t.Fatal(err)
		}
		c := listen(t, n, stack.Service{Type: 300, Instance: uint32(i)})
		buf := make([]byte, 10)
		if k, _, err := n.Call(within(t), echoService, []byte("x"), buf); err != nil || k != 1 {
			t.Fatal(k, err)
		}
		if _, err := n.Handle(within(t), stack.Service{Type: 301, Instance: 1}, stack.HandlerFunc(func(w *stack.Reply, m *stack.Message) {})); err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			c.Close()
		}
		if err := n.Close(within(t)); err != nil {
			t.Fatal(err)
		}
	}
	left := func() string {
		return fmt.Sprintf("%d sockets, %d connections", len(must.Get(a.Admin().Sockets(context.Background()))), h.srv.Counters().Connections)
	}
	want := fmt.Sprintf("%d sockets, %d connections", sockets, connections)
	for by := time.Now().Add(testTimeout); left() != want || runtime.NumGoroutine() > before+slack; runtime.Gosched() {
		if time.Now().After(by) {
			t.Fatalf("%s, %d goroutines are left, want %s, %d", left(), runtime.NumGoroutine(), want, before)
		}
	}
}

// What is there at the path is no daemon, or one that says what is none.
func TestAttachRefused(t *testing.T) {
	for path, want := range map[string]error{"/nonexistent/utipc.sock": os.ErrNotExist, t.TempDir(): nil} {
		if n, err := stack.Attach(within(t), path); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: got %v, %v, want %v", path, n, err, want)
		}
	}
	if _, err := (stack.AttachConfig{Ring: 9}).Attach(within(t), ""); !errors.Is(err, stack.ErrConfig) {
		t.Errorf("got %v", err)
	}
}
