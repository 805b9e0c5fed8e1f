// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"net"
	"sync/atomic"

	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/goroutine"
)

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
	p     backend.ActivePort
	reply Reply

	replies, refused atomic.Uint64
}

// Addr is the port's own address, from which its answers come.
func (a *ActivePort) Addr() SocketAddr { return a.p.B.Addr() }

// Bind binds the port to one more Service or Range; see PacketConn.Bind.
func (a *ActivePort) Bind(addr net.Addr) error { return a.p.B.Bind(addr) }

// Unbind takes back one binding; see PacketConn.Unbind.
func (a *ActivePort) Unbind(addr net.Addr) error { return a.p.B.Unbind(addr) }

// Done is closed when the port is closed, and its handler does not run any more.
func (a *ActivePort) Done() <-chan struct{} { return a.p.Done }

// Err is why the port is closed: nil while it is not, net.ErrClosed after Close of the
// port or the node, *PanicError.
func (a *ActivePort) Err() error {
	a.p.B.Lock()
	defer a.p.B.Unlock()
	if a.p.Err == nil && a.p.B.IsClosed() {
		return net.ErrClosed
	}
	return a.p.Err
}

// Stats returns a snapshot.
func (a *ActivePort) Stats() HandlerStats {
	a.p.B.Lock()
	defer a.p.B.Unlock()
	s := a.p.Stats
	s.Replies, s.Refused, s.Apart = a.replies.Load(), a.refused.Load(), a.p.Apart
	s.Waiting = a.p.B.Pending()
	return s
}

// Close withdraws the port's names, returns what waits to those who sent it, as far as
// they want it back, and waits until the handler does not run any more. Called by the
// handler itself it does not wait, and the port is closed at the end of the poll; nor does
// it when a handler that has a goroutine of its own calls it. Such a handler must not
// close its node, which waits for it. A second Close is an error, net.ErrClosed.
func (a *ActivePort) Close() error {
	if a.p.B.OwnHandler() { // within the lock
		a.p.B.CloseLater()
		return nil
	}
	if err := a.p.B.Close(); err != nil {
		return err
	}
	if a.p.Runner.Load() != goroutine.ID() {
		<-a.p.Done
	}
	return nil
}
