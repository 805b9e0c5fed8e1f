// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"time"

	"github.com/utipc/utipc/stack/internal/backend"
)

// A SocketConfig is a socket's options; its zero value means the defaults.
type SocketConfig struct {
	Importance   Importance // of what is sent, Low to Critical; of a connection the dialing end's counts for both
	Scope        Scope      // of the address bound to; zero: the cluster
	Returnable   bool       // undeliverable messages come back as *RejectError; of connectionless sockets
	ReceiveLimit int        // bytes that may wait to be read, at importance Low; 0: 2 MiB; of a connection at least 512 KiB
	Multicast    Method     // how messages to a range reach other nodes; Auto: chosen for each

	// Exclusive says that the socket takes the names that it is bound to for itself, one in the
	// cluster. Making it, and Bind, wait until the nodes with which there is contact know of that, as
	// Node.WaitPublished does, and fail with *NameTakenError where another socket is bound to such a
	// name. Of sockets that bind at once, or on both sides of a network that was split, one keeps the
	// name, that on the lowest node. The others lose it: their binding is withdrawn, and
	// AcceptConn and reads return *NameTakenError, messages that wait or not, until the socket is
	// bound to something again, or Unbind of that name; an active port is closed, and its Err says so.
	// Connections that were accepted stay. A node that is down, or is cut off, has lost its names for
	// the others: whoever acts on a name acts for a while beside the next who has it, at most until
	// contact is made again.
	//
	// A socket that is bound without Exclusive, which a kernel's and one of an older version always is, is
	// not refused, and goes before: the exclusive one loses its name. So all that bind a name have to
	// use it, or none. Scope is that of the cluster.
	Exclusive bool

	// NameWait is how long a send, or a Dial, waits for a name that nobody has bound; 0: as
	// long as Config.NameWait says, negative: not at all.
	NameWait time.Duration

	DialTimeout time.Duration // for which Dial waits, from the call on, for room and an answer; 0: 8 s
	NoDelay     bool          // of a stream: see Conn.SetNoDelay
	Backlog     int           // connection requests that may wait to be accepted; 0: 4096, with AcceptAhead 128

	// AcceptAhead says that a listener answers requests before Accept is called, as TCP does: Dial
	// returns at once, and what the dialing end writes is kept, as far as its window goes, until
	// Accept returns the connection. Up to Backlog connections wait so; a request beyond that is
	// asked again, until DialTimeout of its Dial. Close of the listener resets those that wait.
	// Without it, as with kernels, Dial returns when Accept has taken the request.
	AcceptAhead bool

	// Requests says that each message sent to a service or a socket is a request, one at a time:
	// when there will be no answer, as the socket that took it has closed or contact with its
	// node is lost, a message without data and with Error NoPort or NoNode is read. See Node.Call,
	// which does so, for how that is known. Of connectionless sockets.
	Requests bool

	// PreferIdle says that a message to a Service goes, of the sockets bound to it, to one that has
	// least to do, and among equals to the one whose turn it is; without it, as with kernels, they
	// take turns. What a socket has to do is what this node knows of that: the requests, of Call and
	// of sockets with Requests, that were sent to it from here and not answered; of a socket of this
	// node, whoever sent them, also the messages that wait to be read, and with ManualAck those
	// that are not acknowledged. No more than 64 sockets are compared, from that on whose turn it
	// is. Of connectionless sockets.
	PreferIdle bool

	// ManualAck says that a message which is read, and whose sender wants it back if it cannot be
	// delivered, counts as taken only when Ack is called with its Receipt. Until then the node
	// keeps its beginning, and returns it to the sender as *RejectError with NoPort when the
	// socket is closed, or its process ends: before the messages that were not read. What is
	// kept counts against ReceiveLimit. On an attached node, whose daemon keeps it, that holds as
	// well for what lies between the daemon and the program. Of connectionless sockets.
	ManualAck bool

	SyncErrors bool // of an attached node, whose sends else do not wait for the daemon: see AttachConfig
}

// check reports options that cannot be. Errors: ErrConfig.
func (c SocketConfig) check() error {
	switch {
	case c.Importance > Critical:
		return fmt.Errorf("%w: importance %d", ErrConfig, c.Importance)
	case c.Scope != 0 && c.Scope != ClusterScope && c.Scope != NodeScope:
		return fmt.Errorf("%w: scope %d", ErrConfig, c.Scope)
	case c.Exclusive && c.Scope == NodeScope:
		return backend.ErrExclusiveScope
	case c.ReceiveLimit < 0:
		return fmt.Errorf("%w: receive limit of %d bytes", ErrConfig, c.ReceiveLimit)
	case c.DialTimeout < 0:
		return fmt.Errorf("%w: a time of %v to dial", ErrConfig, c.DialTimeout)
	case c.Backlog < 0:
		return fmt.Errorf("%w: a backlog of %d", ErrConfig, c.Backlog)
	}
	return nil
}
