// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// accepted is a plain socket that a program on another node has connected to at l, and that one's
// connection.
func (b *bed) accepted(t testing.TB, l *plainSocket, kind attach.Kind) (*plainSocket, *stack.Conn) {
	t.Helper()
	if err := b.peer.WaitFor(within(t), plainService); err != nil {
		t.Fatal(err)
	}
	dialed := make(chan *stack.Conn, 1)
	go func() {
		defer close(dialed)
		if c, err := b.peer.Dial(within(t), kind.Network(), plainService); err == nil {
			dialed <- c
		}
	}()
	s := l.accept()
	c := <-dialed
	if c == nil {
		t.Fatal("not connected")
	}
	t.Cleanup(func() { c.Close() })
	return s, c
}

// peerListener is a listener on the other node, which plain sockets can connect to.
func (b *bed) peerListener(t testing.TB, kind attach.Kind) *stack.Listener {
	t.Helper()
	l, err := b.peer.Listen(within(t), kind.Network(), plainService)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if err := b.node.WaitFor(within(t), plainService); err != nil {
		t.Fatal(err)
	}
	return l
}

// dialed is a plain socket that is connected to l on another node, and that one's connection.
func (b *bed) dialed(t testing.TB, l *stack.Listener, kind attach.Kind, options []byte) (*plainSocket, *stack.Conn) {
	t.Helper()
	p := b.plain(t, kind)
	if r, _, _ := b.plainAsk(t, attach.Header{Op: attach.OpPlainSetOption}, options, p.fd); r.Errno != 0 {
		t.Fatal(r.Errno)
	}
	h := serviceHeader(attach.OpPlainConnect)
	h.Arg0 = 1
	p.want(syscall.EINPROGRESS, h)
	c, err := l.AcceptConn()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	h.Arg0 = 0
	if r := p.ask(h); r.Errno != 0 && r.Errno != syscall.EISCONN {
		t.Fatal(r.Errno)
	}
	return p, c
}

// holds waits until so many bytes wait at a socket: of messages, those of the first.
func (s *plainSocket) holds(n int) {
	s.t.Helper()
	waitFor(s.t, func() bool {
		k, err := unix.IoctlGetInt(s.fd, unix.SIOCINQ)
		return err == nil && k >= n
	})
}

var connectedKinds = []attach.Kind{attach.KindStream, attach.KindSeqPacket}

// The first message that a program has not read when it closes or shuts down its end goes back to the
// other node, whole messages alone, and not as long as there is another descriptor; what the program has
// written comes before. Mutations it catches: end says nothing of it to the node; closedConnection keeps
// nothing, or keeps it though there is another descriptor; shutdown keeps nothing; the engine's close
// returns nothing.
//
// Proves: plain.connections
func TestPlainUnreadAcross(t *testing.T) {
	t.Parallel()
	for _, kind := range connectedKinds {
		b := newBed(t, daemon.Config{})
		l := b.plainListener(t, kind)
		for how, want := range map[string]string{"close": "unread", "shutdown": "unread", "dup": "", "part": "and more"} {
			t.Run(kind.String()+" "+how, func(t *testing.T) {
				s, c := b.accepted(t, l, kind)
				for _, text := range []string{"unread", "and more"} {
					if _, err := c.Write([]byte(text)); err != nil {
						t.Fatal(err)
					}
				}
				if kind == attach.KindStream {
					s.holds(len("unreadand more"))
				} else {
					s.holds(len("unread"))
				}
				s.write("before the end")
				switch how {
				case "close":
					s.closeUnread(nil)
				case "shutdown":
					s.want(0, attach.Header{Op: attach.OpPlainShutdown})
					unix.Shutdown(s.fd, unix.SHUT_RDWR)
				case "part":
					s.reads("un") // of a message the rest is lost
					s.holds(len("and"))
					s.closeUnread(nil)
				case "dup":
					other := s.dup()
					s.closeUnread(nil)
					other.reads("unread")
					other.reads("and more")
					other.close()
				}
				got, _ := readAll(c)
				if back := hosting.Returned(c); back != want || string(got) != "before the end" {
					t.Errorf("read %q, and %q came back, want %q", got, back, want)
				}
			})
		}
	}
}

