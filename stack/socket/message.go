// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"net"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// A Message is a message that was read, or is to be written in a batch, and what is known of it.
type Message struct {
	// Data is, for a Handler, the message, in the node's own memory. In a batch it is what is
	// sent, or the room for what is read. Other calls leave it nil.
	Data []byte
	N    int      // in a batch: the bytes of Data that were sent or filled in
	To   net.Addr // in WriteBatch: the destination; nil: the default one

	From       frame.SocketAddr // the sender; of a message that came back, the socket it was for
	Name       frame.Range      // the name it was sent to, if Named
	Named      bool
	Importance frame.Importance
	Truncated  bool            // the message was longer than the space given
	Error      frame.ErrorCode // not frame.OK: an own message that came back, with its first 1024 bytes
	Receipt    uint64          // for PacketConn.Ack; 0: of a socket without ManualAck, or the sender does not want it back

	// In a group: From is a member.
	Kind    engine.GroupKind // a message, or an event, which has no data
	Member  frame.Service    // the group's type, and the member's instance
	Evicts  bool             // of MemberLeft: that member has evicted this one, which did not read; kernels do not say so
	Behind  int              // of MemberEvicted and MemberDropping: messages that waited for the member,
	Idle    time.Duration    // and how long it had given this one no more room
	Private bool             // to this socket alone, else to all or to an instance. An instance that one member has counts as alone
}
