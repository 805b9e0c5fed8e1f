// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"net/netip"
	"time"

	"github.com/utipc/utipc/frame"
)

// A Station is where a frame comes from or goes to. Two links between the same nodes
// differ by it.
type Station struct {
	MAC frame.MAC  // zero when the packet came over UDP
	IP  netip.Addr // zero when it came over Ethernet
}

// A Packet is one TIPC message as it was captured.
type Packet struct {
	Number   int           // counts the packets, from 1; the caller's, for Verdict.Repeats
	Time     time.Duration // since any beginning; may go back
	Len      int           // of the frame on the wire, in bytes
	Src, Dst Station
	Message  []byte // the message, opened if it was encrypted
	// Lost says that it is known not to have reached anybody, as when the sender's
	// device refused it.
	Lost bool
}

// A Class is what a packet is in its link's sequence.
type Class uint8

const (
	Unnumbered    Class = iota // not in a sequence
	New                        // for the first time, at the head of the sequence
	Late                       // for the first time, behind others
	Retransmitted              // its receiver had missed it
	Duplicate                  // once more, and nobody had missed it
)

// String returns the class in a word.
func (c Class) String() string {
	switch c {
	case New:
		return "new"
	case Late:
		return "late"
	case Retransmitted:
		return "retransmitted"
	case Duplicate:
		return "duplicate"
	}
	return "unnumbered"
}

// A Verdict is what a Tracker says on one packet. Its slices are valid until the next
// Add.
type Verdict struct {
	From, To frame.NodeAddr // To is 0 for all nodes, and when it is not known
	Link     *Link          // nil when it is of none, or of one beyond Limits
	Err      error          // of frame: what is not read as a message; the rest is zero then

	Class     Class
	Repeats   int  // Number of the packet that this one repeats; 0 is none that was seen
	Needless  bool // it is Retransmitted, and its receiver had said meanwhile that it has it
	Skipped   int  // numbers left out just before it
	Reported  int  // packets it reports as missing that were not reported since they were last sent
	Acked     int  // packets it acknowledges for the first time
	Reset     bool // it begins a new sequence
	Broadcast bool // it stands in the sender's broadcast sequence
	Within    bool // it stays within its node: a kernel mirrors such messages to the loopback device

	Users    []frame.User       // of the message and of those in it
	Sockets  []frame.SocketAddr // that the message, or those in it, is from or for
	Services []frame.Range      // that they are for, of, or about
}
