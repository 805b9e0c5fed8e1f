// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// fullBed is closeBed with a connection that has no room towards the daemon.
func fullBed(t *testing.T, ring bool) (*Socket, *attach.Conn) {
	t.Helper()
	s, daemon := closeBed(t, ring)
	s.f.closed = true // there is nobody to ask what a send waits for
	fillUp(t, s.line().conn, attach.OpSend)
	return s, daemon
}

// untilWaiting waits until so many calls wait for room, and one of them in the connection.
func untilWaiting(t *testing.T, l *clientConn, k int) {
	t.Helper()
	waiting := func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.out.calls == k && l.out.room.holder != nil && l.out.room.at != longAgo
	}
	for by := time.Now().Add(2 * time.Minute); !waiting(); runtime.Gosched() {
		if time.Now().After(by) {
			t.Fatalf("%d calls do not wait for room", k)
		}
	}
}

// records reads what the daemon's end has got, and says which of the records' data begins
// with each of marks.
func recordsOf(t *testing.T, daemon *attach.Conn, marks ...byte) (counts []int) {
	t.Helper()
	counts = make([]int, len(marks))
	buf := make([]byte, attach.MaxData)
	for {
		var h attach.Header
		k, err := daemon.TryRead(&h, buf)
		if err == syscall.EAGAIN {
			return counts
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range marks {
			if bytes.IndexByte(buf[:k], m) >= 0 {
				counts[i]++
			}
		}
	}
}

// A write that ends with its context, or its deadline, while there is no room, has sent
// nothing and sends nothing later, whatever its caller puts into the buffer since; those
// that wait behind it, and before it, are not touched. Mutation: write leaves
// the record to a goroutine.
func TestEndedWriteSendsNothing(t *testing.T) {
	ends := map[string]struct {
		end  func(l *clientConn, cancel context.CancelFunc)
		want error
	}{
		"context":  {func(_ *clientConn, cancel context.CancelFunc) { cancel() }, context.Canceled},
		"deadline": {func(l *clientConn, _ context.CancelFunc) { l.setWriteBy(longAgo) }, os.ErrDeadlineExceeded},
		"close":    {func(l *clientConn, _ context.CancelFunc) { l.stopLocal() }, net.ErrClosed},
	}
	for name, ring := range map[string]bool{"socket": false, "ring": true} {
		for how, e := range ends {
			for _, sync := range []bool{false, true} {
				t.Run(name+" "+how+map[bool]string{true: ", answered"}[sync], func(t *testing.T) {
					s, daemon := fullBed(t, ring)
					l := s.line()
					s.sync = sync
					const calls = 3 // one waits for room, the others for their turn
					ctx, cancel := context.WithCancel(context.Background())
					defer cancel()
					ended := make(chan error, calls)
					buf := bytes.Repeat([]byte{'!'}, 1000)
					for range calls {
						go func() {
							h := attach.Header{Op: attach.OpSend}
							_, err := s.send(ctx, &h, buf)
							ended <- err
						}()
					}
					untilWaiting(t, l, calls)
					e.end(l, cancel)
					for range calls {
						select {
						case err := <-ended:
							if !errors.Is(err, e.want) {
								t.Errorf("got %v, want %v", err, e.want)
							}
						case <-time.After(2 * time.Minute):
							t.Fatal("a write did not end")
						}
					}
					l.mu.Lock()
					if l.out.calls != 0 {
						t.Errorf("%d wait for room still", l.out.calls)
					}
					l.mu.Unlock()
					copy(buf, bytes.Repeat([]byte{'X'}, len(buf))) // it is the caller's again
					if got := recordsOf(t, daemon, '!', 'X'); !slices.Equal(got, []int{0, 0}) {
						t.Errorf("%d came that were not sent, %d with what was put into the buffer since", got[0], got[1])
					}
					if got := recordsOf(t, daemon, '!', 'X'); !slices.Equal(got, []int{0, 0}) {
						t.Errorf("then %d and %d", got[0], got[1])
					}
					if how == "close" {
						return
					}
					l.setWriteBy(time.Time{})
					h := attach.Header{Op: attach.OpSend}
					if _, err := l.write(context.Background(), &h, []byte("#")); err != nil {
						t.Error(err)
					}
					if got := recordsOf(t, daemon, '#'); got[0] != 1 {
						t.Errorf("a write after that came %d times", got[0])
					}
				})
			}
		}
	}
}

// One call's context ends it alone, although another is the one that waits in the
// connection. Mutation: await does not look at the context.
func TestContextEndsItsOwnWrite(t *testing.T) {
	s, daemon := fullBed(t, false)
	l := s.line()
	write := func(ctx context.Context, text string) chan error {
		ended := make(chan error, 1)
		go func() {
			h := attach.Header{Op: attach.OpSend}
			_, err := l.write(ctx, &h, []byte(text))
			ended <- err
		}()
		return ended
	}
	first := write(context.Background(), "!")
	untilWaiting(t, l, 1)
	ctx, cancel := context.WithCancel(context.Background())
	second := write(ctx, "?")
	untilWaiting(t, l, 2)
	cancel()
	if err := <-second; err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	got := recordsOf(t, daemon, '!', '?') // makes room, for one that may be read already
	if err := <-first; err != nil {
		t.Error(err)
	}
	for i, k := range recordsOf(t, daemon, '!', '?') {
		got[i] += k
	}
	if !slices.Equal(got, []int{1, 0}) {
		t.Errorf("came %d times and %d times, want once and never", got[0], got[1])
	}
}

// Accept that finds no room for its request waits for it, until its deadline, and asks for
// nothing then. Mutations: it has no context; post does not look at the deadline.
func TestAcceptWaitsForRoom(t *testing.T) {
	s, daemon := fullBed(t, false)
	s.line().fds = true
	ln := &Listener{Socket: s}
	acceptBy := func(t time.Time) { ln.SetDeadline(backend.Reads, t) }
	accept := func() chan error {
		ended := make(chan error, 1)
		go func() {
			_, err := ln.AcceptConn(t.Context())
			ended <- err
		}()
		return ended
	}
	ended := accept()
	untilWaiting(t, s.line(), 1)
	acceptBy(time.Now().Add(time.Millisecond))
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if err := <-accept(); !errors.Is(err, os.ErrDeadlineExceeded) { // over before
		t.Errorf("got %v", err)
	}
	acceptBy(time.Time{})
	ended = accept()
	untilWaiting(t, s.line(), 1)
	var h attach.Header
	for h.Op != attach.OpAccept {
		if _, err := daemon.Read(&h, make([]byte, 1024)); err != nil {
			t.Fatal(err)
		}
	}
	r := h.Reply(syscall.ENOBUFS)
	if err := daemon.Write(&r, nil); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, syscall.ENOBUFS) {
		t.Errorf("got %v", err)
	}
	if _, err := daemon.TryRead(&h, nil); err != syscall.EAGAIN {
		t.Errorf("it asked again: %v, %v", &h, err)
	}
}

