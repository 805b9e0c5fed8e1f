// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack/socket"
)

// nodeBed is closeBed whose node can be closed; the daemon answers nothing.
func nodeBed(t *testing.T) (*Socket, *attach.Conn) {
	t.Helper()
	s, daemon := closeBed(t, false)
	other, _ := closeBed(t, false)
	s.f.server = other.line()
	return s, daemon
}

// isUnsent checks that err is an *UnsentError of so many bytes, and why.
func isUnsent(t *testing.T, what string, err error, bytes int, why error) {
	t.Helper()
	var unsent *socket.UnsentError
	if !errors.As(err, &unsent) || unsent.Bytes != bytes || unsent.Packets != 0 || !errors.Is(err, why) {
		t.Errorf("%s: got %v, want *UnsentError with %d bytes and %v", what, err, bytes, why)
	}
}

// A daemon that is gone leaves nobody who knows how many bytes of a connection are lost: Close
// reports *UnsentError with 0 bytes, and Node.Close does so for what is left open, and for what
// was closed and not answered, as CloseWait does. Without a Write there is nothing to lose.
//
// Mutations: endedUnsent without its case isGone, or which does not look at wrote; Node.Close
// does not add what the Close of its sockets reports; closeResult.end without its last case.
//
// Proves: socket.close
func TestGoneDaemonReportsUnknownBytes(t *testing.T) {
	for name, c := range map[string]struct {
		wrote           uint64
		closed          bool // before the daemon is gone
		socket, byClose bool // whether Close, and Node.Close, report
	}{
		"closed after it, written":  {wrote: 3, socket: true},
		"closed after it, idle":     {},
		"closed before it":          {wrote: 3, closed: true, byClose: true},
		"left open to Node.Close":   {wrote: 3, byClose: true},
		"left open to it, and idle": {},
	} {
		t.Run(name, func(t *testing.T) {
			s, daemon := nodeBed(t)
			conn := newConn(s, true, &attach.Header{})
			s.line().out.taken = c.wrote
			if c.closed {
				if err := conn.Close(); err != nil {
					t.Fatal(err)
				}
			}
			daemon.Close()
			switch {
			case c.closed:
				isUnsent(t, "CloseWait", conn.CloseWait(t.Context()), 0, net.ErrClosed)
			case c.byClose || name == "left open to it, and idle":
			default:
				err := conn.Close()
				if c.socket {
					isUnsent(t, "Close", err, 0, net.ErrClosed)
				} else if err != nil {
					t.Errorf("Close: %v", err)
				}
			}
			err := s.f.Close(context.Background())
			if c.byClose {
				isUnsent(t, "Node.Close", err, 0, net.ErrClosed)
			} else if err != nil {
				t.Errorf("Node.Close: %v", err)
			}
		})
	}
}

// A second Close of a node waits for the first, at most until its own context is done, and
// returns the same: what its context said, whatever the connections say that it has cut.
//
// Mutations: the second Close returns nil at once; unsentError prefers what a connection has said.
//
// Proves: socket.close
func TestSecondNodeClose(t *testing.T) {
	s, _ := nodeBed(t)
	f := s.f
	closes := func(ctx context.Context) <-chan error {
		end := make(chan error, 1)
		go func() { end <- f.Close(ctx) }()
		return end
	}
	ctx, cancel := context.WithCancel(context.Background())
	first := closes(ctx)
	begun := func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.closed
	}
	for by := time.Now().Add(2 * time.Minute); !begun(); runtime.Gosched() {
		if time.Now().After(by) {
			t.Fatal("Close does not begin")
		}
	}
	done, cancelNow := context.WithCancel(context.Background())
	cancelNow()
	if err := endOf(t, closes(done)); !errors.Is(err, context.Canceled) || errors.As(err, new(*socket.UnsentError)) {
		t.Errorf("the second, whose context is done: got %v", err)
	}
	third := closes(context.Background())
	f.lost(0, net.ErrClosed) // as of a connection that is cut, which ends while Close goes on
	cancel()
	err := endOf(t, first)
	isUnsent(t, "the first", err, 0, context.Canceled)
	if got := endOf(t, third); got != err {
		t.Errorf("the third: got %v, want the same as the first: %v", got, err)
	}
}

