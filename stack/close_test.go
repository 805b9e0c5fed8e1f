// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
)

// Proves: socket.deadlines
func TestNodeCloseEndsEverything(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		c := mustListen(t, a, stack.SocketConfig{}, nil)
		sub, err := a.Subscribe(t.Context(), stack.Range{Type: 100, Upper: 9})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() { _, _, err := c.ReadFrom(make([]byte, 1)); ended <- err }()
		go func() { _, err := sub.Next(t.Context()); ended <- err }()
		go func() { ended <- a.WaitFor(t.Context(), stack.Service{Type: 100, Instance: 1}) }()
		synctest.Wait()
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
		for range 3 {
			if err := <-ended; !errors.Is(err, net.ErrClosed) {
				t.Errorf("got %v", err)
			}
		}
		if _, err := a.ListenPacket(t.Context(), "tipcrdm", nil); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
		if err := a.Close(t.Context()); err != nil {
			t.Errorf("a second close: %v", err)
		}
	})
}

// Close waits for acknowledgements; with a context that ends before they come it
// says how many are missing.
//
// Proves: socket.deadlines
func TestCloseSaysWhatIsUnsent(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		mustListen(t, b, stack.SocketConfig{}, echoService)
		if err := a.WaitFor(t.Context(), echoService); err != nil {
			t.Fatal(err)
		}
		c := mustListen(t, a, stack.SocketConfig{}, nil)
		wire.Set(fault.Config{Out: fault.Faults{Loss: 1}})
		for range 10 {
			c.WriteTo([]byte("x"), echoService)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		var unsent *stack.UnsentError
		if err := a.Close(ctx); !errors.As(err, &unsent) || unsent.Packets < 10 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// A second Close waits for the first, as long as its own context lasts.
func TestSecondClose(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		mustListen(t, b, stack.SocketConfig{}, echoService)
		if err := a.WaitFor(t.Context(), echoService); err != nil {
			t.Fatal(err)
		}
		c := mustListen(t, a, stack.SocketConfig{}, nil)
		wire.Set(fault.Config{In: fault.Faults{Loss: 1}, Out: fault.Faults{Loss: 1}})
		c.WriteTo([]byte("x"), echoService)
		first := make(chan error)
		go func() { first <- a.Close(t.Context()) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := a.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if err := <-first; err != nil {
			t.Errorf("the first: %v", err)
		}
		if err := a.Close(t.Context()); err != nil {
			t.Errorf("a third: %v", err)
		}
	})
}

// Close does not wait for the peer's next report: it asks for one.
func TestCloseIsQuick(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		c := mustListen(t, a, stack.SocketConfig{}, nil)
		if err := a.WaitFor(t.Context(), stack.Service{Type: stack.NodeState, Instance: 2}); err != nil {
			t.Fatal(err)
		}
		c.Bind(echoService)
		began := time.Now()
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if d := time.Since(began); d > 10*time.Millisecond && !attachedTests { // there the clock does not stand still meanwhile
			t.Errorf("took %v", d)
		}
	})
}
