// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/utipc/utipc/frame"

// A contact is what a life has with another node.
type contact struct {
	ends  [maxNetworks]end // of the link in each network
	epoch *epoch           // nil while there is no contact
}

// An end is the own end of a link.
type end struct {
	cur      *session // of the link endpoint; nil before there is one
	failed   *session // the last that ended while the other link was up
	all      []*session
	next     frame.Seq // what the link expects, at the last look
	sent     int       // messages sent or waiting, at the last look
	deferred int       // packets that came early, at the last look
}

func (e *end) close() {
	if e.cur != nil {
		e.cur.ended = true
		e.cur = nil
	}
}

// An epoch is the time in which a node is in contact with another without a break,
// over whichever links. What is sent in it arrives, unless it ends.
type epoch struct {
	ended   bool
	crashed bool              // the own node's end ended it
	expect  []*hop            // accepted and not yet seen to leave, in that order
	linked  [maxNetworks]bool // a link came up in this network
}

// A session is what the simulation knows of one session of one link endpoint:
// what it sent, and what it was handed. Packets have places from 1 that do not
// wrap.
type session struct {
	owner *life
	peer  *node
	net   int
	num   frame.Seq
	up    bool   // it was up
	ended bool   // the endpoint was reset
	epoch *epoch // nil before it was up

	// As a sender.
	sent    []carried       // packets, place 1 first
	states  uint64          // STATE messages taken by the device
	ackSeen uint64          // place of the last packet whose acknowledgement came
	got     map[uint64]bool // places behind it that gap-ack blocks acknowledged
	joins   []byte          // of the message of which fragments leave
	synch   *synch          // that the first packet names, of a second link
	tunnel  *tunnel         // through which a failed link's packets leave

	// As a receiver.
	from     *session // whose packets it consumes
	consumed uint64   // place of the last
	seen     map[uint64]arrived
	whole    uint64 // packets 1 to whole were handed over
}

// A carried packet is one as it left first.
type carried struct {
	sum     uint32 // without acknowledgements
	payload []carriedPayload
	tunnel  bool       // it is in a tunnel, and no other tunnel takes it: an empty message has its number there
	synch   *synch     // a second link's first packet
	casts   int        // multicasts in it, and twins
	inner   *tunnelled // a failed link's packet, with the last piece of it
}

// A carriedPayload is one of the messages in a packet, or one of which the packet has
// the last fragment.
type carriedPayload struct {
	hop      *hop // nil after a violation
	destPort uint32
	named    bool
	dropable bool
	err      frame.ErrorCode
	reroute  uint8
	imp      frame.Importance
	size     int
}

// An arrived packet is what a receiver was handed first under a number.
type arrived struct {
	rec  *session
	sum  uint32
	gone bool // the engine did not keep it
}

// seq is the number of the packet in a place.
func (w *world) seq(place uint64) frame.Seq { return frame.Seq(place) + w.first - 1 }

// placeOf returns the place of number q, near place ref.
func (w *world) placeOf(q frame.Seq, ref uint64) uint64 {
	return uint64(int64(ref) + int64(int16(q-w.seq(ref))))
}

// hand notes a packet that the endpoint is handed while it is up, and reports whether
// it was not handed it before.
func (s *session) hand(p uint64, rec *session, sum uint32) (first bool) {
	if p <= s.consumed {
		return false
	}
	if s.seen == nil {
		s.seen = map[uint64]arrived{}
	}
	if a, ok := s.seen[p]; !ok || a.gone {
		s.seen[p], first = arrived{rec, sum, false}, true
	}
	for {
		if _, ok := s.seen[s.whole+1]; !ok {
			return first
		}
		s.whole++
	}
}

// acked notes what an acknowledgement says that came to the sender.
func (s *session) acked(p uint64) {
	for s.ackSeen < p {
		s.ackSeen++
		delete(s.got, s.ackSeen)
	}
}

// underway is how many packets before a place are not acknowledged.
func (s *session) underway(p uint64) uint64 { return p - 1 - s.ackSeen - uint64(len(s.got)) }
