// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// A BlockedError is why a write ended at its deadline: the room, or the name, that it
// waited for. It unwraps to os.ErrDeadlineExceeded, or to what its context said.
type BlockedError struct {
	Name       net.Addr         // that nobody has bound; nil: there was no room
	Bound      int              // sockets that have Name, of
	Wanted     int              // so many that were waited for; 0: one was
	Peer       frame.SocketAddr // that has not read what a connection's Window allows; port 0: it is not that
	Blocks     bool             // its Unacked and Window are blocks of 1 KiB, else messages
	Group      uint32           // the group that Peer is a member of; 0: it is not that. Window is what it lets us send
	Need       int              // blocks that a message in a group takes of Window
	Acks       int              // members that have not acknowledged the broadcast before, Peer among them
	Behind     int              // messages that wait here for Peer
	Node       frame.NodeAddr   // whose link has no room, or who is the last to acknowledge broadcasts
	Bearer     string           // of that link; empty for the broadcast link
	Link       string           // its name; empty: it was the node's own memory
	Importance frame.Importance // of the message
	Waiting    int              // packets in the link's backlog
	Limit      int              // and how many may be, at this importance
	Unacked    int              // packets sent and not acknowledged, or what Peer has not read
	Window     int              // and how many may be
	Ahead      int              // writes that wait for the same and began before
	Daemon     bool             // of an attached node: the daemon has not taken it, and did not say why
	Unanswered bool             // of an attached node with SyncErrors: the daemon has the message, did not say what becomes of it, and may yet send it
	Away       string           // of an attached node: why there is no daemon, or no socket at it; empty: it is not that
	Blocked    time.Duration    // how long the write waited
	Cause      error            // nil: its deadline
}

func (e *BlockedError) Error() string {
	reason := e.Reason()
	if e.Unanswered {
		reason += "; it may yet be sent"
	}
	return fmt.Sprintf("blocked for %v: %s: %v", e.Blocked.Round(time.Microsecond), reason, e.Unwrap())
}

// Reason says what the write waits for, or waited.
func (e *BlockedError) Reason() string {
	switch {
	case e.Away != "":
		return "waits for the daemon: " + e.Away
	case e.Daemon:
		return "the daemon has no room for it"
	case e.Wanted > 0:
		return fmt.Sprintf("waits for name %v: %d of %d sockets are bound to it", e.Name, e.Bound, e.Wanted)
	case e.Name != nil:
		return fmt.Sprintf("waits for name %v", e.Name)
	case e.Group != 0:
		return e.member()
	case e.Peer.Port != 0:
		unit := "messages"
		if e.Blocks {
			unit = "KiB"
		}
		return fmt.Sprintf("%v does not read: %d %s sent to it and not read, window %d, %d writes ahead", e.Peer, e.Unacked, unit, e.Window, e.Ahead)
	case e.Link == "":
		return "all chunks of the node's memory in use"
	case e.Bearer == "":
		return fmt.Sprintf("%s, %v acknowledges last: %d of %d packets unacknowledged, %d wait, limit at importance %v is %d, %d writes ahead",
			e.Link, e.Node, e.Unacked, e.Window, e.Waiting, e.Importance, e.Limit, e.Ahead)
	}
	return fmt.Sprintf("link %s on %s to %v: %d of %d packets unacknowledged, %d wait, limit at importance %v is %d, %d writes ahead",
		e.Link, e.Bearer, e.Node, e.Unacked, e.Window, e.Waiting, e.Importance, e.Limit, e.Ahead)
}

// Unwrap returns os.ErrDeadlineExceeded, or what the context said.
func (e *BlockedError) Unwrap() error {
	if e.Cause != nil {
		return e.Cause
	}
	return os.ErrDeadlineExceeded
}

// Timeout reports whether it was a deadline that ended the write.
func (e *BlockedError) Timeout() bool { return e.Cause != context.Canceled }

// Temporary is as Timeout.
func (e *BlockedError) Temporary() bool { return e.Timeout() }

// member says what a write in a group waits for.
func (e *BlockedError) member() string {
	return (&engine.MemberBlocked{Group: e.Group, Member: e.Peer, Window: e.Window, Need: e.Need, Acks: e.Acks, Behind: e.Behind}).What()
}
