// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"net"

	"github.com/utipc/utipc/stack/engine"
)

// A GroupKind says what was read from a group.
type GroupKind = engine.GroupKind

// What can be read from a group. Events tell of members; the last two come whatever
// GroupConfig.Events says, to those who chose that policy.
const (
	GroupData      = engine.GroupData      // a message
	MemberJoined   = engine.MemberJoined   // the member is there, and is heard
	MemberLeft     = engine.MemberLeft     // it has left, or contact with its node is lost; nothing of it comes any more
	MemberEvicted  = engine.MemberEvicted  // by Lag: it is sent to no more
	MemberDropping = engine.MemberDropping // by DropOldest: messages for it are dropped, until it has read what waits
)

// A GroupMessage tells what is known of a message, or which member an event is of.
type GroupMessage struct {
	Kind       GroupKind
	From       SocketAddr // the member
	Member     Service    // the group's type, and the member's instance
	Private    bool       // to this socket alone, else to all or to an instance. An instance that one member has counts as alone
	Importance Importance
	Truncated  bool // the message was longer than the space given

	addr net.Addr // From, as an interface that is made once for messages in a row
}

// ReadFrom waits for a message and copies it into b; what does not fit is lost. It passes
// over events. Errors, inside *net.OpError: net.ErrClosed, os.ErrDeadlineExceeded.
func (g *Group) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		k, m, err := g.b.Read(filled(b))
		if err != nil {
			return 0, nil, opError("read", g.b.Network(), g.b.Addr(), nil, err)
		}
		if m.Kind == GroupData {
			return k, m.addr, nil
		}
	}
}

// ReadMsg is ReadFrom with everything that is known of the message, and with events, which
// have no data.
func (g *Group) ReadMsg(b []byte) (int, GroupMessage, error) {
	k, m, err := g.b.Read(filled(b))
	if err != nil {
		return 0, GroupMessage{}, opError("read", g.b.Network(), g.b.Addr(), nil, err)
	}
	return k, m, nil
}
