// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack/internal/backend"
)

// closeBed is a connected socket of an attached node, and the daemon's end of it.
func closeBed(t *testing.T, ring bool) (*Socket, *attach.Conn) {
	t.Helper()
	daemon, fd, err := attach.Pair()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { daemon.Close() })
	c, err := attach.NewConn(fd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if ring {
		h := attach.Header{Op: attach.OpRing, ID: 1}
		if refused, err := daemon.ServeRing(&h); refused != nil || err != nil {
			t.Fatal(refused, err)
		}
		_, ringFD, err := c.ReadFD(&h, nil)
		if err == nil {
			err = c.TakeRing(&h, ringFD)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	f := newRemoteNode("", Config{})
	s := &Socket{f: f, network: "tipc"}
	s.session.Store(&session{line: newClientConn(c)})
	if err := s.enroll(); err != nil {
		t.Fatal(err)
	}
	return s, daemon
}

// fillUp writes until there is no room, and says how many records that were.
func fillUp(t *testing.T, c *attach.Conn, op attach.Op) (k int) {
	t.Helper()
	for ; ; k++ {
		h := attach.Header{Op: op}
		if err := c.TryWrite(&h, make([]byte, 1024)); err == syscall.EAGAIN {
			return k
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// heard reads until the end, or the socket's last request, which it answers. It returns
// how many messages came before.
func heard(c *attach.Conn) (k int, err error) {
	buf := make([]byte, 2048)
	for {
		var h attach.Header
		if _, err := c.Read(&h, buf); err != nil {
			return k, err
		}
		switch h.Op {
		case attach.OpSend:
			k++
		case attach.OpShutdown:
			r := h.Reply(0)
			return k, c.Write(&r, nil)
		}
	}
}

// A socket that is closed while there is no room either way reads what the daemon has to
// say, which does not read before it is rid of that.
//
// Proves: socket.close
func TestGracefulCloseReadsWhileItWaitsForRoom(t *testing.T) {
	for name, ring := range map[string]bool{"socket": false, "ring": true} {
		t.Run(name, func(t *testing.T) {
			s, daemon := closeBed(t, ring)
			fillUp(t, daemon, attach.OpMessage)
			sent := fillUp(t, s.line().conn, attach.OpSend)
			if err := s.close("close", true); err != nil {
				t.Fatal(err)
			}
			h := attach.Header{Op: attach.OpMessage}
			if err := daemon.Write(&h, make([]byte, 1024)); err != nil {
				t.Fatalf("a message for a socket that is closed: %v", err)
			}
			if got, err := heard(daemon); err != nil || got != sent {
				t.Errorf("%d of %d messages came, then %v", got, sent, err)
			}
			s.f.ends.Wait()
		})
	}
}

// The goodbye is not cut short by what was to end a call before it, and comes late: its
// context, or its deadline.
func TestGracefulCloseIsNotCutShort(t *testing.T) {
	for name, ring := range map[string]bool{"socket": false, "ring": true} {
		t.Run(name, func(t *testing.T) {
			s, daemon := closeBed(t, ring)
			sent := fillUp(t, s.line().conn, attach.OpSend)
			if err := s.close("close", true); err != nil {
				t.Fatal(err)
			}
			l := s.line()
			leads := func() bool {
				l.mu.Lock()
				defer l.mu.Unlock()
				return l.reads.holder != nil
			}
			for by := time.Now().Add(2 * time.Minute); !leads(); runtime.Gosched() {
				if time.Now().After(by) {
					t.Fatal("nobody says goodbye")
				}
			}
			for range 100 { // before it waits for room, and while it does
				l.mu.Lock()
				l.rouseAll()
				l.mu.Unlock()
				runtime.Gosched()
			}
			if got, err := heard(daemon); err != nil || got != sent {
				t.Errorf("%d of %d messages came, then %v", got, sent, err)
			}
			s.f.ends.Wait()
		})
	}
}

// A deadline that some call has on the connection, for which it waits no more, is not that
// of another.
func TestWriteHeedsItsOwnDeadline(t *testing.T) {
	for name, ring := range map[string]bool{"socket": false, "ring": true} {
		t.Run(name, func(t *testing.T) {
			s, _ := closeBed(t, ring)
			l := s.line()
			for what, write := range map[string]func() error{
				"write": func() error {
					_, err := l.write(context.Background(), &attach.Header{Op: attach.OpSend}, nil)
					return err
				},
				"post": func() error { return l.post(context.Background(), &never, &attach.Header{Op: attach.OpPing}, nil) },
				"try": func() error {
					err := s.trySend(&attach.Header{Op: attach.OpSend}, nil)
					if err == backend.ErrAgain { // it is not told when there is room
						return nil
					}
					return err
				},
			} {
				l.out.room.until(longAgo)
				if err := write(); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			l.out.room.until(never)
		})
	}
}

// A read whose deadline is over does not hide what comes then from those that do not wait.
func TestTryReadsBehindADeadline(t *testing.T) {
	for name, ring := range map[string]bool{"socket": false, "ring": true} {
		t.Run(name, func(t *testing.T) {
			s, daemon := closeBed(t, ring)
			l := s.line()
			took := func(*clientRecord) bool { return true }
			l.setReadBy(time.Now().Add(time.Millisecond))
			if err := l.next(context.Background(), false, took); err == nil {
				t.Fatal("there was nothing to read")
			}
			h := attach.Header{Op: attach.OpMessage}
			if err := daemon.Write(&h, []byte("late")); err != nil {
				t.Fatal(err)
			}
			if err := l.try(took); err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}
