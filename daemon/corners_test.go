// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

// A connect that was not begun, for a limit or an ID that is in use, leaves the socket as
// it was.
func TestConnectThatIsNotBegun(t *testing.T) {
	b := newBed(t, daemon.Config{Quotas: daemon.Quotas{Process: daemon.Limits{Calls: 1}}})
	l, err := b.node.Listen(within(t), "tipc", stack.Service{Type: 18888, Instance: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, busy := b.program(t), b.program(t)
	p.socket(attach.KindStream)
	busy.must(attach.Header{Op: attach.OpJoin, Addr: service(4242, 1)}, nil)
	busy.send(attach.Header{Op: attach.OpCall, ID: 100}, attach.AppendCall(nil, "socket.wait-members", []byte(`{"members": 9}`)))
	waitFor(t, func() bool { return b.srv.Counters().Calls == 1 })
	p.fails(syscall.EAGAIN, attach.Header{Op: attach.OpConnect, Addr: service(18888, 1)}, nil)
	busy.send(attach.Header{Op: attach.OpCancel, Arg0: 100}, nil)
	busy.answer(100)
	waitFor(t, func() bool { return b.srv.Counters().Calls == 0 })
	p.connect(l, service(18888, 1))
}

// connect connects the program to a listener, which accepts.
func (p *program) connect(l *stack.Listener, to attach.Sockaddr) *stack.Conn {
	p.t.Helper()
	p.send(attach.Header{Op: attach.OpConnect, ID: 600, Addr: to}, nil)
	l.SetDeadline(time.Now().Add(testTimeout))
	accepted := make(chan *stack.Conn, 1)
	go func() {
		c, _ := l.AcceptConn()
		accepted <- c
	}()
	if r := p.answer(600); r.Errno != 0 {
		p.t.Fatalf("connect: %v", r.Errno)
	}
	c := <-accepted
	if c != nil {
		p.t.Cleanup(func() { c.Close() })
	}
	return c
}

// Sockets that are accepted have the options of their listener, whoever sets these
// meanwhile.
func TestOptionsWhileAccepting(t *testing.T) {
	b := newBed(t, daemon.Config{})
	l, c := b.program(t), b.program(t)
	l.socket(attach.KindStream)
	l.must(attach.Header{Op: attach.OpListen, Addr: service(18888, 1)}, nil)
	c.c.Close()
	const rounds = 30
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range rounds {
			x, err := b.node.Dial(within(t), "tipc", stack.Service{Type: 18888, Instance: 1})
			if err != nil {
				t.Error(err)
				return
			}
			defer x.Close()
		}
	}()
	for i := range rounds {
		id := uint32(1000 + i)
		l.send(attach.Header{Op: attach.OpAccept, ID: id}, nil)
		l.send(attach.Header{Op: attach.OpSetOption}, attach.AppendOption(nil, attach.OptConnTimeout, 4000))
		x := l.accepted(id)
		r := x.must(attach.Header{Op: attach.OpGetOption}, attach.AppendOption(nil, attach.OptConnTimeout, 0))
		o, err := attach.ParseOptions(r.data, nil)
		if err != nil || len(o) != 1 || i > 0 && o[0].Value != 4000 {
			t.Errorf("%d: options %v, %v", i, o, err)
		}
	}
	<-done
}

// A cancel in a ring, behind a send that waits, that its program scribbles over, ends the
// connection: it is not looked at again and again.
func TestCorruptCancel(t *testing.T) {
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
	p.connect(l, service(18888, 1))
	p.send(attach.Header{Op: attach.OpRing, ID: 900}, nil)
	var h attach.Header
	_, fd, err := p.c.ReadFD(&h, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	mem, err := unix.Mmap(fd, 0, 4096+int(h.Arg0), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem)
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.c.TakeRing(&h, dup); err != nil {
		t.Fatal(err)
	}
	send := attach.Header{Op: attach.OpSend}
	data := make([]byte, 60000)
	for len(must.Get(b.node.Waits(context.Background()))) == 0 {
		if err := p.c.TryWrite(&send, data); err != nil && err != syscall.EAGAIN {
			t.Fatal(err)
		}
	}
	// What comes next is a cancel, longer than there is.
	tail := binary.NativeEndian.Uint32(mem[1024+128:])
	at := 4096 + int(tail&(h.Arg0-1))
	(&attach.Header{Op: attach.OpCancel, Len: 60000}).Put(mem[at : at+64])
	binary.NativeEndian.PutUint32(mem[1024:], tail+64)
	raw, err := p.c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Write(func(s uintptr) bool { unix.Write(int(s), []byte{0}); return true }) // a wake-up byte
	waitFor(t, func() bool {
		return b.srv.Counters().Connections == 0 && len(must.Get(b.node.Waits(context.Background()))) == 0
	})
	if c := b.srv.Counters(); c.RingFaults != 1 || c.Broken != 1 {
		t.Errorf("counted %+v", c)
	}
	p.c.SetReadDeadline(time.Now().Add(testTimeout))
	if _, err := p.tryRead(); err == nil {
		t.Error("the connection goes on")
	}
}

// Answers that their program does not read are as much memory as its limit says, however
// many it asks for.
func TestAnswersThatAreNotRead(t *testing.T) {
	const limit = 1 << 20
	b := newBed(t, daemon.Config{Quotas: daemon.Quotas{Process: daemon.Limits{QueuedBytes: limit}}})
	p := b.program(t)
	p.socket(attach.KindRDM)
	for i := range uint32(2000) {
		p.send(attach.Header{Op: attach.OpBind, Addr: service(18888, i)}, nil)
	}
	one := p.call("names", nil)
	if one.Errno != 0 || len(one.data) < 2*attach.MaxData || len(one.data) > limit {
		t.Fatalf("%v, %d bytes", one.Errno, len(one.data))
	}
	const asked = 50
	for i := range uint32(asked) {
		p.send(attach.Header{Op: attach.OpCall, ID: 2000 + i}, attach.AppendCall(nil, "names", nil))
	}
	waitFor(t, func() bool { c := b.srv.Counters(); return c.OverLimit > 0 && c.Calls > 0 })
	if c := b.srv.Counters(); c.QueuedBytes < len(one.data) || c.QueuedBytes > limit {
		t.Errorf("%d bytes wait", c.QueuedBytes)
	}
	whole, refused := 0, 0
	sizes := map[uint32]int{}
	for whole+refused < asked {
		r := p.read()
		if sizes[r.ID] += len(r.data); r.Flags&attach.FlagMore != 0 {
			continue
		}
		switch {
		case r.Errno == syscall.ENOBUFS:
			refused++
		case r.Errno == 0 && sizes[r.ID] >= len(one.data): // names of the other node may have come
			whole++
		default:
			t.Fatalf("got %v, %d bytes", &r.Header, sizes[r.ID])
		}
	}
	if whole == 0 || refused == 0 {
		t.Errorf("%d told, %d refused", whole, refused)
	}
	waitFor(t, func() bool { return b.srv.Counters().QueuedBytes == 0 })
}

// A server that ends while programs come, and are accepted, leaves nothing of them.
func TestShutdownWhileProgramsCome(t *testing.T) {
	t.Parallel()
	b := newBed(t, daemon.Config{})
	ctx := within(t)
	for range 8 {
		srv, err := daemon.New(b.node, daemon.Config{})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "s")
		l, err := attach.Listen(path, 0o600, -1)
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- srv.Serve(l) }()
		x := &bed{node: b.node, path: path}
		p := x.program(t)
		p.socket(attach.KindStream)
		p.must(attach.Header{Op: attach.OpListen, Addr: service(18888, 1)}, nil)
		for id := range uint32(8) {
			p.send(attach.Header{Op: attach.OpAccept, ID: 1000 + id}, nil)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { // until nobody listens
				for {
					c, err := attach.Dial(ctx, path)
					if err != nil {
						return
					}
					h, name := attach.HelloRequest(1, 0, "test")
					c.Write(&h, name)
					c.Close()
				}
			})
			all.Go(func() {
				for {
					c, err := b.node.Dial(ctx, "tipc", stack.Service{Type: 18888, Instance: 1})
					if err != nil {
						return
					}
					c.Close()
				}
			})
		}
		waitFor(t, func() bool { return srv.Counters().Records > 20 })
		if err := srv.Shutdown(within(t), "the test is over"); err != nil {
			t.Fatal(err)
		}
		if err := <-served; !errors.Is(err, net.ErrClosed) {
			t.Errorf("served: %v", err)
		}
		all.Wait()
		if c := srv.Counters(); c.Connections != 0 || c.Clients != 0 || c.Names != 0 {
			t.Errorf("left behind: %+v", c)
		}
	}
	waitFor(t, func() bool {
		for _, s := range must.Get(b.node.Admin().Sockets(context.Background())) {
			if !s.Inside {
				return false
			}
		}
		return true
	})
}

