// SPDX-License-Identifier: Apache-2.0

// Package hosting is what package stack does for the daemon, which lets programs use its node,
// and for nobody else. It is no part of the public API, which stack can only be without by
// setting Backend when it is initialized. Nodes, sockets and pollers are those of stack;
// anything else is a mistake that panics.
package hosting

import (
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// A Keeper is a node whose bearers somebody keeps as they are wanted, see package
// daemon/bearers.
type Keeper interface {
	// NoteBearer says how such a bearer stands, under its full name, "eth:eth0". It is
	// among Bearers from then on, whether the node has a device for it or not, until
	// ForgetBearer, or DisableBearer while there is no device. A new state is logged, and
	// reported to those who watch. On an attached node it does nothing.
	NoteBearer(name string, s admin.BearerState)
	// ForgetBearer says that a bearer is no longer kept. On an attached node it does nothing.
	ForgetBearer(name string)
	// BearerNoted reports whether a bearer is kept, under its full name; never of an
	// attached node.
	BearerNoted(name string) bool
	// HoldBearer has the node treat a bearer's interface as one that carries nothing, or no
	// longer. Errors, inside *net.OpError: a *admin.Refusal with EINVAL, "Bearer not
	// found."; errors.ErrUnsupported of an attached node.
	HoldBearer(name string, hold bool) error
}

// Backend returns what is behind a *stack.Node, a socket or a *stack.Poller.
var Backend func(x any) any

// Keep returns the Keeper of a *stack.Node.
func Keep(node any) Keeper { return Backend(node).(Keeper) }

// NewAccount makes an Account of sockets of a *stack.Node. Nothing counts in one of an
// attached node.
func NewAccount(node any, c AccountConfig) *Account {
	return Backend(node).(interface {
		NewAccount(c AccountConfig) *Account
	}).NewAccount(c)
}

// An enterer is the backend of a *stack.Poller.
type enterer interface {
	Enter()
	Leave()
	Await() error
	Settle()
}

// Enter says that the caller, who sends on behalf of others, will take what becomes ready
// of a *stack.Poller, and wakes nobody for it until Leave: it calls Take in between, and
// must not wait. What it has not taken by then is left to those who wait.
func Enter(poller any) { Backend(poller).(enterer).Enter() }

// Leave ends Enter.
func Leave(poller any) { Backend(poller).(enterer).Leave() }

// Await waits until a socket of a *stack.Poller is ready, and takes none: for one goroutine,
// beside callers of Take. Errors: net.ErrClosed, inside *net.OpError.
func Await(poller any) error { return Backend(poller).(enterer).Await() }

// Settle makes ready of a *stack.Poller what sends that have returned brought to *stack.PacketConn,
// *stack.Listener and *stack.Group of the same node; without it a node that collects small messages of a sender
// without pause does so a little later.
func Settle(poller any) { Backend(poller).(enterer).Settle() }

// Start makes an idle *stack.Listener, see Idle, take requests.
func Start(listener any) { Backend(listener).(interface{ Start() }).Start() }

// Refuse refuses the requests that wait at a *stack.Listener, which goes on, and returns the ports of
// those of the same node.
func Refuse(listener any) []uint32 {
	return Backend(listener).(interface{ Refuse() []uint32 }).Refuse()
}

// Hold counts k bytes more that its owner keeps for a socket, a stack.Pollable, beside
// it, in the account that the socket counts in, or -k fewer: a message that was read of
// it and is not passed on, or one that waits to be written. It is never refused; where
// there is no room for it a connection or group is ended, it may be this one.
func Hold(socket any, k int) { Backend(socket).(interface{ Hold(k int) }).Hold(k) }

// Placed is the number of bytes of a *stack.Conn that its node has put on the link, or into the
// queue of a peer of its own, and does not count as lost; of one that has ended it does not
// change. The request for the connection counts.
func Placed(conn any) uint64 { return Backend(conn).(interface{ Placed() uint64 }).Placed() }

// CanCloseWrite reports whether the peer's node knows what CloseWrite of a *stack.Conn does.
func CanCloseWrite(conn any) bool {
	return Backend(conn).(interface{ CanCloseWrite() bool }).CanCloseWrite()
}

// Ended is why a *stack.Conn has ended, as a Read would return it; nil where it has not, also when
// its peer has called CloseWrite, after which Read returns io.EOF.
func Ended(conn any) error { return Backend(conn).(interface{ Ended() error }).Ended() }

// Returned is what came back with the end of a *stack.Conn: the beginning of the first message that
// its peer had received and not read, at most frame.MaxReturned bytes, or "".
func Returned(conn any) string { return Backend(conn).(interface{ Returned() string }).Returned() }

// Unread says that b was read of a *stack.Conn for a program that has not read it, the beginning of
// a message: Close and Abort return it to the peer, instead of what waits in the connection.
func Unread(conn any, b []byte) { Backend(conn).(interface{ Unread(b []byte) }).Unread(b) }

// A Message is what is known of one beside its data.
type Message struct {
	From       frame.SocketAddr
	Name       frame.Range // that it was sent to, if any
	Importance frame.Importance
	Marks      uint32 // see Marks
}

// Marks is what ReturnUnread needs, beside what TryReadMsg says, of the message that this has returned
// last of a *stack.PacketConn; for the goroutine that called it.
func Marks(packetConn any) uint32 {
	r := Backend(packetConn).(interface{ LastMsg() engine.Received }).LastMsg()
	return r.Marks()
}

// ReturnUnread gives a message of a *stack.PacketConn, of which b is the data, back to its sender, if
// that wants it back: for a program that has closed its socket without having read it. Errors as of
// Return.
func ReturnUnread(packetConn any, m Message, b []byte) error {
	type returner interface {
		ReturnUnread(r engine.Received, b []byte) error
	}
	r := engine.Received{From: m.From, Name: m.Name, Importance: m.Importance}
	r.SetMarks(m.Marks)
	return Backend(packetConn).(returner).ReturnUnread(r, b)
}

// Return gives the message that TryReadMsg of a *stack.PacketConn returned last, of
// which b is the data, back to its sender as undeliverable: for a program that reads on
// behalf of others, and could not pass the message on. The sender reads it as a
// *stack.RejectError with that code, or with NoPort after Close, if it has asked for
// returned messages; else the message counts as dropped (SocketStats.Dropped). Errors,
// inside *net.OpError: net.ErrClosed of a node that is closed, and errors.ErrUnsupported
// of an attached node.
func Return(packetConn any, b []byte, why frame.ErrorCode) error {
	type returner interface {
		ReturnMsg(b []byte, why frame.ErrorCode) error
	}
	return Backend(packetConn).(returner).ReturnMsg(b, why)
}
