// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

// What connections hold unread is within their program's limit, however many there are: the
// one that holds most is ended, and its peer reads a reset. One that is read goes on, and
// new ones begin. The mutation: Conn.receive does not heed the account.
func TestQueuedBytesOfConnections(t *testing.T) {
	t.Parallel()
	const limit, many = 1 << 20, 12
	b := newBed(t, daemon.Config{Quotas: daemon.Quotas{User: daemon.Limits{QueuedBytes: limit}}})
	p := b.program(t)
	p.socket(attach.KindSeqPacket)
	p.must(attach.Header{Op: attach.OpListen, Addr: service(18888, 1)}, nil)
	if err := b.peer.WaitFor(within(t), stack.Service{Type: 18888, Instance: 1}); err != nil {
		t.Fatal(err)
	}
	connect := func() (*stack.Conn, *program) {
		p.id++
		p.send(attach.Header{Op: attach.OpAccept, ID: p.id}, nil)
		c, err := stack.SocketConfig{}.Dial(within(t), b.peer, "tipcpacket", stack.Service{Type: 18888, Instance: 1})
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(testTimeout))
		return c, p.accepted(p.id)
	}
	first, echo := connect()
	go func() {
		for {
			m, err := echo.tryRead()
			if err != nil || m.Op == attach.OpEnd {
				return
			}
			h := attach.Header{Op: attach.OpSend}
			echo.c.Write(&h, m.data)
		}
	}()
	var writers sync.WaitGroup
	var reset sync.Once
	ended := make(chan struct{})
	msg, buf := make([]byte, 66000), make([]byte, 100)
	for range many {
		c, _ := connect()
		defer c.Abort()
		writers.Go(func() {
			for {
				if _, err := c.Write(msg); err != nil {
					if errors.Is(err, syscall.ECONNRESET) {
						reset.Do(func() { close(ended) })
					}
					return
				}
			}
		})
		if _, err := first.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if k, err := first.Read(buf); k != 1 || err != nil {
			t.Fatalf("the connection that is read: %v", err)
		}
		if k := b.srv.Counters().QueuedBytes; k > limit {
			t.Errorf("%d bytes wait, of %d that may", k, limit)
		}
	}
	select {
	case <-ended:
	case <-within(t).Done():
		t.Fatal("no connection was ended")
	}
	if c := b.srv.Counters(); c.Overdrawn == 0 || c.QueuedBytes > limit {
		t.Errorf("%+v", c)
	}
	first.Abort()
	for _, c := range must.Get(b.node.Admin().Sockets(context.Background())) {
		if c.Bytes > limit {
			t.Errorf("%+v", c)
		}
	}
	p.c.Close()
	b.srv.Shutdown(within(t), "the test is over")
	writers.Wait()
}

// A group socket whose members send more than its program's limit leaves, which the program
// is told, also one that has not read yet. The mutations: Group.accept does not heed the account;
// fail does not wait for room.
func TestQueuedBytesOfGroups(t *testing.T) {
	t.Parallel()
	b := newBed(t, daemon.Config{Quotas: daemon.Quotas{Process: daemon.Limits{QueuedBytes: 200000}}})
	p := b.program(t)
	p.must(attach.Header{Op: attach.OpJoin, Addr: service(4242, 1)}, nil)
	for i := uint32(0); i < 16 && b.srv.Counters().Overdrawn == 0; i++ {
		g, err := stack.GroupConfig{}.Join(within(t), b.peer, stack.Service{Type: 4242, Instance: 100 + i})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		g.SetDeadline(time.Now().Add(testTimeout))
		left := func() bool { return b.srv.Counters().Overdrawn > 0 } // the program's, which the last message was too much for
		waitFor(t, func() bool { return left() || len(must.Get(g.Members(context.Background()))) == 1+int(i) })
		if left() {
			break
		}
		if _, err := g.WriteTo(make([]byte, 60000), stack.Service{Type: 4242, Instance: 1}); err != nil {
			break // it has left
		}
		if k := b.srv.Counters().QueuedBytes; k > 200000 {
			t.Errorf("%d bytes wait", k)
		}
	}
	waitFor(t, func() bool { return b.srv.Counters().Overdrawn == 1 })
	for {
		r, err := p.tryRead()
		if err != nil {
			t.Fatalf("ended with %v, and without a word", err)
		}
		if r.Op == attach.OpGone {
			if r.Errno != syscall.ENOBUFS {
				t.Errorf("ended with %v %s", r.Errno, r.data)
			}
			break
		}
	}
	if _, err := p.tryRead(); err != io.EOF {
		t.Errorf("then %v", err)
	}
}
