// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/utipc/utipc/frame"

// A session is what the simulation knows of one session of one link endpoint:
// what it sent, and what it was handed. Packets have places from 1 that do not
// wrap.
type session struct {
	owner *life
	peer  *node
	num   frame.Seq
	up    bool // it was up
	ended bool

	// As a sender.
	sent    []carried // packets, place 1 first
	states  uint64    // STATE messages taken by the device
	expect  []*hop    // accepted and not yet seen to leave, in that order
	ackSeen uint64    // place of the last packet whose acknowledgement came

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
}

// A carriedPayload is one of the messages in a packet.
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
	rec *session
	sum uint32
}

// place returns the place of number q, near place ref.
func placeOf(q frame.Seq, ref uint64) uint64 {
	return uint64(int64(ref) + int64(int16(q-frame.Seq(ref))))
}

// hand notes a packet that the endpoint is handed while it is up.
func (s *session) hand(q frame.Seq, rec *session, sum uint32) {
	p := placeOf(q, s.consumed+1)
	if p <= s.consumed {
		return
	}
	if s.seen == nil {
		s.seen = map[uint64]arrived{}
	}
	if _, ok := s.seen[p]; !ok {
		s.seen[p] = arrived{rec, sum}
	}
	for {
		if _, ok := s.seen[s.whole+1]; !ok {
			return
		}
		s.whole++
	}
}
