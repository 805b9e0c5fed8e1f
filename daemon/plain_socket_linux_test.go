// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"io"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack"
)

// A plainSocket is the program's end of a plain socket.
type plainSocket struct {
	t  testing.TB
	b  *bed
	fd int
}

// plainAsk makes a request on a connection of its own. The answer's descriptor is -1 without one.
func (b *bed) plainAsk(t testing.TB, h attach.Header, data []byte, fd int) (attach.Header, []byte, int) {
	t.Helper()
	c, err := attach.Dial(within(t), b.path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(testTimeout))
	r, answer, got := plainAskOn(t, c, h, data, fd)
	if got >= 0 { // the daemon closes its own copy first, then the connection
		if _, err := c.Read(&attach.Header{}, nil); err != io.EOF {
			t.Fatalf("%v: after the answer: %v, want the end of the connection", h.Op, err)
		}
	}
	return r, answer, got
}

func plainAskOn(t testing.TB, c *attach.Conn, h attach.Header, data []byte, fd int) (attach.Header, []byte, int) {
	t.Helper()
	h.ID = 1
	if err := c.WriteFD(&h, data, fd); err != nil {
		t.Fatal(err)
	}
	var r attach.Header
	buf := make([]byte, 2000)
	n, got, err := c.ReadFD(&r, buf)
	if err != nil {
		t.Fatalf("%v: %v", h.Op, err)
	}
	return r, buf[:n], got
}

func (b *bed) plain(t testing.TB, kind attach.Kind) *plainSocket {
	t.Helper()
	r, _, fd := b.plainAsk(t, attach.Header{Op: attach.OpPlainSocket, Arg0: uint32(kind)}, nil, -1)
	if r.Errno != 0 || fd < 0 {
		t.Fatalf("socket: %v", r.Errno)
	}
	return plainOf(t, b, fd)
}

func plainOf(t testing.TB, b *bed, fd int) *plainSocket {
	s := &plainSocket{t, b, fd}
	t.Cleanup(s.close)
	return s
}

func (s *plainSocket) close() {
	if s.fd >= 0 {
		unix.Close(s.fd)
		s.fd = -1
	}
}

func (s *plainSocket) ask(h attach.Header) attach.Header {
	s.t.Helper()
	r, _, _ := s.b.plainAsk(s.t, h, nil, s.fd)
	return r
}

// want makes a request and wants an errno.
func (s *plainSocket) want(errno syscall.Errno, h attach.Header) attach.Header {
	s.t.Helper()
	r := s.ask(h)
	if r.Errno != errno {
		s.t.Fatalf("%v %v: %v, want %v", h.Op, &h.Addr, r.Errno, errno)
	}
	return r
}

// accept takes a ticket and asks for the connection.
func (s *plainSocket) accept() *plainSocket {
	s.t.Helper()
	return s.redeem(s.ticket())
}

// ticket waits for one and takes it.
func (s *plainSocket) ticket() *attach.Conn {
	s.t.Helper()
	s.await(unix.POLLIN)
	var b [8]byte
	oob := make([]byte, unix.CmsgSpace(4))
	n, on, _, _, err := unix.Recvmsg(s.fd, b[:], oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n != 1 {
		s.t.Fatalf("a ticket of %d bytes, %v", n, err)
	}
	m, err := unix.ParseSocketControlMessage(oob[:on])
	if err != nil || len(m) != 1 {
		s.t.Fatal(m, err)
	}
	fds, err := unix.ParseUnixRights(&m[0])
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := attach.NewConn(fds[0])
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	return c
}

func (s *plainSocket) redeem(c *attach.Conn) *plainSocket {
	s.t.Helper()
	defer c.Close()
	r, _, fd := plainAskOn(s.t, c, attach.Header{Op: attach.OpPlainAccept}, nil, -1)
	if r.Errno != 0 {
		s.t.Fatalf("accept: %v", r.Errno)
	}
	return plainOf(s.t, s.b, fd)
}

// await waits for an event.
func (s *plainSocket) await(event int16) {
	s.t.Helper()
	p := []unix.PollFd{{Fd: int32(s.fd), Events: event}}
	for {
		n, err := unix.Poll(p, int(testTimeout.Milliseconds()))
		if err == unix.EINTR {
			continue
		}
		if n == 0 || err != nil {
			s.t.Fatalf("no event %#x", event)
		}
		return
	}
}

func (s *plainSocket) write(text string) {
	s.t.Helper()
	if _, err := unix.Write(s.fd, []byte(text)); err != nil {
		s.t.Fatal(err)
	}
}

// reads wants exactly this to come, then, if it ends, the end.
func (s *plainSocket) reads(text string) {
	s.t.Helper()
	got := make([]byte, len(text))
	for n := 0; n < len(got); {
		k, err := unix.Read(s.fd, got[n:])
		if err != nil || k == 0 {
			s.t.Fatalf("%q, then %d, %v; want %q", got[:n], k, err, text)
		}
		n += k
	}
	if string(got) != text {
		s.t.Fatalf("%q, want %q", got, text)
	}
}

func (s *plainSocket) ends() {
	s.t.Helper()
	if k, err := unix.Read(s.fd, make([]byte, 8)); k != 0 || err != nil {
		s.t.Fatalf("%d, %v where the end was to be", k, err)
	}
}

func (s *plainSocket) state() attach.Header {
	s.t.Helper()
	return s.want(0, attach.Header{Op: attach.OpPlainState})
}

var plainService = stack.Service{Type: 18888, Instance: 17}

func serviceHeader(op attach.Op) attach.Header {
	return attach.Header{Op: op, Addr: attach.ServiceSockaddr(plainService, 0)}
}

func (b *bed) plainListener(t testing.TB, kind attach.Kind) *plainSocket {
	t.Helper()
	l := b.plain(t, kind)
	l.want(0, serviceHeader(attach.OpPlainBind))
	l.want(0, attach.Header{Op: attach.OpPlainListen})
	return l
}

// plainPair connects two plain sockets of one host.
func (b *bed) plainPair(t testing.TB, l *plainSocket, kind attach.Kind) (client, server *plainSocket) {
	t.Helper()
	c := b.plain(t, kind)
	h := serviceHeader(attach.OpPlainConnect)
	h.Arg0 = 1
	c.want(syscall.EINPROGRESS, h)
	s := l.accept()
	h.Arg0 = 0
	if r := c.ask(h); r.Errno != 0 && r.Errno != syscall.EISCONN {
		t.Fatal(r.Errno)
	}
	return c, s
}
