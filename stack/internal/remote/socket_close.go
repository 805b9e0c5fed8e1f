// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// Close implements backend.Socket.
func (s *Socket) Close() error { return s.close("close", true) }

// close ends the socket: of a connection in order, or not.
func (s *Socket) close(op string, orderly bool) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return s.opError(op, nil, net.ErrClosed)
	}
	s.closed = true
	l, names := s.line(), s.names
	if !s.aside {
		s.f.ends.Add(1) // whoever finds it closed may wait for that
	}
	s.mu.Unlock()
	s.f.mu.Lock()
	delete(s.f.sockets, s)
	s.f.mu.Unlock()
	if s.aside {
		l.close()
		return nil
	}
	return s.gracefulClose(op, l, names, orderly)
}

// gracefulClose closes the connection when the daemon has taken what was written, and withdrawn
// the names; orderly is for a connection, whose peer is told so, or reads a reset. For a socket
// without connections that is waited for, a little; what takes longer is left to a goroutine.
// Errors: *UnsentError of a connection that is known to have ended with bytes that were not sent.
func (s *Socket) gracefulClose(op string, l *clientConn, names []boundName, orderly bool) error {
	connected := isConnected(s.network)
	var unsent *socket.UnsentError
	var over error
	known := false
	if connected {
		over = l.knownEnd()
	}
	last := attach.Header{Op: attach.OpPing, ID: closeRequest}
	switch {
	case connected && orderly:
		last.Op = attach.OpShutdown
	case connected && l.counts:
		last.Op, last.Arg0 = attach.OpShutdown, attach.ShutdownAbort
	}
	l.stopLocal()
	if connected {
		l.untilWritten() // a Write that goes on counts in what is lost
		unsent, known = s.endedUnsent(over)
	}
	s.gone.begin(l, s.f)
	go func() {
		defer s.f.ends.Done()
		l.untilWritten()
		by := time.Now().Add(gracefulCloseWait)
		if connected { // its bytes wait for the peer
			by = never
		}
		err := l.last(names, last, by)
		if last.Op != attach.OpShutdown {
			err = nil
		}
		s.gone.end(l, s.f, err, unsent, known)
	}()
	if connected && !l.fds {
		if unsent != nil {
			return s.opError(op, nil, unsent)
		}
		return nil
	}
	s.gone.wait(s.f, wait{by: deadlineIn(closeWait)})
	return nil
}

func deadlineIn(d time.Duration) *time.Time {
	t := time.Now().Add(d)
	return &t
}

// last says the last words, and waits until by, or until the daemon has dealt with them, and so with
// everything before. It reads meanwhile: the daemon may not take them before it is rid of
// what it has to say, and where both ends of a connection close neither would go on. The
// error is the answer's, or says that there was none.
func (l *clientConn) last(names []boundName, h attach.Header, by time.Time) (err error) {
	l.mu.Lock()
	c := wait{by: &by, role: &l.reads}
	l.enter(&c)
	r := &c.w.request
	r.id = closeRequest
	silent := false // no answer comes
	l.conn.SetWriteDeadline(by)
	var said sync.WaitGroup
	said.Go(func() {
		if l.say(names, h) != nil {
			l.mu.Lock()
			defer l.mu.Unlock()
			silent = true
			l.rouse(c.w)
		}
	})
	var ended error
	err = l.await(&c, func() bool { return r.answered || ended != nil || silent }, func(*waiter) {
		l.mu.Unlock()
		record, fd, err := l.receive()
		l.mu.Lock()
		switch {
		case err == nil && record.IsReply() && record.ID == closeRequest:
			l.reply(&record, fd)
		case err == nil || errors.Is(err, os.ErrDeadlineExceeded):
			closeFD(fd)
		default:
			ended = lineError(err)
		}
		record.release()
	})
	switch {
	case r.answered:
		err = toldBy(&r.answer.Header, r.answer.data)
		closeFD(r.answer.fd)
	case ended != nil:
		err = ended
	default:
		err = lineError(os.ErrDeadlineExceeded)
	}
	l.mu.Unlock()
	l.conn.Close() // ends what is still being said
	said.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leave(&c)
	return err
}

// say writes the last words, and waits for room. No Write succeeds after them that the daemon
// would not read.
func (l *clientConn) say(names []boundName, h attach.Header) error {
	for _, n := range names {
		if err := l.conn.Write(&attach.Header{Op: attach.OpUnbind, Addr: n.addr}, nil); err != nil {
			return err
		}
	}
	return l.conn.WriteLast(&h, nil)
}

func isConnected(network string) bool {
	_, err := backend.Connected(network)
	return err == nil
}
