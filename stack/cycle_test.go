// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

// What was opened and closed ten thousand times has left nothing: no goroutine, no
// socket, no chunk.
//
// Proves: socket.small
func TestCyclesLeaveNothing(t *testing.T) {
	cycles := 10_000
	if testing.Short() || raceEnabled { // test/run does all of them without
		cycles = 1000
	}
	a, b := pair(t, stack.Config{})
	l, err := a.Listen(within(t), "tipc", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	packets, err := a.Listen(within(t), "tipcpacket", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer packets.Close()
	if err := b.WaitFor(within(t), stack.Service{Type: stack.NodeState, Instance: uint32(a.Addr())}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		cycle func() error
	}{
		{"tipcrdm", func() error { return cycleSocket(b, "tipcrdm") }},
		{"tipcgram", func() error { return cycleSocket(b, "tipcgram") }},
		{"listener", func() error { return cycleListener(b) }},
		{"tipc", func() error { return cycleConn(b, "tipc", l, (*stack.Conn).Close) }},
		{"tipcpacket", func() error { return cycleConn(b, "tipcpacket", packets, (*stack.Conn).Close) }},
		{"group", func() error { return cycleGroup(b) }},
		{"active port", func() error { return cycleActivePort(b) }},
		{"tipcpacket aborted", func() error { return cycleConn(b, "tipcpacket", packets, (*stack.Conn).Abort) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.cycle(); err != nil { // what is made once, is made now
				t.Fatal(err)
			}
			before := settled(a, b, nil)
			for range cycles {
				if err := c.cycle(); err != nil {
					t.Fatal(err)
				}
			}
			if after := settled(a, b, &before); !after.within(before) {
				t.Errorf("left %+v, at the start %+v", after, before)
			}
		})
	}
}

// leftovers are what sockets have of two nodes and of the process.
type leftovers struct{ goroutines, sockets, bindings, chunks int }

// within reports whether nothing is more than in y. What y has may go later: a goroutine, for
// example, that had done all and was not yet gone.
func (x leftovers) within(y leftovers) bool {
	return x.goroutines <= y.goroutines && x.sockets <= y.sockets && x.bindings <= y.bindings && x.chunks <= y.chunks
}

// settled waits until two nodes have no more than is wanted, or with nil until all is
// acknowledged.
func settled(a, b *stack.Node, want *leftovers) (x leftovers) {
	for deadline := time.Now().Add(testTimeout); time.Now().Before(deadline); runtime.Gosched() {
		if x = leftOf(a, b); want != nil && x.within(*want) || want == nil && x.chunks == 0 {
			break
		}
	}
	return x
}

func leftOf(a, b *stack.Node) leftovers {
	x := leftovers{goroutines: runtime.NumGoroutine()}
	for _, n := range []*stack.Node{a, b} {
		s := must.Get(n.Admin().Stats(context.Background()))
		x.sockets += s.Sockets
		x.bindings += len(must.Get(n.Admin().Names(context.Background())))
		x.chunks += s.ChunksTotal - s.ChunksFree
	}
	return x
}

func cycleSocket(n *stack.Node, network string) error {
	c, err := n.ListenPacket(context.Background(), network, echoService)
	if err != nil {
		return err
	}
	if _, err := c.WriteTo([]byte("x"), c.LocalAddr()); err != nil {
		return err
	}
	return c.Close()
}

func cycleListener(n *stack.Node) error {
	l, err := n.Listen(context.Background(), "tipc", echoService)
	if err != nil {
		return err
	}
	return l.Close()
}

func cycleGroup(n *stack.Node) error {
	g, err := n.Join(context.Background(), echoService)
	if err != nil {
		return err
	}
	return g.Close()
}

func cycleActivePort(n *stack.Node) error {
	p, err := n.Handle(context.Background(), echoService, stack.HandlerFunc(func(w *stack.Reply, m *stack.Message) { w.Send(m.Data) }))
	if err != nil {
		return err
	}
	return p.Close()
}

func cycleConn(n *stack.Node, network string, l *stack.Listener, end func(*stack.Conn) error) error {
	accepted := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		accepted <- c
	}()
	c, err := n.Dial(context.Background(), network, l.LocalAddr())
	if err != nil {
		return err
	}
	other := <-accepted
	if _, err := c.Write([]byte("x")); err != nil {
		return err
	}
	if err := end(c); err != nil {
		return err
	}
	return other.Close()
}
