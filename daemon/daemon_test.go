// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/tier"
)

// testTimeout is how long a test waits for what must happen.
const testTimeout = 2 * time.Minute

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	t.Cleanup(cancel)
	return ctx
}

// tolerance is that of links: a node that a test's machine holds up is not lost.
const tolerance = 30 * time.Second

// A bed is a daemon on a hub, and a node of another process beside it.
type bed struct {
	node, peer *stack.Node
	srv        *daemon.Server
	cfg        daemon.Config
	path       string
}

func newBed(t testing.TB, cfg daemon.Config) *bed {
	t.Helper()
	h := hub.New(hub.Config{})
	b := &bed{path: filepath.Join(t.TempDir(), "utipc.sock"), cfg: cfg}
	b.node, b.peer = openOn(t, h, 1), openOn(t, h, 2)
	b.serve(t)
	return b
}

// serve starts a daemon on the node, the next one when the last was shut down.
func (b *bed) serve(t testing.TB) {
	t.Helper()
	srv, err := daemon.New(b.node, b.cfg)
	if err != nil {
		t.Fatal(err)
	}
	l, err := attach.Listen(b.path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	b.srv = srv
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	t.Cleanup(func() {
		if err := srv.Shutdown(within(t), "the test is over"); err != nil {
			t.Error(err)
		}
		<-served
		if c := srv.Counters(); c.Connections != 0 || c.Clients != 0 || c.Names != 0 || c.Calls != 0 || c.QueuedBytes != 0 || c.Subscriptions != 0 || c.Rings != 0 {
			t.Errorf("left behind: %+v", c)
		}
	})
}

func openOn(t testing.TB, h *hub.Hub, i int) *stack.Node {
	t.Helper()
	port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i)})
	if err != nil {
		t.Fatal(err)
	}
	n, err := stack.Open(within(t), stack.Config{Bearers: []stack.Bearer{port}, Address: stack.NodeAddr(0x1001000 + i), Tolerance: tolerance})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close(within(t)) })
	return n
}

// A program is one connection to the daemon.
type program struct {
	t  testing.TB
	c  *attach.Conn
	id uint32
	in []record // that came while it waited for another
}

type record struct {
	attach.Header
	data []byte
}

func (b *bed) dial(t testing.TB) *program {
	t.Helper()
	c, err := attach.Dial(within(t), b.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(testTimeout))
	return &program{t: t, c: c}
}

// program is a connection that has said hello.
func (b *bed) program(t testing.TB) *program {
	t.Helper()
	p := b.dial(t)
	h, data := attach.HelloRequest(1, attach.FeatureRing, "test")
	r := p.ask(h, data)
	w, err := attach.ParseWelcome(&r.Header, r.data)
	if err != nil || w.Node != b.node.Addr() || w.Identity != b.node.Identity() {
		t.Fatalf("welcome %+v, %v", w, err)
	}
	return p
}

func (p *program) read() record {
	p.t.Helper()
	if len(p.in) > 0 {
		r := p.in[0]
		p.in = p.in[1:]
		return r
	}
	r, err := p.tryRead()
	if err != nil {
		p.t.Fatalf("read: %v", err)
	}
	return r
}

func (p *program) tryRead() (r record, err error) {
	buf := make([]byte, attach.MaxData)
	k, err := p.c.Read(&r.Header, buf)
	r.data = buf[:k]
	return r, err
}

// readable reports whether something lies in the program's socket.
func (p *program) readable() (is bool) {
	p.t.Helper()
	raw, err := p.c.SyscallConn()
	if err != nil {
		p.t.Fatal(err)
	}
	raw.Control(func(fd uintptr) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		is = n > 0 && err == nil
	})
	return is
}

func (p *program) send(h attach.Header, data []byte) {
	p.t.Helper()
	if err := p.c.Write(&h, data); err != nil {
		p.t.Fatalf("write %v: %v", h.Op, err)
	}
}

// ask makes a request and returns the answer.
func (p *program) ask(h attach.Header, data []byte) record {
	p.t.Helper()
	p.id++
	h.ID = p.id
	p.send(h, data)
	return p.answer(h.ID)
}

// answer returns the answer to a request; what comes before is kept.
func (p *program) answer(id uint32) record {
	p.t.Helper()
	var all record
	for {
		r, err := p.tryRead()
		if err != nil {
			p.t.Fatalf("no answer to %d: %v", id, err)
		}
		if !r.IsReply() || r.ID != id {
			p.in = append(p.in, r)
			continue
		}
		all.Header, all.data = r.Header, append(all.data, r.data...)
		if r.Flags&attach.FlagMore == 0 {
			return all
		}
	}
}

// must is ask that is to succeed.
func (p *program) must(h attach.Header, data []byte) record {
	p.t.Helper()
	r := p.ask(h, data)
	if r.Errno != 0 {
		p.t.Fatalf("%v: %v %s", h.Op, r.Errno, r.data)
	}
	return r
}

