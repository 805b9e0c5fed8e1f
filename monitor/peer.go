// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"slices"

	"github.com/utipc/utipc/frame"
)

// A Peer is one member of the ring. There is one for each link, so it is small.
type Peer struct {
	addr    frame.NodeAddr
	applied uint8 // members of its record that are its successors in our ring, the first ones
	downs   uint8 // members that reported it lost, since it answered a probe last
	look    bool  // who covered it does so no more: it is probed until it answers
	up      bool
	head    bool
	local   bool // in our own domain
	cookie  cookie
	record  *record // the last one it sent; nil if none
}

// A cookie is what the session of a link needs to know of records.
type cookie struct {
	listGen, peerGen, ackedGen          frame.Seq
	monitoring, probing, reset, synched bool
}

// A record is a domain: of a peer as it said, or our own.
type record struct {
	gen     frame.Seq
	up      uint64 // bit i: member i is up
	told    uint64 // bit i: a report that member i is lost counts in its downs
	members []frame.NodeAddr
}

// Addr is the member's address.
func (p *Peer) Addr() frame.NodeAddr { return p.addr }

// count is the number of members; 0 for no record.
func (r *record) count() int {
	if r == nil {
		return 0
	}
	return len(r.members)
}

// take copies what a record on the wire says, into memory that is there if it is
// enough but not much more. Reports that count stay with the members that they are of.
func (r *record) take(d frame.Domain) {
	n := d.Len()
	if cap(r.members) < n || cap(r.members) > 2*n+8 {
		r.members = make([]frame.NodeAddr, n)
	}
	r.gen, r.up, r.members = d.Gen(), d.UpMap(), r.members[:n]
	for i := range r.members {
		r.members[i] = d.Member(i)
	}
}

// equal reports whether two domains have the same members in the same state.
func (r *record) equal(up uint64, members []frame.NodeAddr) bool {
	return r.up == up && slices.Equal(r.members, members)
}
