// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/frame"
)

// closeUnread closes the descriptor as a program does in which something waits. Meanwhile is what it
// does between the request and the close.
func (s *plainSocket) closeUnread(meanwhile func()) {
	s.t.Helper()
	c, err := attach.Dial(within(s.t), s.b.path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(testTimeout))
	if err := c.WriteFD(&attach.Header{Op: attach.OpPlainClosed, ID: 1}, nil, s.fd); err != nil {
		s.t.Fatal(err)
	}
	if meanwhile != nil {
		meanwhile()
	}
	s.close()
	raw, err := c.SyscallConn()
	if err == nil {
		raw.Control(func(fd uintptr) { err = unix.Shutdown(int(fd), unix.SHUT_WR) })
	}
	if err != nil {
		s.t.Fatal(err)
	}
	var r attach.Header
	if _, err := c.Read(&r, nil); err != nil || r.Errno != 0 {
		s.t.Fatal(err, r.Errno)
	}
}

// setDroppable sets whether messages that nobody takes are dropped.
func (s *plainSocket) setDroppable(v int64) {
	s.t.Helper()
	if r, _, _ := s.b.plainAsk(s.t, attach.Header{Op: attach.OpPlainSetOption}, attach.AppendOption(nil, attach.OptDestDroppable, v), s.fd); r.Errno != 0 {
		s.t.Fatal(r.Errno)
	}
}