// A subscription whose program does not read ends when its events fill the program's
// account, whatever number it asked room for; others go on. The mutation: told of the
// engine's Subscription does not heed the account.
func TestUnreadEventsEndTheSubscription(t *testing.T) {
	const limit = 200000
	b := newBed(t, daemon.Config{Quotas: daemon.Quotas{Process: daemon.Limits{QueuedBytes: limit, Names: 1 << 15}}})
	p, s := b.program(t), b.program(t)
	s.must(attach.Header{Op: attach.OpSubscribe, Addr: attach.RangeSockaddr(stack.Range{Type: 18888, Upper: 1 << 20}, 0), Arg1: 1 << 16}, nil)
	p.socket(attach.KindRDM)
	for i := range uint32(12000) {
		p.send(attach.Header{Op: attach.OpBind, Addr: service(18888, i)}, nil)
		if i%1000 == 0 {
			if k := b.srv.Counters().QueuedBytes; k > limit {
				t.Fatalf("%d bytes wait", k)
			}
		}
	}
	p.must(attach.Header{Op: attach.OpPing}, nil)
	for {
		r := s.read()
		if r.Op == attach.OpEnd {
			if r.Errno != syscall.EOVERFLOW {
				t.Errorf("ended with %v", r.Errno)
			}
			break
		}
	}
	if c := b.srv.Counters(); c.OverQueue == 0 {
		t.Errorf("%+v", c)
	}
	s.c.Close()
	waitFor(t, func() bool { return b.srv.Counters().QueuedBytes == 0 })
}