// fails is ask that is to fail so.
func (p *program) fails(want syscall.Errno, h attach.Header, data []byte) {
	p.t.Helper()
	if r := p.ask(h, data); r.Errno != want {
		p.t.Errorf("%v: got %v %s, want %v", h.Op, r.Errno, r.data, want)
	}
}

func service(typ, instance uint32) attach.Sockaddr {
	return attach.ServiceSockaddr(stack.Service{Type: typ, Instance: instance}, 0)
}

// socket makes the connection a socket.
func (p *program) socket(kind attach.Kind) attach.Sockaddr {
	p.t.Helper()
	return p.must(attach.Header{Op: attach.OpSocket, Arg0: uint32(kind)}, nil).Addr
}

func (p *program) bind(typ, instance uint32) {
	p.t.Helper()
	p.must(attach.Header{Op: attach.OpBind, Addr: service(typ, instance)}, nil)
}

func (p *program) call(verb string, in any) record {
	p.t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.ask(attach.Header{Op: attach.OpCall}, attach.AppendCall(nil, verb, b))
}

func TestMain(m *testing.M) {
	if child := os.Getenv("UTIPC_TEST_CHILD"); child != "" {
		os.Exit(children[child]())
	}
	os.Setenv("UTIPC_LOCKWORK", "1") // a node that holds its lock for too long panics
	tier.AtOnce()
	os.Exit(m.Run())
}

// children are what a process of the test's own binary does.
var children = map[string]func() int{}

