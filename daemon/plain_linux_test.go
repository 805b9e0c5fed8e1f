// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
)

// Two programs of one host are connected by their own descriptors: each reads what the other
// wrote, knows both addresses, and is told how the connection ended. The daemon has nothing of
// it. Mutations: Sockets.take never returns the socket that connects; Sockets.passed forgets
// the ending of the peer.
//
// Proves: plain.connections
func TestPlainDirect(t *testing.T) {
	for _, kind := range []attach.Kind{attach.KindStream, attach.KindSeqPacket} {
		t.Run(kind.String(), func(t *testing.T) {
			b := newBed(t, daemon.Config{})
			l := b.plainListener(t, kind)
			c, s := b.plainPair(t, l, kind)
			// The listener alone, once the requests that are answered have ended.
			waitFor(t, func() bool { return b.srv.Counters().Connections == 1 })
			c.write("to the server")
			s.reads("to the server")
			s.write("to the client")
			c.reads("to the client")
			cs, ss := c.state(), s.state()
			if cs.Addr != ss.Addr2 || cs.Addr2 != ss.Addr || cs.Addr == ss.Addr || cs.Arg0 != 3 || ss.Arg0 != 3 {
				t.Errorf("client %v, server %v", &cs, &ss)
			}
			c.want(syscall.EISCONN, serviceHeader(attach.OpPlainConnect))
			c.want(0, attach.Header{Op: attach.OpPlainShutdown})
			c.write("last")
			unix.Shutdown(c.fd, unix.SHUT_RDWR)
			s.reads("last")
			s.ends()
			if r := s.state(); r.Arg0 != 4 || r.Wide != 5 {
				t.Errorf("after the peer's shutdown: %v", &r)
			}
			c, s = b.plainPair(t, l, kind)
			c.close()
			s.ends()
			if r := s.state(); r.Arg0 != 4 || syscall.Errno(r.Arg1) != syscall.ECONNRESET {
				t.Errorf("after the peer's close: %v", &r)
			}
		})
	}
}

// A plain socket and a program on another node are connected through the daemon, either way
// round, and each reads all that the other wrote before it ended. Mutations: end aborts a
// connection that was shut down in order; report does not look at that.
//
// Proves: plain.connections
func TestPlainRelayed(t *testing.T) {
	t.Parallel()
	for _, kind := range []attach.Kind{attach.KindStream, attach.KindSeqPacket} {
		t.Run(kind.String(), func(t *testing.T) {
			b := newBed(t, daemon.Config{})
			l, err := b.peer.Listen(within(t), kind.Network(), plainService)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if err := b.node.WaitFor(within(t), plainService); err != nil {
				t.Fatal(err)
			}
			dialed := func() (*plainSocket, net.Conn) {
				p := b.plain(t, kind)
				h := serviceHeader(attach.OpPlainConnect)
				h.Arg0 = 1
				p.want(syscall.EINPROGRESS, h)
				c, err := l.Accept()
				if err != nil {
					t.Fatal(err)
				}
				h.Arg0 = 0
				if r := p.ask(h); r.Errno != 0 && r.Errno != syscall.EISCONN {
					t.Fatal(r.Errno)
				}
				return p, c
			}
			p, c := dialed()
			big := bytes.Repeat([]byte("0123456789"), 6000)
			p.write(string(big))
			p.want(0, attach.Header{Op: attach.OpPlainShutdown})
			if r := p.state(); r.Arg0 != 4 || r.Wide != 0 || r.Arg1 != 0 {
				t.Errorf("shut down by the program, and the rest is on its way: %v", &r)
			}
			unix.Shutdown(p.fd, unix.SHUT_RDWR)
			if got, err := readAll(c); err != nil || !bytes.Equal(got, big) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			p, c = dialed()
			p.write(string(big))
			p.close()
			if got, err := readAll(c); !errors.Is(err, syscall.ECONNRESET) || !bytes.Equal(got, big) {
				t.Errorf("%d bytes, %v, want all and a reset", len(got), err)
			}
			p, c = dialed()
			if _, err := c.Write(big); err != nil {
				t.Fatal(err)
			}
			c.Close()
			p.reads(string(big))
			p.ends()
			if r := p.state(); r.Arg0 != 4 || r.Wide != 5 {
				t.Errorf("after the peer's close: %v", &r)
			}
		})
	}
}

