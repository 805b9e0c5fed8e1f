// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
	"time"

	"github.com/utipc/utipc/stack/internal/poll"
)

// A sender is a socket that sends messages. The node's lock is held in all calls but
// writes.
type sender interface {
	// writes is what every sender has.
	writes() *writeHalf
	// put hands a message to the engine. Errors: the engine's, and errTurn.
	put(now time.Duration, d dest, data []byte) error
	// waits reports whether a message that met err may go later.
	waits(d dest, err error) bool
}

// A socket is what a node closes when it is closed.
type socket interface {
	writes() *writeHalf
	shut() // the node's lock is held
}

// A writeHalf is the half of a socket that sends.
type writeHalf struct {
	n        *localNode
	network  string
	local    SocketAddr
	nameWait time.Duration // for which its sends wait for a name
	inTurn   bool          // the first of its calls that wait goes before all others

	// Guarded by the node's lock.
	closed  bool
	writeBy time.Time     // write deadline
	writing poll.List     // its calls that wait
	gone    chan struct{} // closed with the socket; nil: nobody waits for that
}

// Network implements socketBackend.
func (w *writeHalf) Network() string { return w.network }

// Addr implements socketBackend.
func (w *writeHalf) Addr() SocketAddr {
	return w.local
}

// sendError implements reportBackend, and counts.
func (w *writeHalf) sendError(addr net.Addr, err error) error {
	if err != errAgain {
		w.n.loop.Lock()
		w.n.eng.SendFailed(w.local.Port)
		w.n.loop.Unlock()
	}
	return opError("write", w.network, w.Addr(), addr, err)
}

func (w *writeHalf) writes() *writeHalf { return w }

// setWriteBy sets the write deadline. The node's lock is held.
func (w *writeHalf) setWriteBy(t time.Time) {
	w.writeBy = t
	w.n.loop.RouseAll(w.writing)
}

// NextReport implements reportBackend. There is none: a write returns its own error.
func (w *writeHalf) NextReport(ctx context.Context) (SendReport, error) {
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
	return SendReport{}, opError("report", w.network, w.local, nil, err)
}

// TryNextReport implements reportBackend.
func (w *writeHalf) TryNextReport() (SendReport, error) {
	w.n.loop.Lock()
	defer w.n.loop.Unlock()
	if w.closed {
		return SendReport{}, opError("report", w.network, w.local, nil, net.ErrClosed)
	}
	return SendReport{}, errAgain
}

// went ends the calls of NextReport. The node's lock is held.
func (w *writeHalf) went() {
	if w.gone != nil {
		close(w.gone)
	}
}
