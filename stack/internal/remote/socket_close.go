// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"net"
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
		<-l.out.unsent // a Write that goes on counts in what is lost
		unsent, known = s.endedUnsent(over)
	}
	done := make(chan struct{})
	s.gone.begin(l, s.f)
	go func() {
		defer s.f.ends.Done()
		defer close(done)
		l.mu.Lock()
		w := l.enter(closeRequest)
		for l.leader != nil { // it leaves, and there is no other
			l.sleep(w, time.Time{})
		}
		l.leader = w
		l.conned = longAgo // a kick that comes late leaves the deadline alone
		l.mu.Unlock()
		<-l.out.unsent
		by := time.Now().Add(gracefulCloseWait)
		if connected { // its bytes wait for the peer
			by = time.Time{}
		}
		l.conn.SetDeadline(by)
		err := l.last(names, last)
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
	timer := time.NewTimer(closeWait)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
	return nil
}

// last says the last words, and waits until the daemon has dealt with them, and so with
// everything before. It reads meanwhile: the daemon may not take them before it is rid of
// what it has to say, and where both ends of a connection close neither would go on. The
// error is the answer's, or says that there was none.
func (l *clientConn) last(names []boundName, h attach.Header) (err error) {
	var said sync.WaitGroup
	said.Go(func() {
		if l.say(names, h) != nil {
			l.conn.SetReadDeadline(longAgo) // no answer comes
		}
	})
	var r attach.Header
	for {
		buf, readErr := l.conn.ReadPooled(&r)
		if readErr != nil {
			err = lineError(readErr)
			break
		}
		last := r.IsReply() && r.ID == closeRequest
		if last {
			err = toldBy(&r, buf.Data)
		}
		buf.Release()
		if last {
			break
		}
	}
	l.conn.Close() // ends what is still being said
	said.Wait()
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