// A Write that has met the end of its connection says so, and so does Close, though the end itself
// is told only after it.
//
// Mutations: endedUnsent does not look at failed; trouble forgets that a connection has ended.
//
// Proves: socket.close
func TestCloseBeforeTheEndIsTold(t *testing.T) {
	s, daemon := nodeBed(t)
	conn := newConn(s, true, &attach.Header{})
	conn.line().counts = true
	if _, err := conn.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	h := attach.Header{Op: attach.OpFailed, Wide: 1}
	var data []byte
	h.Errno, data = control.EncodeError(&socket.ConnError{Reason: "closed by the peer", Err: syscall.EPIPE})
	if err := daemon.Write(&h, data); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := conn.Write([]byte("d"))
		isUnsent(t, "Write", err, 2, syscall.EPIPE)
	}
	isUnsent(t, "Close", conn.Close(), 2, syscall.EPIPE)
	if n, err := heard(daemon); n != 1 || err != nil {
		t.Errorf("the daemon has got %d messages, %v; want 1", n, err)
	}
	if err := s.f.Close(t.Context()); err != nil {
		t.Error("Node.Close:", err)
	}
}

// Node.Close waits for a Close that has begun, however far that is: it finds the socket closed, or
// gone from its list.
//
// Mutation: close adds to ends once it has let go of its lock.
//
// Proves: socket.close
func TestNodeCloseWaitsForClose(t *testing.T) {
	s, daemon := nodeBed(t)
	f := s.f
	f.mu.Lock() // which Close has to take
	closed := make(chan error, 1)
	go func() { closed <- newConn(s, true, &attach.Header{}).Close() }()
	begun := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.closed
	}
	for by := time.Now().Add(2 * time.Minute); !begun(); runtime.Gosched() {
		if time.Now().After(by) {
			t.Fatal("Close does not begin")
		}
	}
	waited := make(chan struct{})
	go func() {
		f.ends.Wait() // as Node.Close does
		close(waited)
	}()
	for range 10000 {
		select {
		case <-waited:
			t.Fatal("nothing to wait for")
		default:
			runtime.Gosched()
		}
	}
	f.mu.Unlock()
	if err := endOf(t, closed); err != nil {
		t.Error(err)
	}
	if _, err := heard(daemon); err != nil {
		t.Error(err)
	}
	<-waited
}

