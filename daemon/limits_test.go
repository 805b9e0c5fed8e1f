// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// What is beyond a limit is refused with an errno, counted, and possible again when
// something was given back; others have what they had.
//
// Proves: daemon.limits
func TestLimits(t *testing.T) {
	b := newBed(t, daemon.Config{Quotas: daemon.Quotas{Process: daemon.Limits{Connections: 6, Names: 3, Subscriptions: 1, Calls: 2, Rings: 1, QueuedBytes: 100000}}})
	p, q := b.program(t), b.program(t)
	p.socket(attach.KindRDM)
	q.socket(attach.KindRDM)
	p.bind(18888, 1)
	p.bind(18888, 2)
	q.bind(18888, 3)
	for _, x := range []*program{p, q} {
		x.fails(syscall.ENOBUFS, attach.Header{Op: attach.OpBind, Addr: service(18888, 4)}, nil)
	}
	q.must(attach.Header{Op: attach.OpUnbind, Addr: service(18888, 3)}, nil)
	p.bind(18888, 4)
	p.c.Close()
	waitFor(t, func() bool { c := b.srv.Counters(); return c.Names == 0 && c.Connections == 1 })

	s := b.program(t)
	sub := attach.Header{Op: attach.OpSubscribe, Addr: attach.RangeSockaddr(stack.Range{Type: 300, Upper: 9}, 0)}
	s.must(sub, nil)
	r := b.program(t)
	r.fails(syscall.ENOBUFS, sub, nil)
	r.fails(syscall.ENOBUFS, attach.Header{Op: attach.OpStream}, attach.AppendCall(nil, "watch", nil))
	r.must(attach.Header{Op: attach.OpJoin, Addr: service(4242, 1)}, nil)
	for id := range uint32(3) {
		r.send(attach.Header{Op: attach.OpCall, ID: 100 + id}, attach.AppendCall(nil, "socket.wait-members", []byte(`{"members": 9}`)))
	}
	if a := r.answer(102); a.Errno != syscall.EAGAIN {
		t.Errorf("calls: %v", a.Errno)
	}
	r.send(attach.Header{Op: attach.OpCancel, Arg0: 100}, nil)
	if a := r.answer(100); a.Errno != syscall.ECANCELED {
		t.Errorf("canceled: %v", a.Errno)
	}
	q.useRing(0)
	r.fails(syscall.ENOBUFS, attach.Header{Op: attach.OpRing}, nil)

	var more []*program
	for range 3 {
		more = append(more, b.program(t))
	}
	x := b.dial(t)
	a, err := x.tryRead() // before it has said anything
	if err != nil || a.Op != attach.OpHello || a.Errno != syscall.EMFILE || !strings.Contains(string(a.data), "6 connections") {
		t.Errorf("turned away: %v %q, %v", &a.Header, a.data, err)
	}
	if _, err := x.tryRead(); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v", err)
	}
	more[0].c.Close()
	waitFor(t, func() bool { return b.srv.Counters().Connections == 5 })
	b.program(t)
	c := b.srv.Clients()
	if len(c) != 1 || c[0].OverLimit == 0 || c[0].PID != os.Getpid() || b.srv.Counters().TurnedAway != 1 {
		t.Errorf("clients %+v, %+v", c, b.srv.Counters())
	}
}

// A hello that does not come is not waited for.
func TestSilentConnection(t *testing.T) {
	b := newBed(t, daemon.Config{HelloTimeout: 50 * time.Millisecond})
	x := b.dial(t)
	if _, err := x.tryRead(); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	waitFor(t, func() bool { return b.srv.Counters().Connections == 0 })
}

