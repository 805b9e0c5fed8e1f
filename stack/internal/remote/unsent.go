// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// A program counts the bytes that Write of a connection has taken, and the daemon those that its
// node has put on the link: what there is between the two when the connection ends is lost, and
// the program knows how much with the end. Of a connection that is closed before it ends the
// answer to the last shutdown says it.

// A closeResult is how the end of an attached connection went. The node's lock guards it.
type closeResult struct {
	over bool
	err  error // once it is over: *UnsentError, that there was no answer, or nil
}

// wait waits until the end is over, as c says.
func (g *closeResult) wait(f *Node, c wait) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.leave(&c)
	if err := f.await(&c, func() bool { return g.over }, nil); err != nil {
		return err
	}
	return g.err
}

// begin notes that the daemon is to be told of the end.
func (g *closeResult) begin(l *clientConn, f *Node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leaving == nil {
		f.leaving = map[*clientConn]struct{}{}
	}
	f.leaving[l] = struct{}{}
}

// end notes how it went. Close has returned told; known says that this was all.
func (g *closeResult) end(l *clientConn, f *Node, err error, told *socket.UnsentError, known bool) {
	f.mu.Lock()
	delete(f.leaving, l)
	f.mu.Unlock()
	var unsent *socket.UnsentError
	switch {
	case errors.As(err, &unsent) && told == nil:
		f.lost(unsent.Bytes, unsent.Err)
	case errors.As(err, &unsent) && unsent.Bytes > told.Bytes:
		f.lost(unsent.Bytes-told.Bytes, unsent.Err)
	case errors.Is(err, net.ErrClosed) && !known: // no answer
		f.lost(0, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	g.over, g.err = true, err
	f.signalAll()
}

// lost notes for Node.Close that bytes are lost, or with 0 that nobody knows how many.
func (f *Node) lost(bytes int, why error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unsent.Bytes += bytes
	f.unsent.Err = why
}

// countPlaced notes what the daemon says with a connection's end of what was sent before. The
// lock is held.
func (l *clientConn) countPlaced(r *clientRecord) {
	if l.counts && l.socket == nil {
		placed := r.Wide
		l.placed = &placed
	}
}

// knownEnd is why the connection has ended, as far as it is known; or nil.
func (l *clientConn) knownEnd() (over error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lookAhead()                         // the end may have come
	if l.over == nil && isEnd(l.failed) { // a send has met it before it is told
		return l.failed
	}
	return l.over
}

// endedUnsent is what is lost of a connection for whose end knownEnd has given the reason, or nil;
// known says that this is all. No Write goes on any more.
func (s *Socket) endedUnsent(over error) (unsent *socket.UnsentError, known bool) {
	switch {
	case over == nil, over == net.ErrClosed:
		return nil, false
	case isGone(over):
		if s.line().wrote() > 0 {
			unsent = &socket.UnsentError{Err: over}
		}
		return unsent, true
	case over == io.EOF:
		over = s.closedByPeer()
	}
	bytes, why, known := s.lostIn(over)
	if bytes > 0 {
		unsent = &socket.UnsentError{Bytes: bytes, Err: why}
	}
	return unsent, known
}

// isEnd reports whether the error of a send says that the connection has ended.
func isEnd(err error) bool { return errors.As(err, new(*socket.ConnError)) }

// ended is the error of a call on a connection that finds its end: a *ConnError has in it how
// many bytes are lost. Other errors are as they are.
func (s *Socket) ended(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if err == syscall.EPIPE {
		err = s.closedByPeer()
	}
	bytes, why, known := s.lostIn(err)
	var e *socket.ConnError
	if !known || !errors.As(why, &e) {
		return err
	}
	if bytes > 0 {
		e.Err = &socket.UnsentError{Bytes: bytes, Err: e.Err}
	}
	return e
}

// closedByPeer is what a Write finds of a connection that the peer has closed.
func (s *Socket) closedByPeer() error {
	return &socket.ConnError{Peer: s.peer, Reason: engine.EndShutdown.String(), Err: syscall.EPIPE}
}

// lostIn is how many bytes are lost of a connection that has ended with err, and that error
// without them; known says that these are all, not those alone that the node of the daemon had.
func (s *Socket) lostIn(err error) (bytes int, why error, known bool) {
	var e *socket.ConnError
	if !errors.As(err, &e) {
		return 0, err, false
	}
	bare := *e
	var unsent *socket.UnsentError
	if errors.As(e.Err, &unsent) {
		bytes, bare.Err = unsent.Bytes, unsent.Err
	}
	l := s.line()
	wrote := l.wrote()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.placed != nil {
		bytes, known = int(max(wrote, *l.placed)-*l.placed), true
	}
	return bytes, &bare, known
}

// closeWait is CloseWait for an attached connection.
func (s *Socket) closeWait(ctx context.Context) error {
	if err := s.close("close", true); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	err := s.gone.wait(s.f, wait{ctx: ctx})
	var unsent *socket.UnsentError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unsent):
		return s.opError("close", nil, unsent)
	case err == ctx.Err():
		err = context.Cause(ctx)
	case !errors.Is(err, net.ErrClosed):
		return nil
	}
	return s.opError("close", nil, &socket.UnsentError{Err: err})
}

// background begins a goroutine that Close waits for; false once Close has begun.
func (f *Node) background(g func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.ends.Go(g)
	return true
}

// cut ends what still waits for the daemon when the node is closed, and says how many
// connections that were.
func (f *Node) cut() (k int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for l := range f.leaving {
		l.conn.Close()
		k++
	}
	return k
}

// unsentError is what Node.Close returns for bytes that are lost, or nil. over, unless it is nil, is
// why it waited no longer: what the connections that it cut say of their ends is no other reason.
func (f *Node) unsentError(over error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	unsent := f.unsent
	if unsent.Err = cmp.Or(over, unsent.Err); unsent.Err == nil {
		return nil
	}
	return backend.OpError("close", "tipc", nil, nil, &unsent)
}
