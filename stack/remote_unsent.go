// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Of what a program has written to a connection the daemon's node keeps the count: what the
// daemon could not send comes back with the answer to the last shutdown. Between the program
// and the daemon nothing is lost as long as both live, as the shutdown is the last there.

// A closeResult is how the end of an attached connection went.
type closeResult struct {
	once sync.Once
	done chan struct{}
	err  error // once done is closed: *UnsentError, that there was no answer, or nil
}

// wait is closed when the end is over.
func (g *closeResult) wait() chan struct{} {
	g.once.Do(func() { g.done = make(chan struct{}) })
	return g.done
}

// begin notes that the daemon is to be told of the end.
func (g *closeResult) begin(l *clientConn, f *remoteNode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leaving == nil {
		f.leaving = map[*clientConn]struct{}{}
	}
	f.leaving[l] = struct{}{}
}

// end notes how it went; known says that the program was told of what is not sent.
func (g *closeResult) end(l *clientConn, f *remoteNode, err error, known bool) {
	f.mu.Lock()
	delete(f.leaving, l)
	var unsent *UnsentError
	switch {
	case known:
	case errors.As(err, &unsent):
		f.unsent.Bytes += unsent.Bytes
		f.unsent.Err = unsent.Err
	case errors.Is(err, net.ErrClosed): // no answer
		f.unsent.Err = err
	}
	f.mu.Unlock()
	g.err = err
	close(g.wait())
}

// endedUnsent is the *UnsentError in the error that a line has ended with, or nil; known says
// that there is no more to be told of what is unsent, as the daemon is gone, or there is one.
func (l *clientConn) endedUnsent() (err error, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var unsent *UnsentError
	if errors.As(l.over, &unsent) {
		return unsent, true
	}
	return nil, errors.Is(l.over, net.ErrClosed)
}

// closeWait is CloseWait for an attached connection.
func (s *remoteSocket) closeWait(ctx context.Context) error {
	if err := s.close("close", true); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	select {
	case <-s.gone.wait():
	case <-ctx.Done():
		return s.opError("close", nil, &UnsentError{Err: context.Cause(ctx)})
	}
	var unsent *UnsentError
	switch err := s.gone.err; {
	case errors.As(err, &unsent):
		return s.opError("close", nil, unsent)
	case errors.Is(err, net.ErrClosed):
		return s.opError("close", nil, &UnsentError{Err: err})
	}
	return nil
}

// background begins a goroutine that Close waits for; false once Close has begun.
func (f *remoteNode) background(g func()) bool {
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
func (f *remoteNode) cut() (k int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for l := range f.leaving {
		l.conn.Close()
		k++
	}
	return k
}

// unsentError is what Node.Close returns for bytes that are lost, or nil.
func (f *remoteNode) unsentError() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unsent.Err == nil {
		return nil
	}
	unsent := f.unsent
	return opError("close", "tipc", nil, nil, &unsent)
}