// A program reads with the end of a connection what its peer on another node has not read, cut, and the
// service it was for. Mutations it catches: endedBy does not look for it, or reports no service; the engine
// keeps nothing that comes with an end, or all of it.
//
// Proves: plain.connections
func TestPlainReturnedAcross(t *testing.T) {
	t.Parallel()
	for _, kind := range connectedKinds {
		b := newBed(t, daemon.Config{})
		l := b.peerListener(t, kind)
		for code, end := range map[frame.ErrorCode]func(*stack.Conn) error{frame.NoPort: (*stack.Conn).Abort, frame.ConnShutdown: (*stack.Conn).Close} {
			t.Run(kind.String()+" "+code.String(), func(t *testing.T) {
				p, c := b.dialed(t, l, kind, nil)
				text := strings.Repeat("unread", 500)
				p.write(text)
				waitFor(t, func() bool {
					s, err := c.Stats(context.Background())
					return err == nil && s.Queued > 0
				})
				if err := end(c); err != nil {
					t.Fatal(err)
				}
				p.await(unix.POLLHUP)
				r, data, _ := b.plainAsk(t, attach.Header{Op: attach.OpPlainState, Arg0: 2}, nil, p.fd)
				if want := returnedOf(plainService, text); frame.ErrorCode(r.Wide) != code || string(data) != want {
					t.Errorf("code %d, %d bytes %.20q, want %d and %d", r.Wide, len(data), data, code, len(want))
				}
			})
		}
	}
}

// A request that comes back says why, and has the beginning of its data with it. Mutations it catches:
// refused leaves out the code of the refusal; a request with more than comes back has none of it.
//
// Proves: plain.connections
func TestPlainRefusedAcross(t *testing.T) {
	t.Parallel()
	b := newBed(t, daemon.Config{})
	if err := b.node.WaitFor(within(t), stack.Service{Type: stack.NodeState, Instance: uint32(b.peer.Addr())}); err != nil {
		t.Fatal(err)
	}
	for _, kind := range connectedKinds {
		for _, n := range []int{0, 1, frame.MaxReturned, frame.MaxReturned + 1, 5000} {
			p, text := b.plain(t, kind), strings.Repeat("x", n)
			to := plainService
			to.Node = b.peer.Addr()
			h := attach.Header{Op: attach.OpPlainConnect, Arg0: 1, Addr: attach.ServiceSockaddr(to, 0)}
			if r, _, _ := b.plainAsk(t, h, []byte(text), p.fd); r.Errno != syscall.EINPROGRESS {
				t.Fatal(r.Errno)
			}
			p.await(unix.POLLHUP)
			p.state() // takes the error
			r, data, _ := b.plainAsk(t, attach.Header{Op: attach.OpPlainState, Arg0: 2}, nil, p.fd)
			if want := returnedOf(plainService, text); frame.ErrorCode(r.Wide) != frame.NoName || string(data) != want {
				t.Errorf("%v, %d bytes: code %d, %d bytes came back, want %d and %d", kind, n, r.Wide, len(data), frame.NoName, len(want))
			}
		}
	}
}

// The options of a connection are there after it has ended. Mutation it catches: end does not keep them.
//
// Proves: plain.connections
func TestPlainOptionsAfterTheEnd(t *testing.T) {
	t.Parallel()
	for _, kind := range connectedKinds {
		b := newBed(t, daemon.Config{})
		p, c := b.dialed(t, b.peerListener(t, kind), kind, attach.AppendOption(nil, attach.OptImportance, 2))
		c.Close()
		p.await(unix.POLLHUP)
		waitFor(t, func() bool { return p.state().Arg0 == 4 })
		_, data, _ := b.plainAsk(t, attach.Header{Op: attach.OpPlainGetOption}, attach.AppendOption(nil, attach.OptImportance, 0), p.fd)
		if want := attach.AppendOption(nil, attach.OptImportance, 2); string(data) != string(want) {
			t.Errorf("%v: importance %q, want %q", kind, data, want)
		}
	}
}

// returnedOf is what a program is told of data that came back.
func returnedOf(s stack.Service, text string) string {
	name := string([]byte{0, 0, byte(s.Type >> 8), byte(s.Type), 0, 0, 0, byte(s.Instance), 0, 0, 0, byte(s.Instance)})
	return name + text[:min(len(text), frame.MaxReturned)]
}
