// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"bytes"
	"encoding/binary"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
)

// send asks for a message to be sent, without waiting for room.
func (s *plainSocket) send(to attach.Sockaddr, data []byte) syscall.Errno {
	s.t.Helper()
	r, _, _ := s.b.plainAsk(s.t, attach.Header{Op: attach.OpPlainSend, Addr: to, Arg0: 1}, data, s.fd)
	return r.Errno
}

// receive returns a message that is there.
func (s *plainSocket) receive() (attach.Header, string) {
	s.t.Helper()
	buf := make([]byte, attach.HeaderLen+attach.MaxData)
	n, _, err := unix.Recvfrom(s.fd, buf, unix.MSG_DONTWAIT)
	if err != nil {
		s.t.Fatalf("a message: %v", err)
	}
	h, data, err := attach.ParseRecord(buf[:n])
	if err != nil || h.Op != attach.OpMessage {
		s.t.Fatalf("%v, %v", &h, err)
	}
	return h, string(data)
}

// nothing wants that no message is there.
func (s *plainSocket) nothing() {
	s.t.Helper()
	if n, _, err := unix.Recvfrom(s.fd, make([]byte, 100), unix.MSG_DONTWAIT|unix.MSG_PEEK); err != syscall.EAGAIN {
		s.t.Fatalf("%d bytes, %v; want nothing", n, err)
	}
}

func rangeSockaddr(lower, upper uint32) attach.Sockaddr {
	return attach.RangeSockaddr(stack.Range{Type: plainService.Type, Lower: lower, Upper: upper}, 0)
}

// When a send is answered each receiver of this host has the message, with its sender and the
// name it was sent to; a message that nobody takes is back, if it is wanted back, and a name
// that nobody has is an error at once. Mutations: sendTo does not deliver; passed messages have no
// Addr2; apply does not set that messages come back.
//
// Proves: plain.datagrams
func TestPlainDatagrams(t *testing.T) {
	for _, kind := range []attach.Kind{attach.KindRDM, attach.KindDatagram} {
		t.Run(kind.String(), func(t *testing.T) {
			b := newBed(t, daemon.Config{})
			a, c := b.plain(t, kind), b.plain(t, kind)
			a.want(0, attach.Header{Op: attach.OpPlainBind, Addr: rangeSockaddr(10, 20)})
			c.want(0, attach.Header{Op: attach.OpPlainBind, Addr: rangeSockaddr(15, 30)})
			own := c.state().Addr
			service := attach.ServiceSockaddr(stack.Service{Type: plainService.Type, Instance: 10}, 0)
			for range 100 {
				if err := c.send(service, []byte("to the service")); err != 0 {
					t.Fatal(err)
				}
				if h, text := a.receive(); text != "to the service" || h.Addr != own || h.Addr2 != rangeSockaddr(10, 10) {
					t.Fatalf("%v %q", &h, text)
				}
			}
			if err := c.send(rangeSockaddr(0, 100), []byte("to both")); err != 0 {
				t.Fatal(err)
			}
			for _, s := range []*plainSocket{a, c} {
				if h, text := s.receive(); text != "to both" || h.Addr2 != rangeSockaddr(0, 100) {
					t.Errorf("%v %q", &h, text)
				}
			}
			nobody := attach.SocketSockaddr(frame.SocketAddr{Port: 1, Node: frame.NodeAddr(own.B)})
			for _, w := range []struct {
				to  attach.Sockaddr
				err syscall.Errno
			}{
				{rangeSockaddr(31, 40), syscall.EHOSTUNREACH},
				{attach.ServiceSockaddr(stack.Service{Type: plainService.Type, Instance: 31}, 0), syscall.EHOSTUNREACH},
				{rangeSockaddr(20, 10), syscall.EINVAL},
				{attach.Sockaddr{Family: attach.AFTIPC, Type: 9}, syscall.EINVAL},
				{attach.Sockaddr{}, syscall.EDESTADDRREQ},
				{nobody, 0},
			} {
				if err := c.send(w.to, []byte("x")); err != w.err {
					t.Errorf("to %v: %v, want %v", w.to, err, w.err)
				}
			}
			c.nothing()
			o := attach.AppendOption(nil, attach.OptDestDroppable, 0)
			if r, _, _ := b.plainAsk(t, attach.Header{Op: attach.OpPlainSetOption}, o, c.fd); r.Errno != 0 {
				t.Fatal(r.Errno)
			}
			c.want(0, attach.Header{Op: attach.OpPlainConnect, Addr: nobody})
			if err := c.send(attach.Sockaddr{}, []byte("nobody is there")); err != 0 {
				t.Fatal(err)
			}
			if h, text := c.receive(); text != "nobody is there" || h.Arg1 != uint32(frame.NoPort) || h.Addr != nobody {
				t.Errorf("%v %q", &h, text)
			}
			for _, op := range []attach.Op{attach.OpPlainListen, attach.OpPlainAccept} {
				a.want(syscall.EOPNOTSUPP, attach.Header{Op: op})
			}
			a.want(syscall.ENOTCONN, attach.Header{Op: attach.OpPlainShutdown})
		})
	}
}

// What there is no room for in the program's socket waits in the node, in order. Mutation: unstall does
// not have the socket served again.
//
// Proves: plain.datagrams
func TestPlainDatagramsWait(t *testing.T) {
	b := newBed(t, daemon.Config{})
	s, c := b.plain(t, attach.KindRDM), b.plain(t, attach.KindRDM)
	to := s.state().Addr
	const messages = 40 // of which some six fit
	data := make([]byte, 30000)
	for i := range messages {
		binary.BigEndian.PutUint32(data, uint32(i))
		if err := c.send(to, data); err != 0 {
			t.Fatal(err)
		}
	}
	for i := range messages {
		s.await(unix.POLLIN)
		_, text := s.receive()
		binary.BigEndian.PutUint32(data, uint32(i))
		if !bytes.Equal([]byte(text), data) {
			t.Fatalf("message %d is %d bytes, %x", i, len(text), text[:4])
		}
	}
	s.nothing()
}

// A socket makes another one that is connected to it, of each kind, and each knows the other.
// Mutation: pair sets the destination of one of the two.
//
// Proves: plain.connections
func TestPlainPair(t *testing.T) {
	for _, kind := range []attach.Kind{attach.KindStream, attach.KindSeqPacket, attach.KindRDM, attach.KindDatagram} {
		t.Run(kind.String(), func(t *testing.T) {
			b := newBed(t, daemon.Config{})
			x := b.plain(t, kind)
			r, _, fd := b.plainAsk(t, attach.Header{Op: attach.OpPlainPair}, nil, x.fd)
			if r.Errno != 0 || fd < 0 {
				t.Fatal(r.Errno)
			}
			y := plainOf(t, b, fd)
			if a, c := x.state(), y.state(); a.Addr != c.Addr2 || c.Addr != a.Addr2 || a.Addr == c.Addr {
				t.Errorf("%v and %v", &a, &c)
			}
			for _, p := range [][2]*plainSocket{{x, y}, {y, x}} {
				if kind.Connected() {
					p[0].write("to the other")
					p[1].reads("to the other")
					continue
				}
				if err := p[0].send(attach.Sockaddr{}, []byte("to the other")); err != 0 {
					t.Fatal(err)
				}
				if _, text := p[1].receive(); text != "to the other" {
					t.Error(text)
				}
			}
			x.want(syscall.EINVAL, serviceHeader(attach.OpPlainBind))
			x.close()
			if kind.Connected() {
				y.ends()
			}
		})
	}
}
