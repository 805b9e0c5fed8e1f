// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

// A program that does not read goes on sending: what fails is told later, in order, the
// rest counted with the next that is told, and charged to it meanwhile.
//
// Mutations it catches: report waits for room; keep keeps without a limit; one too many is counted
// with the one before it, so that nobody would learn of the last; writeFailures does not give back
// what was charged.
func TestFailuresHoldNobodyUp(t *testing.T) {
	b := newBed(t, daemon.Config{})
	p := b.program(t)
	own, _ := p.socket(attach.KindRDM).Socket()
	to := listenOn(t, b.node, stack.Service{Type: 18888, Instance: 1})
	for b.srv.Counters().Stalled == 0 {
		if _, err := to.WriteTo(make([]byte, 60000), own); err != nil {
			t.Fatal(err)
		}
	}
	const failing = 500 // more than fit beside the messages
	for i := range failing {
		p.send(attach.Header{Op: attach.OpSend, ID: uint32(1000 + i), Addr: service(18890, 1)}, []byte("x"))
		p.send(attach.Header{Op: attach.OpSend, Addr: service(18888, 1)}, fmt.Append(nil, i))
	}
	buf := make([]byte, 100)
	for i := range failing {
		if k, _, err := to.ReadFrom(buf); err != nil || string(buf[:k]) != fmt.Sprint(i) {
			t.Fatalf("got %q, %v, want %d", buf[:k], err, i)
		}
	}
	next, reports := uint32(1000), 0
	for told := uint32(0); told < failing; {
		r := p.read()
		if r.Op != attach.OpFailed {
			continue
		}
		if r.ID != next+r.Arg0-1 || r.Errno != syscall.EHOSTUNREACH || r.Addr != service(18890, 1) || r.Arg0 == 0 {
			t.Fatalf("got %v, want %d", &r.Header, next)
		}
		reports++
		next += r.Arg0
		told += r.Arg0
	}
	if next != 1000+failing || reports > failing*4/5 {
		t.Errorf("%d are told of by %d reports, want %d by fewer", next-1000, reports, failing)
	}
	go func() { // the rest of the messages
		for {
			if _, err := p.tryRead(); err != nil {
				return
			}
		}
	}()
	waitFor(t, func() bool { return b.srv.Counters().QueuedBytes == 0 })
}

// listenOn makes a socket of a node.
func listenOn(t *testing.T, n *stack.Node, svc stack.Service) *stack.PacketConn {
	t.Helper()
	c, err := n.ListenPacket(within(t), "tipcrdm", svc)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(testTimeout))
	return c
}

// A program that knows reports gets the beginning of the message with them, behind the
// error; one that does not, as of a version before, gets the error alone, which it can
// read. Mutation: the daemon adds it for all.
func TestFailuresHaveTheMessage(t *testing.T) {
	b := newBed(t, daemon.Config{})
	message := make([]byte, 3000)
	for i := range message {
		message[i] = byte(i)
	}
	for _, features := range []uint64{0, attach.FeatureReports} {
		p := b.dial(t)
		h, data := attach.HelloRequest(1, features, "old")
		p.send(h, data)
		hello := p.answer(1)
		if w, err := attach.ParseWelcome(&hello.Header, hello.data); err != nil || w.Features != features {
			t.Fatalf("features %#x, %v, want %#x", w.Features, err, features)
		}
		p.socket(attach.KindRDM)
		p.send(attach.Header{Op: attach.OpSend, Addr: service(18890, 1)}, message)
		r := p.read()
		text := r.data[:len(r.data)-int(r.Arg1)]
		if told, err := control.DecodeError(r.Errno, text); err != nil || r.Errno != syscall.EHOSTUNREACH {
			t.Errorf("features %#x: %v, %v", features, told, err)
		}
		want, size := "", uint64(0)
		if features != 0 {
			want, size = string(message[:1024]), 3000
		}
		if string(r.data[len(text):]) != want || r.Wide != size {
			t.Errorf("features %#x: %d bytes of a message of %d", features, len(r.data)-len(text), r.Wide)
		}
	}
}

// The numbers of sends that are not answered are no requests: a cancel does not end such a
// send. Mutation: persist compares the numbers alone.
func TestCancelIsForRequests(t *testing.T) {
	t.Parallel()
	b := newBed(t, daemon.Config{})
	l, err := b.peer.Listen(within(t), "tipcpacket", stack.Service{Type: 18888, Instance: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := b.node.WaitFor(within(t), stack.Service{Type: 18888, Instance: 1}); err != nil {
		t.Fatal(err)
	}
	p := b.program(t)
	p.socket(attach.KindSeqPacket)
	c := p.connect(l, service(18888, 1))
	sent := 0
	for len(must.Get(b.node.Waits(context.Background()))) == 0 {
		p.send(attach.Header{Op: attach.OpSend, ID: 7}, make([]byte, 1000))
		sent++
		waitFor(t, func() bool {
			return must.Get(c.Stats(context.Background())).MessagesIn == uint64(sent) || len(must.Get(b.node.Waits(context.Background()))) > 0
		})
	}
	records := b.srv.Counters().Records
	p.send(attach.Header{Op: attach.OpCancel, Arg0: 7}, nil)
	waitFor(t, func() bool { return b.srv.Counters().Records > records })
	buf := make([]byte, 1000)
	c.SetReadDeadline(time.Now().Add(testTimeout))
	for i := range sent {
		if _, err := c.Read(buf); err != nil {
			t.Fatalf("%d of %d came, then %v", i, sent, err)
		}
	}
}