// Events of bindings that exist are charged until they are written to the program. A list goes
// on as there is room for more of it; while there is none, another subscription is refused.
//
// It fails if Next does not give back what an event was charged.
func TestEventsOfBindingsAreCharged(t *testing.T) {
	const limit, bound, some = 60000, 8000, 500
	b := newBed(t, daemon.Config{Quotas: daemon.Quotas{Process: daemon.Limits{QueuedBytes: limit, Names: 2 * bound}}})
	p := b.program(t)
	p.socket(attach.KindRDM)
	for i := range uint32(bound) {
		p.send(attach.Header{Op: attach.OpBind, Addr: service(18888, i)}, nil)
	}
	p.must(attach.Header{Op: attach.OpPing}, nil)
	sub := func(upper uint32) attach.Header {
		return attach.Header{Op: attach.OpSubscribe, Addr: attach.RangeSockaddr(stack.Range{Type: 18888, Upper: upper}, 0)}
	}
	read := func(c *program, k int) {
		for k > 0 {
			k -= len(c.read().data) / attach.EventLen
		}
	}
	queued := func() int64 { return int64(b.srv.Counters().QueuedBytes) }
	first := b.program(t)
	first.must(sub(some-1), nil)
	read(first, some)
	waitFor(t, func() bool { return queued() == 0 })

	var lists []*program // that do not read: what their sockets do not hold waits
	for refused := false; !refused; {
		if len(lists) == 100 {
			t.Fatalf("no subscription was refused, with %d bytes queued", queued())
		}
		c := b.program(t)
		switch r := c.ask(sub(bound-1), nil); r.Errno {
		case 0:
			lists = append(lists, c)
		case syscall.ENOBUFS:
			refused = true
		default:
			t.Fatal(r.Errno)
		}
		if k := queued(); k > limit {
			t.Fatalf("%d bytes are queued, want at most %d", k, limit)
		}
	}
	read(lists[0], bound)
	for _, c := range lists {
		c.c.Close()
	}
	waitFor(t, func() bool { return queued() == 0 })
	b.program(t).must(sub(some-1), nil)
}