// readAll is io.ReadAll in whole messages.
func readAll(c net.Conn) (all []byte, err error) {
	buf := make([]byte, attach.MaxData)
	for {
		n, err := c.Read(buf)
		all = append(all, buf[:n]...)
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}

// What a kernel refuses is refused, with its errno. Mutation: an idle socket takes requests.
//
// Proves: plain.errors
func TestPlainErrors(t *testing.T) {
	b := newBed(t, daemon.Config{})
	s := b.plain(t, attach.KindSeqPacket)
	bind := func(a attach.Sockaddr) attach.Header { return attach.Header{Op: attach.OpPlainBind, Addr: a} }
	own := s.state().Addr
	if own.A == 0 {
		t.Error("a socket without a port")
	}
	s.want(syscall.EAFNOSUPPORT, bind(own))
	s.want(syscall.EACCES, bind(attach.Sockaddr{Family: attach.AFTIPC, Type: attach.TypeService, A: 63}))
	s.want(syscall.EINVAL, bind(attach.Sockaddr{Family: attach.AFTIPC, Type: attach.TypeRange, A: 63, B: 2, C: 1}))
	s.want(syscall.EINVAL, bind(attach.Sockaddr{Family: attach.AFTIPC, Type: 9}))
	unbind := attach.ServiceSockaddr(plainService, 0)
	unbind.Scope = -2
	s.want(0, bind(unbind)) // nothing is bound
	connect := serviceHeader(attach.OpPlainConnect)
	for _, wait := range []uint32{0, 1} {
		connect.Arg0 = wait
		s.want(syscall.EHOSTUNREACH, connect)
	}
	s.want(syscall.ENOTCONN, attach.Header{Op: attach.OpPlainShutdown})
	s.want(0, serviceHeader(attach.OpPlainBind))
	s.want(syscall.EOPNOTSUPP, connect)
	other := unbind
	other.B++
	s.want(syscall.EINVAL, bind(other))

	c := b.plain(t, attach.KindSeqPacket)
	connect.Arg0 = 0
	c.want(syscall.ECONNREFUSED, connect) // bound, not listening
	c.ends()
	c.want(syscall.EINVAL, connect)
	c = b.plain(t, attach.KindSeqPacket)
	connect.Arg0 = 1
	c.want(syscall.EINPROGRESS, connect)
	c.await(unix.POLLHUP)
	if r := c.state(); syscall.Errno(r.Arg1) != syscall.ECONNREFUSED {
		t.Errorf("state %v, want ECONNREFUSED", &r)
	}
	if r := c.state(); r.Arg1 != 0 {
		t.Errorf("the second state has %v", syscall.Errno(r.Arg1))
	}
	s.want(0, bind(unbind))
	s.want(0, attach.Header{Op: attach.OpPlainListen})
	s.want(syscall.EINVAL, attach.Header{Op: attach.OpPlainListen})
	s.want(syscall.EINVAL, connect)

	other2 := b.plain(t, attach.KindStream)
	r, _, _ := b.plainAsk(t, attach.Header{Op: attach.OpPlainState}, nil, -1)
	if r.Errno != syscall.ENOTSOCK {
		t.Errorf("without a descriptor: %v", r.Errno)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	name, err := unix.Getsockname(other2.fd)
	if err != nil {
		t.Fatal(err)
	}
	other2.close()
	if err := unix.Bind(pair[0], name); err != nil {
		t.Fatal(err)
	}
	r, _, _ = b.plainAsk(t, attach.Header{Op: attach.OpPlainState}, nil, pair[0])
	if r.Errno != syscall.ENOTSOCK {
		t.Errorf("with another socket of the same name: %v", r.Errno)
	}
}

// A ticket that a program took and did not use is replaced, and a request is refused when its
// listener closes. Mutation: serveTicket does not offer another.
//
// Proves: plain.connections
func TestPlainTickets(t *testing.T) {
	b := newBed(t, daemon.Config{})
	l := b.plainListener(t, attach.KindStream)
	c := b.plain(t, attach.KindStream)
	connect := serviceHeader(attach.OpPlainConnect)
	connect.Arg0 = 1
	c.want(syscall.EINPROGRESS, connect)
	l.ticket().Close()
	s := l.accept()
	c.write("x")
	s.reads("x")
	c2 := b.plain(t, attach.KindStream)
	c2.want(syscall.EINPROGRESS, connect)
	unused := l.ticket()
	l.close()
	c2.await(unix.POLLHUP)
	if r := c2.state(); syscall.Errno(r.Arg1) != syscall.ECONNREFUSED {
		t.Errorf("state %v, want ECONNREFUSED", &r)
	}
	var h attach.Header
	if _, err := unused.Read(&h, nil); err != io.EOF {
		t.Errorf("a ticket of a closed listener reads %v", err)
	}
}

// The daemon holds no descriptor of a socket when a request about it is answered: a close after
// that is the last one. Mutation: plainRequest closes the descriptor after the answer.
//
// Proves: plain.harmless
func TestPlainHoldsNothing(t *testing.T) {
	b := newBed(t, daemon.Config{})
	c, s := b.plainPair(t, b.plainListener(t, attach.KindStream), attach.KindStream)
	own, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", c.fd))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		c.state()
		all, err := os.ReadDir("/proc/self/fd") // the daemon is in this process
		if err != nil {
			t.Fatal(err)
		}
		held := 0
		for _, e := range all {
			if name, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && name == own {
				held++
			}
		}
		if held != 1 {
			t.Fatalf("%d descriptors of the socket after an answer, want the program's", held)
		}
	}
	c.close()
	s.ends()
}

// A connection between two programs of one host is direct, and connect succeeds, however soon
// the request is accepted. Mutations: try enters the socket in dialing when the request is sent;
// try keeps the error of a dial that handOver cut short.
//
// Proves: plain.connections
func TestPlainAcceptedAtOnce(t *testing.T) {
	b := newBed(t, daemon.Config{})
	l := b.plainListener(t, attach.KindSeqPacket)
	for range 50 {
		c := b.plain(t, attach.KindSeqPacket)
		connected := make(chan attach.Header, 1)
		go func() { connected <- c.ask(serviceHeader(attach.OpPlainConnect)) }()
		s := l.accept()
		if r := <-connected; r.Errno != 0 {
			t.Fatalf("connect: %v", r.Errno)
		}
		c.close()
		if k, _, err := unix.Recvfrom(s.fd, make([]byte, 8), unix.MSG_DONTWAIT); k != 0 || err != nil {
			t.Fatalf("%d, %v after the peer's close: the connection is not direct", k, err)
		}
		s.close()
	}
}
