// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
)

// anyService is bound by the workers of these tests.
var anyService = stack.Service{Type: 18888, Instance: 40}

// workersAt opens k sockets with the name on a node.
func workersAt(t *testing.T, n *stack.Node, k int, c stack.SocketConfig) (all []*stack.PacketConn) {
	t.Helper()
	for range k {
		all = append(all, mustListen(t, n, c, anyService))
	}
	return all
}

// WriteToAny reports the socket that the message is read from: of another node, and of its own.
//
// Mutations it catches: the engine reports the next in turn; attached: the daemon does not answer with the
// socket; the client reads another field of the answer.
//
// Proves: socket.calls
func TestWriteToAnyReportsTheSocket(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, _ *fault.Injector) {
		workers := append(workersAt(t, b, 3, stack.SocketConfig{}), workersAt(t, a, 2, stack.SocketConfig{})...)
		if err := a.WaitForN(t.Context(), anyService, 5); err != nil {
			t.Fatal(err)
		}
		c := mustListen(t, a, stack.SocketConfig{}, nil)
		seen := map[stack.SocketAddr]int{}
		for i := range 10 {
			to, err := c.WriteToAny([]byte{byte(i)}, anyService)
			if err != nil {
				t.Fatal(err)
			}
			k := slices.IndexFunc(workers, func(w *stack.PacketConn) bool { return w.LocalAddr() == to })
			if k < 0 {
				t.Fatalf("message %d went to %v, which is none of them", i, to)
			}
			seen[to]++
			buf := make([]byte, 9)
			workers[k].SetReadDeadline(time.Now().Add(10 * time.Second))
			if n, _, err := workers[k].ReadFrom(buf); err != nil || n != 1 || buf[0] != byte(i) {
				t.Errorf("message %d: %v has %v, %v", i, to, buf[:n], err)
			}
		}
		if len(seen) != 5 {
			t.Errorf("they do not take turns: %v", seen)
		}
		if to, err := c.WriteToAny([]byte("x"), stack.Service{Type: 18888, Instance: 41}); !errors.Is(err, stack.ErrUnreachable) || to != (stack.SocketAddr{}) {
			t.Errorf("of a name that nobody has: %v, %v", to, err)
		}
		to, err := c.TryWriteToAny([]byte("x"), anyService)
		if attachedTests != errors.Is(err, errors.ErrUnsupported) || !attachedTests && seen[to] == 0 {
			t.Errorf("without waiting: %v, %v", to, err)
		}
		c.SetWriteDeadline(time.Unix(1, 0))
		if _, err := c.WriteToAny([]byte("x"), anyService); err == nil || errors.Is(err, syscall.EAGAIN) {
			t.Errorf("past its deadline: %v", err)
		}
	})
}

// A call that ends without an answer says which socket has the request.
//
// Mutations it catches: the callee is left out of the error, of a deadline and of a worker that is
// closed.
//
// Proves: socket.calls
func TestCallErrorNamesTheCallee(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, _ *fault.Injector) {
		w := workersAt(t, b, 1, stack.SocketConfig{})[0]
		if err := a.WaitFor(t.Context(), anyService); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, _, err := a.Call(ctx, anyService, []byte("?"), nil)
		var e *stack.CallError
		want := w.LocalAddr()
		if attachedTests { // the daemon has not said
			want = stack.SocketAddr{}
		}
		if !errors.As(err, &e) || e.Callee != want {
			t.Errorf("at the deadline: %v", err)
		}
		over := make(chan error, 1)
		go func() {
			_, _, err := a.Call(t.Context(), anyService, []byte("?"), nil)
			over <- err
		}()
		for range 2 {
			if _, _, err := w.ReadFrom(make([]byte, 9)); err != nil {
				t.Fatal(err)
			}
		}
		w.Close()
		if err := <-over; !errors.As(err, &e) || !errors.Is(err, stack.ErrUnreachable) || e.Callee != w.LocalAddr() {
			t.Errorf("the worker is closed: %v", err)
		}
	})
}

// With PreferIdle calls pass over workers that have a request, on this node and on another, and
// messages over sockets of this node with unread and unacknowledged ones; without it they take
// turns.
//
// Mutations it catches: the option does not reach the node; busy counts no requests; an answer does not
// end a request.
//
// Proves: socket.calls
func TestPreferIdle(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, _ *fault.Injector) {
		workers := append(workersAt(t, b, 2, stack.SocketConfig{}), workersAt(t, a, 2, stack.SocketConfig{})...)
		if err := a.WaitForN(t.Context(), anyService, 4); err != nil {
			t.Fatal(err)
		}
		type job struct {
			worker int
			from   stack.SocketAddr
		}
		jobs := make(chan job)
		for i, w := range workers {
			go func() {
				for {
					_, from, err := w.ReadFrom(make([]byte, 9))
					if err != nil {
						return
					}
					jobs <- job{i, from.(stack.SocketAddr)}
				}
			}()
		}
		idle := stack.CallConfig{PreferIdle: true}
		answered := make(chan error, 10)
		call := func() job {
			go func() {
				_, _, err := idle.Call(t.Context(), a, anyService, []byte("?"), make([]byte, 9))
				answered <- err
			}()
			return <-jobs
		}
		busy := map[int]job{}
		for range 4 {
			j := call()
			if _, ok := busy[j.worker]; ok {
				t.Errorf("worker %d has two, of %v", j.worker, busy)
			}
			busy[j.worker] = j
		}
		for _, k := range []int{2, 0, 3, 1, 1} { // the one that answers is the one that is idle
			if _, err := workers[k].WriteTo([]byte("done"), busy[k].from); err != nil {
				t.Fatal(err)
			}
			if err := <-answered; err != nil {
				t.Fatal(err)
			}
			j := call()
			if j.worker != k {
				t.Errorf("worker %d is idle, %d has it", k, j.worker)
			}
			busy[j.worker] = j
		}
		for k, j := range busy {
			workers[k].WriteTo([]byte("done"), j.from)
			if err := <-answered; err != nil {
				t.Error(err)
			}
			workers[k].Close()
		}
	})
}