// A program that does not read is stopped: what comes waits as far as its limit goes, and
// the others have their messages meanwhile. When it reads it has all that was taken. The
// mutations: accepts does not heed the account; drain does not count what it delivers.
//
// Proves: daemon.limits
func TestProgramThatDoesNotRead(t *testing.T) {
	t.Parallel()
	b := newBed(t, daemon.Config{Quotas: daemon.Quotas{Process: daemon.Limits{QueuedBytes: 300000}}})
	p, q := b.program(t), b.program(t)
	own := p.socket(attach.KindRDM)
	c := b.sender(t)
	to, _ := own.Socket()
	mine := func() admin.Socket {
		for _, s := range must.Get(b.node.Admin().Sockets(context.Background())) {
			if s.Addr.Port == to.Port {
				return s
			}
		}
		return admin.Socket{}
	}
	data := make([]byte, 1000)
	sent := uint64(0)
	stalled := func() bool { return b.srv.Counters().Stalled > 0 }
	for (mine().Returned == 0 || !stalled()) && sent < 100000 {
		waitFor(t, func() bool { return stalled() || mine().Bytes == 0 }) // or the node's queue may be full before the program's socket
		for range 50 {
			if _, err := c.WriteTo(data, to); err != nil {
				t.Fatal(err)
			}
			sent++
		}
	}
	var reject *stack.RejectError
	if _, _, err := c.ReadFrom(make([]byte, 1024)); !errors.As(err, &reject) {
		t.Fatalf("after %d: %v", sent, err)
	}
	waitFor(t, func() bool { s := mine(); return s.MessagesIn+s.Returned == sent })
	taken := mine().MessagesIn
	cl := b.srv.Clients()
	if len(cl) != 1 || cl[0].OverQueue == 0 || cl[0].QueuedBytes < 200000 || cl[0].QueuedBytes > 300000 || cl[0].Stalled == 0 {
		t.Errorf("clients: %+v", cl)
	}
	other := q.socket(attach.KindRDM) // is not held up
	q.send(attach.Header{Op: attach.OpSend, Addr: other}, []byte("x"))
	if m := q.read(); string(m.data) != "x" {
		t.Errorf("got %v", &m.Header)
	}
	for got := range taken { // all but those that came back
		r, err := p.tryRead()
		if err != nil {
			t.Fatalf("after %d of %d: %v", got, taken, err)
		}
		if len(r.data) != len(data) {
			t.Fatalf("got %v", &r.Header)
		}
	}
	// Each counts once, those too that waited for the program.
	waitFor(t, func() bool { c := b.srv.Clients()[0]; return c.Messages == taken+1 && c.BytesOut == taken*1000+1 })
	waitFor(t, func() bool { return b.srv.Counters().QueuedBytes == 0 })
	if _, err := c.WriteTo([]byte("again"), to); err != nil {
		t.Fatal(err)
	}
	for {
		if m := p.read(); string(m.data) == "again" {
			break
		}
	}
}

// What a program that does not read is to have next counts as waiting, though the socket
// has nothing more: who sees that nothing waits may count on the socket taking what comes.
// The mutation: run of the deliverer does not hold what is left.
//
// Proves: daemon.limits
func TestLastRecordCounts(t *testing.T) {
	t.Parallel()
	data := make([]byte, 60000)
	b := newBed(t, daemon.Config{Quotas: daemon.Quotas{Process: daemon.Limits{QueuedBytes: 2 * len(data)}}})
	p := b.program(t)
	own := p.socket(attach.KindRDM)
	c := b.sender(t)
	to, _ := own.Socket()
	send := func(data []byte) {
		t.Helper()
		if _, err := c.WriteTo(data, to); err != nil {
			t.Fatal(err)
		}
	}
	sent := uint64(0)
	for b.srv.Counters().Stalled == 0 { // one at a time: what stalls is the last
		send(data)
		sent++
		waitFor(t, func() bool { c := b.srv.Counters(); return c.Messages == sent || c.Stalled > 0 })
	}
	if got := b.srv.Counters().QueuedBytes; got < len(data) {
		t.Errorf("%d bytes wait, want %d and more", got, len(data))
	}
	send(data)
	var reject *stack.RejectError
	if _, _, err := c.ReadFrom(make([]byte, len(data))); !errors.As(err, &reject) {
		t.Errorf("one too much: %v", err)
	}
	if got := b.srv.Counters().OverQueue; got != 1 {
		t.Errorf("%d messages were refused, want 1", got)
	}
	for ; sent > 0; sent-- {
		if r := p.read(); len(r.data) != len(data) {
			t.Fatalf("got %v", &r.Header)
		}
	}
	waitFor(t, func() bool { return b.srv.Counters().QueuedBytes == 0 })
	send([]byte("again"))
	if r := p.read(); string(r.data) != "again" {
		t.Errorf("got %v", &r.Header)
	}
}

// A send that waits for room holds up its own connection, ends at its time, can be
// canceled; and with its program all that was written before goes out. The mutation:
// persist ends the session when the program is gone.
//
// Proves: daemon.limits
func TestSendThatWaits(t *testing.T) {
	t.Parallel()
	for _, ring := range []bool{false, true} {
		t.Run(fmt.Sprint("ring ", ring), func(t *testing.T) {
			b := newBed(t, daemon.Config{})
			p, c := b.connected(t, attach.KindSeqPacket)
			if ring {
				p.useRing(0)
			}
			data := make([]byte, 60000)
			h := attach.Header{Op: attach.OpSend, Flags: attach.FlagAnswer, Wide: uint64(50 * time.Millisecond)}
			n := 0 // that are taken
			for ended := false; !ended; {
				r := p.ask(h, data)
				if r.Errno == 0 {
					n++
					continue
				}
				told, why := control.DecodeError(r.Errno, r.data)
				var blocked *stack.BlockedError
				if r.Errno != syscall.EAGAIN || !errors.As(told, &blocked) || blocked.Peer.Port == 0 && blocked.Link == "" {
					t.Fatalf("after %d: %v %s %v", n, r.Errno, r.data, why)
				}
				ended = blocked.Peer.Port != 0 // a link has room again in a moment
			}
			h.Wide = 0
			h.ID = 700
			p.send(h, data)
			waitFor(t, func() bool { return len(must.Get(b.node.Waits(context.Background()))) == 1 })
			p.send(attach.Header{Op: attach.OpCancel, Arg0: 700}, nil)
			if r := p.answer(700); r.Errno != syscall.ECANCELED {
				t.Errorf("canceled: %v %s", r.Errno, r.data)
			}
			h.ID = 701
			p.send(h, data)
			waitFor(t, func() bool { return len(must.Get(b.node.Waits(context.Background()))) == 1 })
			buf := make([]byte, len(data))
			if _, err := c.Read(buf); err != nil { // makes room
				t.Fatal(err)
			}
			for range n {
				if _, err := c.Read(buf); err != nil {
					t.Fatal(err)
				}
			}
			if r := p.answer(701); r.Errno != 0 {
				t.Errorf("at last: %v", r.Errno)
			}
			h.Flags, h.ID = 0, 0
			wrote := 0
			for len(must.Get(b.node.Waits(context.Background()))) == 0 {
				switch err := p.c.TryWrite(&h, data); err {
				case nil:
					wrote++
				case syscall.EAGAIN:
				default:
					t.Fatal(err)
				}
			}
			for p.c.TryWrite(&h, data) == nil { // behind the one that waits
				wrote++
			}
			p.c.Close()
			for ; wrote > 0; wrote-- {
				if k, err := c.Read(buf); k != len(data) || err != nil {
					t.Fatalf("%d of what was written before the end did not come: %v", wrote, err)
				}
			}
			if _, err := c.Read(buf); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("then got %v, want a reset", err)
			}
			waitFor(t, func() bool {
				return len(must.Get(b.node.Waits(context.Background()))) == 0 && b.srv.Counters().Connections == 0
			})
		})
	}
}