// dup returns another descriptor of the same socket.
func (s *plainSocket) dup() *plainSocket {
	s.t.Helper()
	fd, err := unix.FcntlInt(uintptr(s.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return plainOf(s.t, s.b, fd)
}

// What a program has not read when it closes a connectionless socket, or leaves to its end, goes back
// to who sent it and wants it back, the oldest first and the beginning of each; nothing does as long
// as there is another descriptor. Mutations: end does not call returnUnread, which does not set the
// marks, or sets that of all messages; closedUnread does not wait until the program has closed P, or
// does not forget what was unread.
//
// Proves: plain.datagrams
func TestPlainUnreadMessages(t *testing.T) {
	b := newBed(t, daemon.Config{})
	a, c := b.plain(t, attach.KindRDM), b.plain(t, attach.KindRDM)
	c.want(0, attach.Header{Op: attach.OpPlainBind, Addr: rangeSockaddr(10, 20)})
	a.setDroppable(0)
	address, long := c.state().Addr, strings.Repeat("x", 3000)
	if err := a.send(address, []byte("first")); err != 0 {
		t.Fatal(err)
	}
	if err := a.send(attach.ServiceSockaddr(plainService, 0), []byte(long)); err != 0 {
		t.Fatal(err)
	}
	a.setDroppable(1)
	if err := a.send(address, []byte("not wanted back")); err != 0 {
		t.Fatal(err)
	}
	a.setDroppable(0)
	other := c.dup()
	c.closeUnread(nil)
	a.nothing()
	if _, text := other.receive(); text != "first" {
		t.Fatalf("%q, want what was sent first", text)
	}
	other.closeUnread(nil)
	h, text := a.receive()
	if text != long[:frame.MaxReturned] || h.Addr != address || frame.ErrorCode(h.Arg1) != frame.NoPort || h.Addr2 != rangeSockaddr(plainService.Instance, plainService.Instance) {
		t.Errorf("%v, %d bytes", &h, len(text))
	}
	a.nothing()

	z := b.plain(t, attach.KindRDM)
	cookie := plainCookie(t, z.fd)
	if err := a.send(z.state().Addr, []byte("read by the other")); err != 0 {
		t.Fatal(err)
	}
	other = z.dup()
	z.closeUnread(nil)
	other.receive()
	other.close()
	b.plainAsk(t, attach.Header{Op: attach.OpPlainClosed, Wide: cookie}, nil, -1)
	a.nothing()

	x := b.plain(t, attach.KindRDM)
	if err := a.send(x.state().Addr, []byte("and back")); err != 0 {
		t.Fatal(err)
	}
	x.closeUnread(nil)
	a.closeUnread(nil) // what came back comes back no more
}

// What comes while a program closes a socket with something unread goes back behind that.
// Mutation: pass does not look whether the socket is being closed.
//
// Proves: plain.datagrams
func TestPlainUnreadGoesBackFirst(t *testing.T) {
	b := newBed(t, daemon.Config{})
	a := b.plain(t, attach.KindRDM)
	a.setDroppable(0)
	for range 40 {
		x := b.plain(t, attach.KindRDM)
		to := x.state().Addr
		const messages, early = 24, 8
		var sent sync.WaitGroup
		closing := make(chan struct{})
		sent.Go(func() {
			for i := range messages {
				if err := a.send(to, []byte{byte(i)}); err != 0 {
					t.Errorf("message %d: %v", i, err)
				}
				if i == early {
					close(closing)
				}
			}
		})
		<-closing
		x.closeUnread(nil)
		sent.Wait()
		for i := range messages {
			if _, text := a.receive(); text != string([]byte{byte(i)}) {
				t.Fatalf("%q came back, want message %d", text, i)
			}
		}
	}
}

// The first message of a connection that a program has not read when it closes or shuts it down comes
// back to the program at the other end, with the end, and the service that the connection was made to;
// not as long as there is another descriptor. Mutations: closedUnread does not note it for the peer, or
// before it has released P; it leaves what it has noted though there is another descriptor; passed does
// not look for it.
//
// Proves: plain.connections
func TestPlainUnreadOfConnection(t *testing.T) {
	want := "\x00\x00\x49\xc8\x00\x00\x00\x11\x00\x00\x00\x11" + "unread"
	for _, kind := range []attach.Kind{attach.KindStream, attach.KindSeqPacket} {
		for how, code := range map[string]frame.ErrorCode{"close": frame.NoPort, "shutdown": frame.ConnShutdown, "dup": frame.NoPort} {
			t.Run(kind.String()+" "+how, func(t *testing.T) {
				b := newBed(t, daemon.Config{})
				l := b.plainListener(t, kind)
				c, s := b.plainPair(t, l, kind)
				s.write("unread")
				want := want
				switch how {
				case "close":
					c.closeUnread(func() {
						if r := s.state(); r.Arg0 != 3 {
							t.Errorf("state %d while P is being closed, want connected", r.Arg0)
						}
					})
				case "shutdown":
					c.want(0, attach.Header{Op: attach.OpPlainShutdown})
					unix.Shutdown(c.fd, unix.SHUT_RDWR)
				case "dup":
					other := c.dup()
					c.closeUnread(nil)
					other.reads("unread")
					other.close()
					want = ""
				}
				r, data, _ := b.plainAsk(t, attach.Header{Op: attach.OpPlainState, Arg0: 2}, nil, s.fd)
				if r.Arg0 != 4 || frame.ErrorCode(r.Wide) != code || string(data) != want {
					t.Errorf("state %d, code %d, %q; want %d and %q", r.Arg0, r.Wide, data, code, want)
				}
				if _, err := unix.Read(s.fd, make([]byte, 8)); err != nil && err != syscall.ECONNRESET {
					t.Error(err)
				}
			})
		}
	}
}

// Shutdown of a socket that listens fails, and the requests that wait are refused: those of this host
// have ended when it returns. It listens on. Mutations: shutdown does not refuse; refuse does not wait.
//
// Proves: plain.connections
func TestPlainShutdownOfListener(t *testing.T) {
	for _, kind := range []attach.Kind{attach.KindStream, attach.KindSeqPacket} {
		t.Run(kind.String(), func(t *testing.T) {
			b := newBed(t, daemon.Config{})
			l := b.plainListener(t, kind)
			for range 20 {
				c := b.plain(t, kind)
				h := serviceHeader(attach.OpPlainConnect)
				h.Arg0 = 1
				c.want(syscall.EINPROGRESS, h)
				l.want(syscall.ENOTCONN, attach.Header{Op: attach.OpPlainShutdown})
				p := []unix.PollFd{{Fd: int32(c.fd)}}
				if _, err := unix.Poll(p, 0); err != nil || p[0].Revents&unix.POLLHUP == 0 {
					t.Fatalf("%v, events %x: the request is not refused", err, p[0].Revents)
				}
				c.close()
			}
			c, s := b.plainPair(t, l, kind)
			c.write("to the server")
			s.reads("to the server")
		})
	}
}