// A send that is answered, and ended when the daemon has it already, says what became of
// it: it was sent all the same, it was not, or that is not known. Mutations: converse does
// not wait for the answer after it canceled; Unanswered is not set.
func TestEndedSendSaysWhatBecameOfIt(t *testing.T) {
	for name, errno := range map[string]syscall.Errno{"sent": 0, "canceled": syscall.ECANCELED, "unanswered": syscall.EAGAIN} {
		t.Run(name, func(t *testing.T) {
			s, daemon := closeBed(t, false)
			s.f.closed = true
			s.sync = true
			if name != "unanswered" {
				s.line().grace = 2 * time.Minute
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				h := attach.Header{Op: attach.OpSend}
				_, err := s.send(ctx, &h, []byte("x"))
				ended <- s.notSent(nil, 0, err)
			}()
			var h, c attach.Header
			if _, err := daemon.Read(&h, make([]byte, 10)); err != nil {
				t.Fatal(err)
			}
			cancel()
			if _, err := daemon.Read(&c, nil); err != nil || c.Op != attach.OpCancel || c.Arg0 != h.ID {
				t.Fatal(&c, err)
			}
			var data []byte
			if name == "canceled" {
				_, data = control.EncodeError(&socket.BlockedError{Group: 4242})
			}
			if name != "unanswered" {
				r := h.Reply(errno)
				if err := daemon.Write(&r, data); err != nil {
					t.Fatal(err)
				}
			}
			err := <-ended
			var blocked *socket.BlockedError
			switch errors.As(err, &blocked); name {
			case "sent":
				if inner(err) != nil {
					t.Errorf("got %v", err)
				}
			case "canceled":
				if blocked == nil || blocked.Unanswered || blocked.Group != 4242 || !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			default:
				if blocked == nil || !blocked.Unanswered || !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}

// A request of several records that its caller gives up is sent whole, as it was when it
// was begun, and canceled; other requests do not go in between. Mutations: postParts sends
// the caller's own data; tryPost does not wait for it.
func TestLongRequestIsSentWhole(t *testing.T) {
	s, daemon := closeBed(t, false)
	l := s.line()
	l.out.room.holder = &elsewhere // as between two records
	if err := l.tryPost(&attach.Header{Op: attach.OpPing}, nil); err != syscall.EAGAIN {
		t.Errorf("a request within another: got %v", err)
	}
	l.out.room.holder = nil
	data := bytes.Repeat([]byte{'!'}, 8*attach.MaxData)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.post(ctx, &never, &attach.Header{Op: attach.OpCall, ID: 1}, data) }()
	untilWaiting(t, l, 1)
	other := make(chan error, 1)
	go func() { other <- l.post(context.Background(), &never, &attach.Header{Op: attach.OpCall, ID: 2}, nil) }()
	untilWaiting(t, l, 2)
	cancel()
	if err := <-ended; err != context.Canceled {
		t.Errorf("got %v", err)
	}
	clear(data)
	var got int
	buf := make([]byte, attach.MaxData)
	var h attach.Header
	for h.Op != attach.OpCancel {
		k, err := daemon.Read(&h, buf)
		if err != nil {
			t.Fatal(err)
		}
		if h.Op == attach.OpCall && h.ID != 1 {
			t.Fatalf("%v within another request", &h)
		}
		if k > 0 && bytes.Count(buf[:k], []byte{'!'}) != k {
			t.Error("not what was to be sent")
		}
		got += k
	}
	if got != len(data) || h.Arg0 != 1 {
		t.Errorf("%d of %d bytes, then %v", got, len(data), &h)
	}
	if err := <-other; err != nil {
		t.Error(err)
	}
	if _, err := daemon.Read(&h, buf); err != nil || h.Op != attach.OpCall || h.ID != 2 {
		t.Errorf("then %v, %v", &h, err)
	}
}