// Who sends more than a process may is read more slowly, and has all of it taken.
//
// Proves: daemon.limits
func TestRate(t *testing.T) {
	b := newBed(t, daemon.Config{Quotas: daemon.Quotas{Records: 100}}) // the machine sends more
	p := b.program(t)
	began := time.Now()
	const k = 30
	for range k {
		p.send(attach.Header{Op: attach.OpPing}, nil)
	}
	p.must(attach.Header{Op: attach.OpPing}, nil)
	if took := time.Since(began); took < (k-10)*time.Second/100-50*time.Millisecond {
		t.Errorf("%d records in %v", k, took)
	}
	if c := b.srv.Clients(); c[0].Slowed == 0 || c[0].Records < k {
		t.Errorf("%+v", c)
	}
}

// Rights: who is not root and not the daemon's user has what the policy says.
//
// Proves: daemon.limits
func TestPolicy(t *testing.T) {
	all := []daemon.Right{daemon.UseRight, daemon.ShowRight, daemon.ManageRight, daemon.CaptureRight, daemon.KeysRight}
	may := func(p daemon.Policy, who attach.Credentials) (out []string) {
		for _, c := range all {
			if p.Allows(c, who) {
				out = append(out, c.String())
			}
		}
		return out
	}
	someone := attach.Credentials{PID: 1, UID: 54321, GID: 54321, Groups: []uint32{7, 9}}
	p := daemon.DefaultPolicy(8)
	if got := may(p, someone); !slices.Equal(got, []string{"use", "show"}) {
		t.Errorf("someone: %v", got)
	}
	for name, who := range map[string]attach.Credentials{
		"root": {UID: 0}, "the daemon's user": {UID: uint32(os.Geteuid())},
		"the group": {UID: 54321, GID: 8}, "a supplementary group": {UID: 54321, GID: 1, Groups: []uint32{3, 8}},
	} {
		if got := may(p, who); len(got) != len(all) {
			t.Errorf("%s: %v", name, got)
		}
	}
	p.Show.Everyone = false
	p.Keys.Users = []uint32{54321}
	p.Capture.Groups = []uint32{9}
	if got := may(p, someone); !slices.Equal(got, []string{"use", "capture", "keys"}) {
		t.Errorf("someone: %v", got)
	}
	if p.Allows(0, someone) || p.Allows(99, someone) {
		t.Error("a class that is none")
	}
}

// A graceful end: every program is told why, and reads the end then.
//
// Proves: daemon.end
func TestShutdownTellsWhy(t *testing.T) {
	t.Parallel()
	b := newBed(t, daemon.Config{})
	p, q := b.program(t), b.program(t)
	p.socket(attach.KindRDM)
	p.bind(18888, 1)
	if err := b.peer.WaitFor(within(t), stack.Service{Type: 18888, Instance: 1}); err != nil {
		t.Fatal(err)
	}
	if err := b.srv.Shutdown(within(t), "the machine is restarted"); err != nil {
		t.Fatal(err)
	}
	for _, x := range []*program{p, q} {
		if r, err := x.tryRead(); err != nil || r.Op != attach.OpGone || string(r.data) != "the machine is restarted" {
			t.Errorf("got %v %q, %v", &r.Header, r.data, err)
		}
		if _, err := x.tryRead(); err != io.EOF {
			t.Errorf("got %v", err)
		}
	}
	if _, err := attach.Dial(within(t), b.path); err == nil {
		t.Error("it listens still")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := b.srv.Shutdown(ctx, "again"); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