// A daemon without FeatureCounts does not know an end that breaks off, and does not say how many
// bytes have gone: the program asks for none of it, and reports no bytes as lost.
//
// Mutations: dial does not look at the features that the daemon grants; countPlaced, and
// gracefulClose, do not look at counts; welcome does not take over the listener's.
//
// Proves: daemon.versions, socket.close
func TestDaemonWithoutCounts(t *testing.T) {
	for name, features := range map[string]uint64{"older": socketFeatures &^ attach.FeatureCounts, "of today": socketFeatures} {
		t.Run(name, func(t *testing.T) {
			counts := features&attach.FeatureCounts != 0
			f := newRemoteNode(filepath.Join(t.TempDir(), "utipc.sock"), Config{Ring: socket.RingNever})
			listener, err := attach.Listen(f.path, 0o600, -1)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { listener.Close() })
			// opened is a socket of the program, and the daemon's end of it.
			opened := func() (*Socket, *attach.Conn) {
				t.Helper()
				ends := make(chan *attach.Conn, 1)
				go func() {
					defer close(ends)
					c, err := listener.Accept()
					if err != nil {
						t.Error(err)
						return
					}
					var h attach.Header
					if _, err := c.Read(&h, make([]byte, 1000)); err != nil {
						t.Error(err)
					}
					r, data := attach.HelloReply(&h, attach.Welcome{Features: features})
					if err := c.Write(&r, data); err != nil {
						t.Error(err)
					}
					ends <- c
				}()
				l, _, err := f.dial(t.Context(), false)
				daemon := <-ends
				if err != nil || daemon == nil {
					t.Fatal("hello:", err)
				}
				t.Cleanup(func() { daemon.Close() })
				s := &Socket{f: f, network: "tipc"}
				s.session.Store(&session{line: l})
				if err := s.enroll(); err != nil {
					t.Fatal(err)
				}
				return s, daemon
			}
			// ends checks how a connection ends that has written, and is reset.
			ends := func(c *Conn, daemon *attach.Conn) {
				t.Helper()
				if _, err := c.Write([]byte("abc")); err != nil {
					t.Fatal(err)
				}
				h := attach.Header{Op: attach.OpEnd, Wide: 1}
				var data []byte
				h.Errno, data = control.EncodeError(&socket.ConnError{Reason: "reset", Err: syscall.ECONNRESET})
				if err := daemon.Write(&h, data); err != nil {
					t.Fatal(err)
				}
				_, _, err := c.Read(t.Context(), make([]byte, 1))
				closed := c.Close()
				if counts {
					isUnsent(t, "Read", err, 2, syscall.ECONNRESET)
					isUnsent(t, "Close", closed, 2, syscall.ECONNRESET)
				} else if !errors.Is(err, syscall.ECONNRESET) || errors.As(err, new(*socket.UnsentError)) || closed != nil {
					t.Errorf("got %v, and %v of Close; want no bytes", err, closed)
				}
				daemon.Close()
			}
			s, daemon := opened()
			ends(newConn(s, true, &attach.Header{}), daemon)

			server, _ := opened()
			daemon, fd, err := attach.Pair()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { daemon.Close() })
			accepted, err := (&Listener{Socket: server, stream: true}).welcome(&response{fd: fd})
			if err != nil {
				t.Fatal(err)
			}
			ends(accepted, daemon)

			s, daemon = opened()
			if err := newConn(s, true, &attach.Header{}).Abort(); err != nil {
				t.Fatal(err)
			}
			want := attach.Header{Op: attach.OpPing}
			if counts {
				want = attach.Header{Op: attach.OpShutdown, Arg0: attach.ShutdownAbort}
			}
			var h attach.Header
			if _, err := daemon.Read(&h, nil); err != nil || h.Op != want.Op || h.Arg0 != want.Arg0 {
				t.Errorf("Abort ends with %v %d, %v; want %v %d", h.Op, h.Arg0, err, want.Op, want.Arg0)
			}
			daemon.Close()
			server.line().close()
			f.ends.Wait()
		})
	}
}

// A Write that goes on while the connection's end has come and another call closes the connection
// counts in what Close reports: Close waits for it, and no Write begins any more.
//
// Mutations: gracefulClose does not wait for calls that go on, or looks at what is lost before it
// does; Write, or TryWrite, does not say with leave how much it has written.
//
// Proves: socket.close
func TestCloseCountsWriteThatGoesOn(t *testing.T) {
	for name, write := range map[string]func(*Conn, []byte) (int, error){"Write": (*Conn).Write, "TryWrite": (*Conn).TryWrite} {
		t.Run(name, func(t *testing.T) {
			for range 50 {
				s, daemon := closeBed(t, false)
				conn := newConn(s, false, &attach.Header{})
				l := s.line()
				l.counts = true
				if err := l.enterData(); err != nil { // as a Write does whose record is with the daemon
					t.Fatal(err)
				}
				if k, err := write(conn, make([]byte, 5)); k != 5 || err != nil {
					t.Fatal(k, err)
				}
				end := attach.Header{Op: attach.OpEnd}
				var why []byte
				end.Errno, why = control.EncodeError(&socket.ConnError{Reason: "aborted by the peer", Err: syscall.ECONNRESET})
				if err := daemon.Write(&end, why); err != nil {
					t.Fatal(err)
				}
				closed := make(chan error, 1)
				go func() { closed <- conn.Close() }()
				over := func() bool {
					l.mu.Lock()
					defer l.mu.Unlock()
					return l.over == net.ErrClosed
				}
				for !over() {
					runtime.Gosched()
				}
				if _, err := write(conn, make([]byte, 5)); !errors.Is(err, net.ErrClosed) {
					t.Fatalf("a Write after Close began: %v", err)
				}
				runtime.Gosched()
				l.leaveData(7)
				isUnsent(t, "Close", <-closed, 12, syscall.ECONNRESET)
			}
		})
	}
}