// Two programs, and a node elsewhere, write to each other by name; the wire does not tell
// who has a daemon.
//
// Proves: daemon.api
func TestDatagrams(t *testing.T) {
	t.Parallel()
	for _, kind := range []attach.Kind{attach.KindRDM, attach.KindDatagram} {
		t.Run(kind.String(), func(t *testing.T) {
			b := newBed(t, daemon.Config{})
			server, client := b.program(t), b.program(t)
			own := server.socket(kind)
			if own.Type != attach.TypeSocket || own.A == 0 || own.B != uint32(b.node.Addr()) {
				t.Fatalf("socket %v", own)
			}
			server.bind(18888, 17)
			server.must(attach.Header{Op: attach.OpBind, Addr: attach.RangeSockaddr(stack.Range{Type: 18888, Lower: 20, Upper: 29}, 0)}, nil)
			from := client.socket(kind)
			client.send(attach.Header{Op: attach.OpSend, Addr: service(18888, 17)}, []byte("hello"))
			m := server.read()
			if m.Op != attach.OpMessage || string(m.data) != "hello" || m.Addr != from || m.Addr2 != attach.RangeSockaddr(stack.Range{Type: 18888, Lower: 17, Upper: 17}, 0) {
				t.Fatalf("got %v %q", &m.Header, m.data)
			}
			server.send(attach.Header{Op: attach.OpSend, Addr: m.Addr}, []byte("answer"))
			if m = client.read(); string(m.data) != "answer" || m.Addr != own || !m.Addr2.IsZero() {
				t.Fatalf("got %v %q", &m.Header, m.data)
			}
			// From elsewhere, and back.
			if err := b.peer.WaitFor(within(t), stack.Service{Type: 18888, Instance: 25}); err != nil {
				t.Fatal(err)
			}
			c, err := b.peer.ListenPacket(within(t), kind.Network(), stack.Service{Type: 18889})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for i := range 200 {
				if _, err := c.WriteTo(fmt.Append(nil, i), stack.Service{Type: 18888, Instance: 25}); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 200 {
				if m := server.read(); string(m.data) != fmt.Sprint(i) {
					t.Fatalf("got %q, want %d", m.data, i)
				}
			}
			long := make([]byte, attach.MaxData)
			for i := range long {
				long[i] = byte(i * 7)
			}
			if err := b.node.WaitFor(within(t), stack.Service{Type: 18889}); err != nil {
				t.Fatal(err)
			}
			r := server.ask(attach.Header{Op: attach.OpSend, Flags: attach.FlagAnswer, Addr: service(18889, 0)}, long)
			if r.Errno != 0 {
				t.Fatal(r.Errno)
			}
			got := make([]byte, attach.MaxData)
			c.SetReadDeadline(time.Now().Add(testTimeout))
			if k, _, err := c.ReadFrom(got); err != nil || k != len(long) || string(got) != string(long) {
				t.Fatalf("got %d bytes, %v", k, err)
			}
			// What fails is told: with the answer, or after it.
			server.fails(syscall.EHOSTUNREACH, attach.Header{Op: attach.OpSend, Flags: attach.FlagAnswer, Addr: service(18890, 1)}, []byte("x"))
			server.send(attach.Header{Op: attach.OpSend, ID: 77, Addr: service(18890, 1)}, []byte("x"))
			if f := server.read(); f.Op != attach.OpFailed || f.ID != 77 || f.Errno != syscall.EHOSTUNREACH || f.Arg0 != 1 || f.Addr != service(18890, 1) {
				t.Errorf("got %v", &f.Header)
			}
			server.must(attach.Header{Op: attach.OpUnbind, Addr: service(18888, 17)}, nil)
			server.fails(syscall.EADDRNOTAVAIL, attach.Header{Op: attach.OpUnbind, Addr: service(18888, 17)}, nil)
			client.fails(syscall.EHOSTUNREACH, attach.Header{Op: attach.OpSend, Flags: attach.FlagAnswer, Addr: service(18888, 17)}, []byte("x"))
		})
	}
}

// Connections: accepted with a descriptor each, both kinds, between programs and with
// another node; ended in order and not.
//
// Proves: daemon.api
func TestConnections(t *testing.T) {
	t.Parallel()
	for _, kind := range []attach.Kind{attach.KindStream, attach.KindSeqPacket} {
		t.Run(kind.String(), func(t *testing.T) {
			b := newBed(t, daemon.Config{})
			server, client := b.program(t), b.program(t)
			if own := server.socket(kind); own.A != 0 {
				t.Errorf("a port before it listens: %v", own)
			}
			server.fails(syscall.EINVAL, attach.Header{Op: attach.OpAccept}, nil)
			r := server.must(attach.Header{Op: attach.OpListen, Addr: service(18888, 1)}, nil)
			if r.Addr.A == 0 {
				t.Errorf("listens at %v", r.Addr)
			}
			client.socket(kind)
			client.fails(syscall.ENOTCONN, attach.Header{Op: attach.OpSend, Flags: attach.FlagAnswer}, []byte("x"))
			client.fails(syscall.EHOSTUNREACH, attach.Header{Op: attach.OpConnect, Addr: service(18888, 9)}, nil)
			for round := range 2 { // by a program, then by another node
				server.id++
				server.send(attach.Header{Op: attach.OpAccept, ID: server.id}, nil)
				var remote func(data string)
				var near func() (string, error)
				var close func()
				if round == 0 {
					c := client.must(attach.Header{Op: attach.OpConnect, Addr: service(18888, 1)}, []byte("first"))
					if c.Addr.Type != attach.TypeSocket || c.Wide == 0 {
						t.Errorf("connected %v", &c.Header)
					}
					client.fails(syscall.EISCONN, attach.Header{Op: attach.OpConnect, Addr: service(18888, 1)}, nil)
					remote = func(data string) {
						client.must(attach.Header{Op: attach.OpSend, Flags: attach.FlagAnswer}, []byte(data))
					}
					near = func() (string, error) { m := client.read(); return string(m.data), errnoOrNil(m.Errno) }
					close = func() { client.must(attach.Header{Op: attach.OpShutdown}, nil) }
				} else {
					if err := b.peer.WaitFor(within(t), stack.Service{Type: 18888, Instance: 1}); err != nil {
						t.Fatal(err)
					}
					c, err := stack.SocketConfig{}.DialWith(within(t), b.peer, kind.Network(), stack.Service{Type: 18888, Instance: 1}, []byte("first"))
					if err != nil {
						t.Fatal(err)
					}
					c.SetDeadline(time.Now().Add(testTimeout))
					remote = func(data string) { c.Write([]byte(data)) }
					near = func() (string, error) {
						buf := make([]byte, 100)
						k, err := c.Read(buf)
						return string(buf[:k]), err
					}
					close = func() { c.Abort() }
				}
				x := server.accepted(server.id)
				if m := x.read(); m.Op != attach.OpMessage || string(m.data) != "first" {
					t.Fatalf("got %v %q", &m.Header, m.data)
				}
				remote("second")
				if m := x.read(); string(m.data) != "second" {
					t.Fatalf("got %v %q", &m.Header, m.data)
				}
				x.send(attach.Header{Op: attach.OpSend}, []byte("back"))
				if got, err := near(); got != "back" || err != nil {
					t.Fatalf("got %q, %v", got, err)
				}
				close()
				want := [2]syscall.Errno{0, syscall.ECONNRESET}[round]
				if m := x.read(); m.Op != attach.OpEnd || m.Errno != want {
					t.Errorf("end: %v", &m.Header)
				}
				x.fails([2]syscall.Errno{syscall.EPIPE, syscall.ECONNRESET}[round], attach.Header{Op: attach.OpSend, Flags: attach.FlagAnswer}, []byte("x"))
			}
		})
	}
}

func errnoOrNil(e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

// accepted is the connection that answers an accept.
func (p *program) accepted(id uint32) *program {
	p.t.Helper()
	var h attach.Header
	buf := make([]byte, 1000)
	k, fd, err := p.c.ReadFD(&h, buf)
	if err != nil {
		p.t.Fatal(err)
	}
	if h.Op != attach.OpAccept || h.ID != id {
		p.t.Fatalf("got %v %q", &h, buf[:k])
	}
	if h.Errno != 0 || fd < 0 {
		p.t.Fatalf("accept: %v, descriptor %d", h.Errno, fd)
	}
	c, err := attach.NewConn(fd)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(testTimeout))
	return &program{t: p.t, c: c}
}
