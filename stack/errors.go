// SPDX-License-Identifier: Apache-2.0

package stack

import "github.com/utipc/utipc/stack/engine"

// Errors of this package stand inside a *net.OpError, as those of package net do.
var (
	// ErrUnreachable means that a message cannot go where it is to go. The five errors that
	// follow are its causes, and errors.Is(err, ErrUnreachable) holds for each of them; an
	// *UnreachableError around them has the address and what to look at.
	ErrUnreachable = engine.ErrUnreachable
	// ErrNoName means that no socket is bound to the name, within Config.NameWait.
	ErrNoName = engine.ErrNoName
	// ErrNoNode means that no node with the address is known.
	ErrNoNode = engine.ErrNoNode
	// ErrNoLink means that contact with the destination's node is lost.
	ErrNoLink = engine.ErrNoLink
	// ErrNoMember means that nobody else is in the group, or no such member.
	ErrNoMember = engine.ErrNoMember
	// ErrEvicted means a member that was evicted from the group, see Lag.
	ErrEvicted = engine.ErrEvicted
	// ErrTooLong means a message of more than 66000 bytes.
	ErrTooLong = engine.ErrTooLong
	// ErrReserved means a service type below 64.
	ErrReserved = engine.ErrReserved
	// ErrRange means a range whose lower bound is above its upper bound.
	ErrRange = engine.ErrRange
	// ErrNotBound means the socket has no such binding.
	ErrNotBound = engine.ErrNotBound
	// ErrNameTaken means that a name is not the socket's alone, see SocketConfig.Exclusive. It is
	// syscall.EADDRINUSE.
	ErrNameTaken = engine.ErrNameTaken
	// ErrWrongNetwork means a listener of "tipc" that was dialed as "tipcpacket", or the reverse,
	// between nodes of this implementation; with others nobody knows. It is syscall.ECONNREFUSED.
	ErrWrongNetwork = engine.ErrWrongNetwork
	// ErrTooManySockets means the node has as many sockets as it may have.
	ErrTooManySockets = engine.ErrSockets
	// ErrConfig means a Config that cannot work.
	ErrConfig = engine.ErrConfig
	// ErrSlow means a subscriber that did not read its events in time.
	ErrSlow = engine.ErrSlow
	// ErrTooManySubscriptions means the node has 65535 subscriptions.
	ErrTooManySubscriptions = engine.ErrTooManySubscriptions
)

// A MemoryError means that the node's memory can never hold a message of the length; see
// Config.Chunks. It unwraps to syscall.ENOBUFS.
type MemoryError = engine.MemoryError

// A NameTakenError is why a socket with SocketConfig.Exclusive has not, or has no longer, a name: it
// says which, and which socket is bound to it. It unwraps to ErrNameTaken.
type NameTakenError = engine.NameTakenError

// A WrongNetworkError is why a listener that is of another network than it was dialed with refused
// the connection: it says of which. It unwraps to ErrWrongNetwork.
type WrongNetworkError = engine.WrongNetworkError

// A LengthError means a message that is longer than may be sent, and how long it may be. It
// unwraps to ErrTooLong.
type LengthError = engine.LengthError
