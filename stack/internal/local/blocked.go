// SPDX-License-Identifier: Apache-2.0

package local

import (
	"time"

	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/socket"
)

// blockedError tells of a write that met err and has waited so long.
func blockedError(err error, waited time.Duration) *socket.BlockedError {
	e := &socket.BlockedError{Blocked: waited}
	switch b := err.(type) {
	case *engine.WindowFull:
		e.Node, e.Peer, e.Blocks, e.Unacked, e.Window = b.Peer.Node, b.Peer, b.Blocks, b.Unacked, b.Window
	case *engine.MemberBlocked:
		e.Node, e.Peer, e.Blocks, e.Group = b.Member.Node, b.Member, true, b.Group
		e.Window, e.Need, e.Acks, e.Behind = b.Window, b.Need, b.Acks, b.Behind
	case *engine.Blocked:
		e.Node, e.Bearer, e.Link, e.Importance = b.Node, b.Bearer, b.Link, b.Importance
		e.Unacked, e.Window, e.Waiting, e.Limit, e.Ahead = b.Unacked, b.Window, b.Backlog, b.Limit, b.Ahead
	}
	return e
}
