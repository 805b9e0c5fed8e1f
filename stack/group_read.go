// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"net"

	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
)

// A GroupKind says what was read from a group.
type GroupKind = engine.GroupKind

// What can be read from a group. Events tell of members; the last two come whatever
// GroupConfig.Events says, to those who chose that policy.
const (
	GroupData      = engine.GroupData      // a message
	MemberJoined   = engine.MemberJoined   // the member is there, and is heard
	MemberLeft     = engine.MemberLeft     // it has left, has evicted this socket (Message.Evicts), or contact with its node is lost; nothing of it comes any more
	MemberEvicted  = engine.MemberEvicted  // by Lag: it is sent to no more; Message.Behind and Idle say why
	MemberDropping = engine.MemberDropping // by DropOldest: messages for it are dropped, until it has read what waits
)

// ReadFrom waits for a message and copies it into b; what does not fit is lost. It passes
// over events. Errors, inside *net.OpError: net.ErrClosed, os.ErrDeadlineExceeded.
func (g *Group) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		k, m, err := g.b.Read(filled(b))
		if err != nil {
			return 0, nil, backend.OpError("read", g.b.Network(), g.b.Addr(), nil, err)
		}
		if m.Kind == GroupData {
			return k, m.Addr, nil
		}
	}
}

// ReadMsg is ReadFrom with everything that is known of the message, and with events, which
// have no data.
func (g *Group) ReadMsg(b []byte) (int, Message, error) {
	k, m, err := g.b.Read(filled(b))
	if err != nil {
		return 0, Message{}, backend.OpError("read", g.b.Network(), g.b.Addr(), nil, err)
	}
	return k, m.Message(), nil
}
