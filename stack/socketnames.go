// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"syscall"

	"github.com/utipc/utipc/stack/socket"
)

// What is known from package socket, where its documentation is.
type (
	// A BlockedError is why a write ended at its deadline: the room, or the name, that it waited
	// for.
	BlockedError = socket.BlockedError
	// A ConnError is why there is no connection, or no more.
	ConnError = socket.ConnError
	// HandlerStats are what an active port has done.
	HandlerStats = socket.HandlerStats
	// A PanicError is why an active port was closed: its handler panicked.
	PanicError = socket.PanicError
	// A Polled is a socket that was added to a Poller.
	Polled = socket.Polled
	// A RingMode says whether the records of an attached node's sockets go through memory that is
	// shared with the daemon, a ring for each socket, rather than through the system's sockets.
	RingMode = socket.RingMode
	// A CallError is why a call ended without an answer.
	CallError = socket.CallError
	// A RejectError is a message of one's own that came back: from Node.Call, and from ReadFrom of
	// a socket with SocketConfig.Returnable, with the beginning of the message as data.
	RejectError = socket.RejectError
	// An UnsentError means that not all that was accepted for sending has arrived: of a
	// connection, bytes that its Write had taken; of Node.Close, packets that other nodes had not
	// acknowledged, and bytes of connections that the Close of these has not reported.
	UnsentError = socket.UnsentError
	// An Event tells that a socket was bound to a range, or is bound no longer: the range and the socket,
	// and whether the name was Withdrawn; or that all that existed has been told (Complete). The
	// fields: go doc ./stack/socket Event, and ./naming Binding, which is embedded.
	Event = socket.Event
	// A GoneError is why a call of an attached node has ended: the daemon has.
	GoneError = socket.GoneError
	// A ReattachError is why an attached node, or one of its sockets, has ended for good: a daemon
	// is there again, and refuses it for a reason that does not pass.
	ReattachError = socket.ReattachError
	// A MembersError is why WaitMembers ended before there were enough.
	MembersError = socket.MembersError
	// A Message is a message that was read, or is to be written in a batch, and what is known of
	// it: From, Name, Error, and in a group Kind and Member. The fields: go doc ./stack/socket Message.
	Message = socket.Message
	// A SendReport is about a message that a write of an attached node took, and that the daemon
	// then could not send.
	SendReport = socket.SendReport
	// A SilentError is why a probe, or a subscription at another node, was given up: the node has
	// not answered.
	SilentError = socket.SilentError
	// A TopologyError is why the topology service of another node tells nothing, or no more.
	TopologyError = socket.TopologyError
	// An UnreachableError is why a message cannot go to an address.
	UnreachableError = socket.UnreachableError
	// A Wait is a write that waits.
	Wait = socket.Wait
	// A WaitMode says what a waiting call does while nothing comes.
	WaitMode = socket.WaitMode
)

const (
	// RingAuto has rings with AttachConfig.Wait of Spin, if the daemon grants them. The default.
	RingAuto = socket.RingAuto
	// RingNever has none.
	RingNever = socket.RingNever
	// RingAlways has one for each socket but those that listen, or no socket.
	RingAlways = socket.RingAlways
	// Adaptive spins for some 50 µs as long as that has lately paid off, then sleeps; it does not
	// spin where it shares its core, or has less than one. The default.
	Adaptive = socket.Adaptive
	// Sleep never spins.
	Sleep = socket.Sleep
	// Spin owns a core: it never sleeps while a call waits.
	Spin = socket.Spin
)

var (
	// ErrVoid means a Buffer that was sent or released.
	ErrVoid = socket.ErrVoid
	// ErrNoRoom means that a Reply would have had to wait: the link to its destination is
	// congested, or all of the node's memory is in use.
	ErrNoRoom = socket.ErrNoRoom
	// ErrEmpty means a request or an answer without data: such a message is never seen.
	ErrEmpty = socket.ErrEmpty
	// ErrNoAddress means a node without an address (Config.NoBearers), as long as it has none: it
	// has no sockets.
	ErrNoAddress = socket.ErrNoAddress
	// ErrTopology means a topology service that said what is no answer.
	ErrTopology = socket.ErrTopology
)

// Errno is the errno nearest to an error of this package, as a C program gets it from the
// daemon; 0 of nil, EIO of what has none.
func Errno(err error) syscall.Errno { return socket.Errno(err) }
