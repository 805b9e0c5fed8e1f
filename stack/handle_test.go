// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
)

var activeService = stack.Service{Type: 18888, Instance: 18}

// mirror answers each message with its own data.
var mirror = stack.HandlerFunc(func(w *stack.Reply, m *stack.Message) { w.Send(m.Data) })

func handle(t testing.TB, n *stack.Node, c stack.HandlerConfig, svc net.Addr, h stack.HandlerFunc) *stack.ActivePort {
	t.Helper()
	a, err := c.Handle(within(t), n, svc, h)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// An active port answers in the poll that brought the request, from its own address.
func TestActivePortAnswers(t *testing.T) {
	t.Parallel()
	for _, wait := range []stack.WaitMode{stack.Adaptive, stack.Sleep, stack.Spin} {
		a, b := pair(t, stack.Config{Wait: wait})
		var last stack.Message
		p := handle(t, b, stack.HandlerConfig{}, activeService, func(w *stack.Reply, m *stack.Message) {
			last = *m
			last.Data = nil
			w.Send(m.Data)
		})
		if err := a.WaitFor(within(t), activeService); err != nil {
			t.Fatal(err)
		}
		c := listen(t, a, nil)
		c.SetDeadline(time.Now().Add(testTimeout))
		b1 := make([]byte, 70000)
		for _, size := range []int{1, 64, 1500, 3000, 66000} {
			msg := make([]byte, size)
			msg[size-1] = byte(size)
			if _, err := c.WriteTo(msg, activeService); err != nil {
				t.Fatal(err)
			}
			k, from, err := c.ReadFrom(b1)
			if err != nil || string(b1[:k]) != string(msg) || from.String() != p.Addr().String() {
				t.Fatalf("%d bytes: got %d from %v, %v", size, k, from, err)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if s := p.Stats(); s.Handled != 5 || s.Replies != 5 || last.From.Port != c.LocalAddr().(stack.SocketAddr).Port || !last.Named || last.Name != activeService.Range() {
			t.Errorf("%v: got %+v, %+v", wait, s, last)
		}
		c.Close()
	}
}

// A handler that panics closes its port, says so with its stack, and the node goes on.
//
// Proves: socket.calls
func TestHandlerPanic(t *testing.T) {
	t.Parallel()
	var logged logLines
	a, b := pair(t, stack.Config{Logger: logged.logger()})
	p := handle(t, b, stack.HandlerConfig{}, activeService, func(w *stack.Reply, m *stack.Message) { panic("no idea") })
	other := handle(t, b, stack.HandlerConfig{}, stack.Service{Type: 18888, Instance: 19}, mirror)
	if err := a.WaitFor(within(t), activeService); err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Call(within(t), activeService, []byte("x"), nil); !errors.Is(err, stack.ErrUnreachable) {
		t.Errorf("the call that panics: got %v", err)
	}
	<-p.Done()
	var why *stack.PanicError
	if !errors.As(p.Err(), &why) || why.Value != "no idea" || !strings.Contains(string(why.Stack), "TestHandlerPanic") {
		t.Errorf("got %v", p.Err())
	}
	var rejected *stack.RejectError
	if _, _, err := a.Call(within(t), p.Addr(), []byte("x"), nil); !errors.As(err, &rejected) {
		t.Errorf("the closed port: got %v", err)
	}
	resp := make([]byte, 10)
	if k, _, err := a.Call(within(t), other.Addr(), []byte("still here"), resp); err != nil || k != 10 {
		t.Errorf("another port of the node: got %d bytes, %v", k, err)
	}
	if err := p.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("close: got %v", err)
	}
	b.Close(within(t))
	if !logged.has("handler panicked", "18888:18", "no idea", "TestHandlerPanic") {
		t.Errorf("got %q", logged.all())
	}
}

// A handler that is too slow, too often, gets a goroutine, where it may wait.
//
// Proves: socket.calls
func TestSlowHandlerIsMoved(t *testing.T) {
	t.Parallel()
	var logged logLines
	a, b := pair(t, stack.Config{Logger: logged.logger()})
	const limit = 50 * time.Microsecond
	spin := func(d time.Duration) {
		for began := time.Now(); time.Since(began) < d; {
		}
	}
	p := handle(t, b, stack.HandlerConfig{TimeLimit: limit}, activeService, func(w *stack.Reply, m *stack.Message) {
		spin(2 * limit)
		w.Send(m.Data)
	})
	if err := a.WaitFor(within(t), activeService); err != nil {
		t.Fatal(err)
	}
	resp := make([]byte, 10)
	calls := 0
	for ; !p.Stats().Apart && calls < 100; calls++ {
		if _, _, err := a.Call(within(t), activeService, []byte("x"), resp); err != nil {
			t.Fatal(err)
		}
	}
	s := p.Stats()
	if !s.Apart || s.Late < 1 || s.Longest < 2*limit || s.Handled != uint64(calls) {
		t.Fatalf("after %d calls: got %+v", calls, s)
	}
	for range 10 { // served all the same
		if k, from, err := a.Call(within(t), activeService, []byte("y"), resp); err != nil || k != 1 || resp[0] != 'y' || from.Port != p.Addr().Port {
			t.Fatalf("apart: got %q, %v", resp[:k], err)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	b.Close(within(t))
	if !logged.has("handler over its time limit", "18888:18") || !logged.has("handler moved to a goroutine", "18888:18") {
		t.Errorf("got %q", logged.all())
	}
}

// What a handler apart does ends with its port: a panic, and a Close from within.
//
// Proves: socket.calls
func TestHandlerApart(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	var p *stack.ActivePort
	do := make(chan string, 1)
	serve := func(w *stack.Reply, m *stack.Message) {
		switch string(m.Data) {
		case "slow":
			for began := time.Now(); time.Since(began) < 150*time.Microsecond; {
			}
		case "node":
			b.Addr() // apart this is allowed
		case "close":
			do <- fmt.Sprint(p.Close())
		case "panic":
			panic("apart")
		}
		w.Send(m.Data)
	}
	for _, end := range []string{"close", "panic"} {
		p = handle(t, b, stack.HandlerConfig{TimeLimit: time.Microsecond}, activeService, serve)
		if err := a.WaitFor(within(t), activeService); err != nil {
			t.Fatal(err)
		}
		for i := 0; !p.Stats().Apart; i++ {
			if _, _, err := a.Call(within(t), p.Addr(), []byte("slow"), nil); i > 100 || err != nil && !errors.Is(err, io.ErrShortBuffer) {
				t.Fatalf("call %d: %v", i, err)
			}
		}
		if _, _, err := a.Call(within(t), p.Addr(), []byte("node"), make([]byte, 10)); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context()) // there may be no answer
		called := make(chan struct{})
		go func() {
			a.Call(ctx, p.Addr(), []byte(end), nil)
			close(called)
		}()
		<-p.Done()
		cancel()
		<-called
		if end == "close" {
			if got := <-do; got != "<nil>" || p.Err() != net.ErrClosed {
				t.Errorf("close from within: got %s, %v", got, p.Err())
			}
		} else if _, ok := p.Err().(*stack.PanicError); !ok {
			t.Errorf("got %v", p.Err())
		}
	}
}

// A handler that calls its node would wait for itself: it panics, however deep it is, and
// also from within a handler of another node that it called. Mutation: inOwnHandler looks
// for the handler among the first 128 callers; or pollLock keeps which goroutine runs a
// handler of any node, the last one that began.
//
// Proves: socket.calls
func TestHandlerMustNotCallItsNode(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	c := listen(t, b, nil)
	other := listen(t, a, nil)
	var deep func(k int)
	deep = func(k int) {
		if k > 0 {
			deep(k - 1)
			return
		}
		b.Addr()
	}
	// The handler of a runs in the goroutine that finds a's lock free. If that is not the one
	// of b's handler, it is no nesting, and b's handler would wait for it for ever.
	var outer atomic.Value
	again := make(chan bool, 1)
	nested := handle(t, a, stack.HandlerConfig{}, nil, func(w *stack.Reply, m *stack.Message) {
		if goroutine() != outer.Load() {
			again <- true
			return
		}
		b.Addr()
	})
	for name, call := range map[string]func(){
		"Addr":    func() { b.Addr() },
		"WriteTo": func() { c.WriteTo([]byte("x"), echoService) },
		"Call":    func() { b.Call(context.Background(), echoService, []byte("x"), nil) },
		"deep":    func() { deep(1000) },
		"nested": func() {
			outer.Store(goroutine())
			for {
				other.WriteTo([]byte("x"), nested.Addr())
				select {
				case <-again:
				case <-nested.Done():
					panic(nested.Err())
				}
			}
		},
	} {
		p := handle(t, b, stack.HandlerConfig{}, activeService, func(w *stack.Reply, m *stack.Message) { call() })
		if err := a.WaitFor(within(t), activeService); err != nil {
			t.Fatal(err)
		}
		if _, err := listen(t, a, nil).WriteTo([]byte("x"), p.Addr()); err != nil {
			t.Fatal(err)
		}
		<-p.Done()
		if err := p.Err(); err == nil || !strings.Contains(err.Error(), "Reply only") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// goroutine returns the name of the calling goroutine, "goroutine 7".
func goroutine() string {
	b := make([]byte, 32)
	name, _, _ := strings.Cut(string(b[:runtime.Stack(b, false)]), " [")
	return name
}

// Other goroutines wait for a handler and go on then, those that it has started itself too.
// Mutation: a handler is known by a label, which the goroutines inherit; or every call that
// finds the lock taken by a handler panics.
func TestOthersWaitForHandler(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	inside, goOn, called := make(chan bool), make(chan bool), make(chan any, 2)
	call := func() {
		defer func() { called <- recover() }()
		b.Addr()
	}
	p := handle(t, b, stack.HandlerConfig{}, activeService, func(w *stack.Reply, m *stack.Message) {
		go call()
		inside <- true
		<-goOn
	})
	c := listen(t, a, nil)
	if err := a.WaitFor(within(t), activeService); err != nil {
		t.Fatal(err)
	}
	if _, err := c.WriteTo([]byte("x"), p.Addr()); err != nil {
		t.Fatal(err)
	}
	<-inside
	go call()
	for len(called) == 0 && callsOfAddr() < 2 {
		runtime.Gosched()
	}
	goOn <- true
	for range 2 {
		if got := <-called; got != nil {
			t.Errorf("a call beside the handler: got %v", got)
		}
	}
	if err := p.Err(); err != nil {
		t.Errorf("got %v", err)
	}
}

// callsOfAddr is how many goroutines wait for the lock of their node in Node.Addr.
func callsOfAddr() (k int) {
	buf := make([]byte, 1<<20)
	for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(g, "[sync.Mutex.Lock") && strings.Contains(g, "(*Node).Addr(") {
			k++
		}
	}
	return k
}

// A handler may close its port, which is done when it has returned; its Reply is void
// then.
func TestHandlerClosesItsPort(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	var p *stack.ActivePort
	var kept *stack.Reply
	p = handle(t, b, stack.HandlerConfig{TimeLimit: time.Minute}, activeService, func(w *stack.Reply, m *stack.Message) {
		if string(m.Data) == "keep" {
			kept = w
			w.Send(m.Data)
			return
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := w.Send([]byte("bye")); err != nil {
			t.Error(err)
		}
	})
	if err := a.WaitFor(within(t), activeService); err != nil {
		t.Fatal(err)
	}
	resp := make([]byte, 10)
	if _, _, err := a.Call(within(t), activeService, []byte("keep"), resp); err != nil {
		t.Fatal(err)
	}
	b.Addr() // the poll is over
	if err := kept.Send([]byte("late")); err != net.ErrClosed {
		t.Errorf("a Reply kept: got %v", err)
	}
	if k, _, err := a.Call(within(t), activeService, []byte("x"), resp); err != nil || string(resp[:k]) != "bye" {
		t.Errorf("got %q, %v", resp[:k], err)
	}
	<-p.Done()
	if err := p.Err(); err != net.ErrClosed {
		t.Errorf("got %v", err)
	}
}

// What a poll leaves to the next, of more messages than handlers take in it, waits for no
// clock: of those that came over the network while nobody else needs the node, and of
// those of this node.
//
// Proves: socket.calls
func TestPollsGoOnForHandlers(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		for _, from := range []*stack.Node{a, b} {
			const most = 100
			count, done := 0, make(chan struct{})
			p := handle(t, b, stack.HandlerConfig{TimeLimit: time.Hour}, activeService, func(*stack.Reply, *stack.Message) {
				if count++; count == most {
					close(done)
				}
			})
			if err := from.WaitFor(t.Context(), activeService); err != nil {
				t.Fatal(err)
			}
			c := mustListen(t, from, stack.SocketConfig{}, nil)
			ms := make([]stack.Message, most)
			for i := range ms {
				ms[i] = stack.Message{Data: []byte("x"), To: p.Addr()}
			}
			began, frames := time.Now(), must.Get(from.Admin().Stats(context.Background())).FramesOut
			if k, err := c.WriteBatch(ms); k != most || err != nil {
				t.Fatalf("sent %d, %v", k, err)
			}
			if n := must.Get(from.Admin().Stats(context.Background())).FramesOut - frames; n > 10 {
				t.Errorf("%d frames for %d messages of a byte", n, most)
			}
			<-done
			if d := time.Since(began); d > time.Millisecond {
				t.Errorf("from node %v: %v until the last was handled", from.Addr(), d)
			}
			p.Close()
		}
	})
}

// Requests that come to a node where nobody waits, and none is made, are answered within
// the promised 10 ms, also those beyond what a poll hands over.
//
// Proves: socket.calls
func TestActivePortAnswersInTime(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, _ *fault.Injector) {
		const promise = 10 * time.Millisecond
		handle(t, b, stack.HandlerConfig{TimeLimit: time.Minute}, activeService, mirror)
		if err := a.WaitFor(within(t), activeService); err != nil {
			t.Fatal(err)
		}
		var took []time.Duration
		buf := make([]byte, 10)
		for i := range 20 {
			c := listen(t, []*stack.Node{a, b}[i%2], nil) // over the network, and within the node
			c.SetDeadline(time.Now().Add(testTimeout))
			began := time.Now()
			for range 45 {
				if _, err := c.WriteTo([]byte("x"), activeService); err != nil {
					t.Fatal(err)
				}
			}
			for range 45 {
				if _, _, err := c.ReadFrom(buf); err != nil {
					t.Fatal(err)
				}
			}
			took = append(took, time.Since(began))
			c.Close()
		}
		inTime(t, "45 requests were answered", took, promise)
	})
}

// What an active port may not be.
func TestHandleRefuses(t *testing.T) {
	_, b := pair(t, stack.Config{})
	if _, err := b.Handle(within(t), activeService, nil); !errors.Is(err, stack.ErrConfig) {
		t.Errorf("no handler: got %v", err)
	}
	if _, err := (stack.HandlerConfig{TimeLimit: -1}).Handle(within(t), b, activeService, mirror); !errors.Is(err, stack.ErrConfig) {
		t.Errorf("a negative limit: got %v", err)
	}
	if _, err := b.Handle(within(t), stack.Service{Type: 3}, mirror); !errors.Is(err, stack.ErrReserved) {
		t.Errorf("a reserved type: got %v", err)
	}
	if _, err := b.Handle(within(t), stack.SocketAddr{}, mirror); err == nil {
		t.Error("a socket address: got no error")
	}
	p := handle(t, b, stack.HandlerConfig{}, nil, mirror)
	if err := b.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if p.Err() != net.ErrClosed {
		t.Errorf("with its node: got %v", p.Err())
	}
	if _, err := b.Handle(within(t), nil, mirror); !errors.Is(err, net.ErrClosed) {
		t.Errorf("of a closed node: got %v", err)
	}
}
