// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"

	"github.com/utipc/utipc/frame"
)

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=Drop -linecomment

// A Drop is a reason for which a received frame, or a message in it, goes no
// further. Each has a counter.
type Drop uint8

const (
	DropTruncated   Drop = iota // truncated
	DropMalformed               // malformed
	DropVersion                 // version
	DropEncrypted               // encrypted
	DropUser                    // unknown user or type
	DropForeign                 // not for this station or node
	DropNotTIPC                 // not TIPC
	DropNetID                   // other network
	DropStranger                // from a node not known
	DropSpoofed                 // source is not the station it claims
	DropNoAddress               // before the own address is settled
	DropSession                 // of another session
	DropNodeState               // while contact is being lost or made
	DropOrder                   // duplicate, early or late
	DropFragment                // fragments do not join
	DropNested                  // not allowed inside a bundle
	DropNoPort                  // nobody to take it, and not to be returned
	DropOverload                // receiver's queue full, and not to be returned
	DropNames                   // name items that break a rule
	DropLimit                   // a limit of this node
	DropUnsupported             // not built yet
	DropBearer                  // from a bearer whose interface is down
	DropFlapping                // of a link that came and went too often lately
	DropConn                    // not of the connection it names
	DropGroup                   // not of a member of the group, or more than it may send
	DropPeerLimit               // more than strangers, or one station, may ask for
	DropPlain                   // plain, though there are keys
	DropPlainKey                // a key that came plain
	DropKey                     // a key that is known, or not wanted
	DropNoKey                   // sealed with a key not known
	DropTag                     // sealed with another key, or changed
	DropReplay                  // sealed, and came before
	DropForged                  // from another node, as if a socket of this one had sent it
	dropKinds
)

// Drops counts messages dropped, by reason: Drops[DropTruncated] and so on.
type Drops [dropKinds]uint64

// String lists the reasons that occurred, with their counts.
func (d Drops) String() string {
	var s []string
	for i, n := range d {
		if n > 0 {
			s = append(s, fmt.Sprintf("%v=%d", Drop(i), n))
		}
	}
	return strings.Join(s, ", ")
}

func dropOf(err error) Drop {
	switch err {
	case frame.ErrTruncated:
		return DropTruncated
	case frame.ErrVersion:
		return DropVersion
	case frame.ErrEncrypted:
		return DropEncrypted
	case frame.ErrUnknown:
		return DropUser
	case frame.ErrNotTIPC:
		return DropNotTIPC
	}
	return DropMalformed
}

// Counters are what a node has done since it began.
type Counters struct {
	FramesIn, FramesOut uint64
	MessagesIn          uint64 // handed to ports of this node from others
	MessagesOut         uint64 // sent to other nodes
	MessagesLocal       uint64 // between ports of this node
	Handled             uint64 // of all that came, those that a Handler took
	Broadcasts          uint64 // multicast messages sent to other nodes on the broadcast link
	Replicasts          uint64 // and those sent to each of them by unicast
	Twins               uint64 // received, that tell of a change between the two
	BarrierBroken       uint64 // times that multicast messages went on without their twin
	Returned            uint64 // messages sent back to their sender
	OutDropped          uint64 // frames a stalled device left behind
	Connected           uint64 // connections made, by either end here
	OverAcks            uint64 // acknowledgements on connections of more than was sent
	ClosedUnsent        uint64 // bytes of connections that were lost after Close had been called, see Conn.Unsent

	SubscriptionsRefused uint64 // connections to the topology service that broke a rule or a limit
	SubscribersCut       uint64 // subscribers that left too many events unread

	// Messages from other nodes that waited for a name. Those that wait still are
	// Parked without the three behind it.
	Parked       uint64 // began to wait
	ParkReleased uint64 // went on when the name appeared
	ParkExpired  uint64 // rejected when it had not in time
	ParkLost     uint64 // dropped with the contact to their node
	ParkRefused  uint64 // rejected at once, for want of room to wait

	Drops Drops
}
