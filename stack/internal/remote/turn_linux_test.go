// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/callfault"
	"github.com/utipc/utipc/stack/internal/backend"
)

// endOf waits for the error of a call.
func endOf(t *testing.T, call <-chan error) error {
	t.Helper()
	select {
	case err := <-call:
		return err
	case <-time.After(2 * time.Minute):
		t.Fatal("the call does not end")
		return nil
	}
}

// A Write of a stream that waits for another Write ends at the write deadline and with Close,
// however long the other one goes on: here one that the daemon never answers.
//
// Mutations: takeTurn waits without a deadline; without over.
//
// Proves: socket.deadlines
func TestWriteBehindAnotherWrite(t *testing.T) {
	for name, ring := range map[string]bool{"socket": false, "ring": true} {
		t.Run(name, func(t *testing.T) {
			s, daemon := closeBed(t, ring)
			s.f.closed = true // there is nobody to ask what a send waits for
			s.sync = true
			s.line().grace = time.Hour // the first Write waits for its answer beyond the deadline
			c := newConn(s, true, &attach.Header{})
			write := func() <-chan error {
				end := make(chan error, 1)
				go func() {
					_, err := c.Write([]byte("x"))
					end <- err
				}()
				return end
			}
			first := write()
			var h attach.Header
			if _, err := daemon.Read(&h, make([]byte, 100)); err != nil || h.Op != attach.OpSend {
				t.Fatal(h, err)
			}
			second := write()
			soon := time.Now().Add(time.Millisecond)
			if err := s.SetDeadline(backend.Writes, soon); err != nil {
				t.Fatal(err)
			}
			if err := endOf(t, second); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("at the deadline: got %v", err)
			}
			if _, err := c.TryWrite([]byte("x")); err != backend.ErrAgain {
				t.Errorf("TryWrite: got %v", err)
			}
			if err := s.SetDeadline(backend.Writes, never); err != nil {
				t.Fatal(err)
			}
			r := h.Reply(0)
			if err := daemon.Write(&r, nil); err != nil {
				t.Fatal(err)
			}
			if err := endOf(t, first); err != nil {
				t.Errorf("the first: %v", err)
			}

			c.tryTurn() // of a Write that has still to find out about Close
			second = write()
			until(t, s.line(), "the Write waits", func() bool { return len(s.line().waits) == 1 })
			if err := s.close("close", false); err != nil {
				t.Fatal(err)
			}
			if err := endOf(t, second); !errors.Is(err, net.ErrClosed) {
				t.Errorf("with Close: got %v", err)
			}
			daemon.Close()
			s.f.ends.Wait()
		})
	}
}

// A record that was written counts as written, though the socket is closed before its writer goes on.
//
// Mutation it catches: put returns why the wait was over in any case.
//
// Proves: socket.deadlines
func TestWrittenBeforeClose(t *testing.T) {
	s, daemon := closeBed(t, false)
	l, sent := s.line(), false
	callfault.Use(func(c callfault.Call) syscall.Errno {
		switch c {
		case callfault.Send:
			return syscall.EAGAIN // it waits for room
		case callfault.SendWait:
			l.mu.Lock()
			defer l.mu.Unlock()
			l.over, sent = net.ErrClosed, true
		}
		return 0
	})
	defer callfault.Use(nil)
	h := attach.Header{Op: attach.OpSend}
	if _, err := l.write(t.Context(), &h, []byte("x")); err != nil || !sent {
		t.Errorf("got %v, tried: %v", err, sent)
	}
	if _, err := daemon.Read(&h, make([]byte, 100)); err != nil || h.Op != attach.OpSend {
		t.Errorf("the daemon got %v, %v", &h, err)
	}
}
