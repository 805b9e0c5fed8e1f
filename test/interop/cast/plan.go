// SPDX-License-Identifier: Apache-2.0

package cast

import "github.com/utipc/utipc/test/interop/pattern"

// A Range is the instances from Lower to Upper.
type Range struct{ Lower, Upper uint32 }

func (r Range) overlaps(o Range) bool { return r.Lower <= o.Upper && o.Lower <= r.Upper }

// A Plan is what all ends know of a round.
type Plan struct {
	Seed    uint32
	Type    uint32 // service type of all ranges
	Senders int    // at most MaxSenders
	Count   int    // messages of each
	Batch   int    // every so many messages one is a mark
	Longest int    // bytes of the longest message
	// Lanes are the ranges that each sender chooses from, beside All for marks.
	Lanes [][]Range
	// Receivers are the bindings of each; a socket that is bound several times
	// gets each message once.
	Receivers [][]Range
	// Await lists the receivers that confirm marks; nil: all.
	Await []int
}

const (
	// MaxSenders is how many senders a number can tell apart.
	MaxSenders = 1 << (32 - numberBits)
	numberBits = 26
	// marksAhead is how many marks may be unconfirmed.
	marksAhead = 2
)

// All is the range that marks are sent to.
var All = Range{0, 1<<32 - 1}

// mark reports whether receivers confirm a message of that number.
func (p *Plan) mark(i int) bool { return i%p.Batch == p.Batch-1 || i == p.Count-1 }

// chance is a number drawn for a message.
func (p *Plan) chance(sender, i int) uint64 {
	return mix(uint64(p.Seed)<<32 | uint64(number(sender, i)))
}

// To is the range that a message is sent to.
func (p *Plan) To(sender, i int) Range {
	if p.mark(i) {
		return All
	}
	lanes := p.Lanes[sender]
	return lanes[p.chance(sender, i)>>40%uint64(len(lanes))]
}

// Size is how long a message is: of 256 it is mostly tiny or fits into one frame of
// Ethernet, some seven have up to 9000 bytes, and one in 512 is of any length.
func (p *Plan) Size(sender, i int) int {
	h := p.chance(sender, i)
	most := 64
	switch d := h & 511; {
	case d == 0:
		most = p.Longest
	case d < 16:
		most = 9000
	case d < 160:
		most = 1400
	}
	most = max(min(most, p.Longest), pattern.HeaderLen)
	return pattern.HeaderLen + int(h>>9%uint64(most-pattern.HeaderLen+1))
}

// Meant reports whether a receiver must get a message.
func (p *Plan) Meant(receiver, sender, i int) bool {
	to := p.To(sender, i)
	for _, r := range p.Receivers[receiver] {
		if r.overlaps(to) {
			return true
		}
	}
	return false
}

// awaited reports whether a receiver confirms marks.
func (p *Plan) awaited(receiver int) bool {
	if p.Await == nil {
		return true
	}
	for _, r := range p.Await {
		if r == receiver {
			return true
		}
	}
	return false
}

// number is what a message carries to say whose it is and which.
func number(sender, i int) uint32 { return uint32(sender)<<numberBits | uint32(i) }

func split(n uint32) (sender, i int) { return int(n >> numberBits), int(n & (1<<numberBits - 1)) }

// mix is the output function of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
