// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/poll"
	"github.com/utipc/utipc/stack/socket"
)

// A sender is a socket that sends messages. The node's lock is held in all calls but
// writes.
type sender interface {
	// writes is what every sender has.
	writes() *writeHalf
	// put hands a message to the engine. Errors: the engine's, and errTurn.
	put(now time.Duration, d backend.Dest, data []byte) error
	// waits reports whether a message that met err may go later.
	waits(d backend.Dest, err error) bool
}

// An openSocket is what a node closes when it is closed.
type openSocket interface {
	writes() *writeHalf
	shut() // the node's lock is held
}

// addSocket makes a socket that a program has opened known to its node.
func (n *Node) addSocket(s openSocket, kind string) {
	n.sockets[s] = struct{}{}
	if n.hook != nil {
		n.hook.Opened(s, s.writes().network+" "+kind)
	}
}

// removeSocket is called when a socket is closed.
func (n *Node) removeSocket(s openSocket) {
	delete(n.sockets, s)
	n.hook.Closed(s)
}

// A writeHalf is the half of a socket that sends.
type writeHalf struct {
	n        *Node
	network  string
	local    frame.SocketAddr
	nameWait time.Duration // for which its sends wait for a name
	inTurn   bool          // the first of its calls that wait goes before all others

	// Guarded by the node's lock.
	closed  bool
	writeBy time.Time     // write deadline
	writing poll.List     // its calls that wait
	gone    chan struct{} // closed with the socket; nil: nobody waits for that
}

// Network implements backend.Socket.
func (w *writeHalf) Network() string { return w.network }

// Addr implements backend.Socket.
func (w *writeHalf) Addr() frame.SocketAddr {
	return w.local
}

// SendError implements backend.Reporter, and counts.
func (w *writeHalf) SendError(addr net.Addr, err error) error {
	if err != backend.ErrAgain {
		w.n.loop.Lock()
		w.n.eng.SendFailed(w.local.Port)
		w.n.loop.Unlock()
	}
	return backend.OpError("write", w.network, w.Addr(), addr, err)
}

func (w *writeHalf) writes() *writeHalf { return w }

// setWriteBy sets the write deadline. The node's lock is held.
func (w *writeHalf) setWriteBy(t time.Time) {
	w.writeBy = t
	w.n.loop.RouseAll(w.writing)
}

// NextReport implements backend.Reporter. There is none: a write returns its own error.
func (w *writeHalf) NextReport(ctx context.Context) (socket.SendReport, error) {
	w.n.loop.Lock()
	if w.gone == nil {
		w.gone = make(chan struct{})
		if w.closed {
			close(w.gone)
		}
	}
	gone := w.gone
	w.n.loop.Unlock()
	var err error
	select {
	case <-gone:
		err = net.ErrClosed
	case <-ctx.Done():
		err = ctx.Err()
	}
	return socket.SendReport{}, backend.OpError("report", w.network, w.local, nil, err)
}

// TryNextReport implements backend.Reporter.
func (w *writeHalf) TryNextReport() (socket.SendReport, error) {
	w.n.loop.Lock()
	defer w.n.loop.Unlock()
	if w.closed {
		return socket.SendReport{}, backend.OpError("report", w.network, w.local, nil, net.ErrClosed)
	}
	return socket.SendReport{}, backend.ErrAgain
}

// went ends the calls of NextReport. The node's lock is held.
func (w *writeHalf) went() {
	if w.gone != nil {
		close(w.gone)
	}
}

// SetWriteBuffer implements backend.Socket: a node has no send buffers for its sockets.
func (s *writeHalf) SetWriteBuffer(int) error {
	s.n.loop.Lock()
	defer s.n.loop.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	return nil
}

// SyscallConn implements backend.Socket: a socket of a node in this process has no descriptor.
func (s *writeHalf) SyscallConn() (syscall.RawConn, error) {
	s.n.loop.Lock()
	defer s.n.loop.Unlock()
	if s.closed {
		return nil, net.ErrClosed
	}
	return noDescriptor{}, nil
}

// A noDescriptor is what stands for a descriptor where there is none. Packages that ask any socket for
// one, as quic-go does, go on without it.
type noDescriptor struct{}

func (noDescriptor) Control(func(fd uintptr)) error { return errors.ErrUnsupported }

func (noDescriptor) Read(func(fd uintptr) bool) error { return errors.ErrUnsupported }

func (noDescriptor) Write(func(fd uintptr) bool) error { return errors.ErrUnsupported }
