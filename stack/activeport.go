// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/stack/internal/goroutine"
)

// ErrNoRoom means that a Reply would have had to wait: the link to its destination is
// congested, or all of the node's memory is in use.
var ErrNoRoom = errors.New("stack: no room to send without waiting")

// An ActivePort is a socket whose messages are not read but taken by a Handler, within
// the poll that brought them. Its methods may be called by any goroutine.
//
//	        ┌──(too long, too often)──► apart: a goroutine of its own
//	in poll─┤                             │
//	        └──(Close, or a panic)─► closed ◄─(the same)
//
// A handler that takes too long delays everybody of its node. A call over the limit is a
// strike, one of a hundred times the limit eight, and 64 calls in time take one back;
// with the sixteenth the port is moved to a goroutine of its own for good, where messages
// wait in its queue as in a PacketConn's. A single call that is far over does not do it:
// more often than not that was the machine, which gave the core to somebody else.
//
// A handler that panics closes its port; the poll goes on. Done tells of it, Err is a
// *PanicError, and Config.Logger gets it with its stack. Who asked hears nothing.
type ActivePort struct {
	b       portBackend
	handler Handler
	limit   time.Duration

	in    Message
	reply Reply

	replies, refused atomic.Uint64
	runner           atomic.Uintptr // the goroutine that runs the handler apart; 0: none does

	// Guarded by the backend's lock, but while the handler runs apart.
	apart   bool // the handler has a goroutine
	strikes int
	inTime  int           // calls since the last strike, modulo forgive
	told    time.Duration // when a call over the limit was logged last
	untold  int           // calls over the limit since then
	stats   HandlerStats
	err     error         // why it is closed
	done    chan struct{} // closed when it is
}

// When a port has a goroutine of its own.
const (
	mostStrikes   = 16
	severeStrikes = 8
	forgive       = 64 // calls in time that take a strike back
)

// HandlerStats are what an active port has done.
type HandlerStats struct {
	Handled uint64        // messages the handler took
	Replies uint64        // messages it sent
	Refused uint64        // messages it could not send
	Late    uint64        // calls over the time limit
	Severe  uint64        // of those, a hundred times the limit or more
	Longest time.Duration // call
	Waiting int           // messages that wait for the handler
	Apart   bool          // it has a goroutine of its own, being too slow for the poll
}

// A PanicError is why an active port was closed: its handler panicked.
type PanicError struct {
	Value any
	Stack []byte // of the call
}

func (e *PanicError) Error() string {
	return "active port's handler panicked: " + printable.Text(fmt.Sprint(e.Value)) // it may hold what a message said
}

// Addr is the port's own address, from which its answers come.
func (a *ActivePort) Addr() SocketAddr { return a.b.Addr() }

// Bind binds the port to one more Service or Range; see PacketConn.Bind.
func (a *ActivePort) Bind(addr net.Addr) error { return a.b.Bind(addr) }

// Unbind takes back one binding; see PacketConn.Unbind.
func (a *ActivePort) Unbind(addr net.Addr) error { return a.b.Unbind(addr) }

// Done is closed when the port is closed, and its handler does not run any more.
func (a *ActivePort) Done() <-chan struct{} { return a.done }

// Err is why the port is closed: nil while it is not, net.ErrClosed after Close of the
// port or the node, *PanicError.
func (a *ActivePort) Err() error {
	a.b.lock()
	defer a.b.unlock()
	if a.err == nil && a.b.isClosed() {
		return net.ErrClosed
	}
	return a.err
}

// Stats returns a snapshot.
func (a *ActivePort) Stats() HandlerStats {
	a.b.lock()
	defer a.b.unlock()
	s := a.stats
	s.Replies, s.Refused, s.Apart = a.replies.Load(), a.refused.Load(), a.apart
	s.Waiting = a.b.pending()
	return s
}

// Close withdraws the port's names, returns what waits to those who sent it, as far as
// they want it back, and waits until the handler does not run any more. Called by the
// handler itself it does not wait, and the port is closed at the end of the poll; nor does
// it when a handler that has a goroutine of its own calls it. Such a handler must not
// close its node, which waits for it. A second Close is an error, net.ErrClosed.
func (a *ActivePort) Close() error {
	if a.b.ownHandler() { // within the lock
		a.b.closeLater()
		return nil
	}
	if err := a.b.Close(); err != nil {
		return err
	}
	if a.runner.Load() != goroutine.ID() {
		<-a.done
	}
	return nil
}

// call runs the handler and reports its panic.
func (a *ActivePort) call() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v, debug.Stack()}
		}
	}()
	a.handler.ServeMessage(&a.reply, &a.in)
	return nil
}

// judge accounts for a call that began then and is over now. The lock is held.
func (a *ActivePort) judge(now, began time.Duration) {
	took := now - began
	s := &a.stats
	s.Handled++
	s.Longest = max(s.Longest, took)
	if took <= a.limit {
		if a.inTime++; a.inTime == forgive {
			a.inTime, a.strikes = 0, max(0, a.strikes-1)
		}
		return
	}
	s.Late++
	a.inTime = 0
	if took >= severeFactor*a.limit {
		s.Severe++
		a.strikes += severeStrikes
	} else {
		a.strikes++
	}
	if a.untold++; a.told == 0 || now-a.told >= time.Second {
		a.b.log(slog.LevelWarn, "handler over its time limit", slog.Duration("took", took), slog.Duration("limit", a.limit), slog.Int("times", a.untold))
		a.told, a.untold = now, 0
	}
}

func (a *ActivePort) tellPanic() {
	if p, ok := a.err.(*PanicError); ok {
		a.b.log(slog.LevelError, "handler panicked", slog.Any("err", p), slog.String("stack", string(p.Stack)))
	}
}

// take makes b the message that a handler has which runs apart.
func (a *ActivePort) take(b []byte, m *envelope) {
	a.in.Data, a.in.From, a.in.Name, a.in.Named, a.in.Importance = b, m.From, m.Name, m.Named, m.Importance
	a.reply.to, a.reply.open = m.From, true
}
