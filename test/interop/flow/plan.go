// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"encoding/binary"
	"time"
)

// A Plan is what both ends know of a stream beforehand.
type Plan struct {
	Seed    uint32
	Longest int           // bytes of the longest message, at least 1
	Window  int           // bytes that may be under way, or one message; 0: 512 KiB
	Pace    time.Duration // between messages, at least

	// Timeout is how long a sender waits for credit before it takes what is under way for
	// lost, as it is when contact with the other node was lost; 0: a minute. A link may be
	// silent for its tolerance before another takes over.
	Timeout time.Duration
}

func (p *Plan) timeout() time.Duration {
	if p.Timeout == 0 {
		return time.Minute
	}
	return p.Timeout
}

// Size is how long a message is. A quarter of them each are tiny, within one
// frame of Ethernet, up to 9000 bytes, and of any length.
func (p Plan) Size(seq uint32) int {
	h := mix(uint64(p.Seed)<<32 | uint64(seq))
	most := [4]int{64, 1400, 9000, p.Longest}[h&3]
	return 1 + int(h>>2%uint64(min(most, p.Longest)))
}

// mix is the output function of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// How much may be under way; a sink gives credit after a quarter of that.
const (
	windowMessages = 256
	windowBytes    = 192 << 10
)

// Messages of the two ends about the stream. Their length, too short for a checked
// message of the pattern, and the first word tell them from the stream's own.
//
//	| 'F' 'L' 'O' 'W' | word | number |
const (
	noteLen        = 12
	noteMagic      = 0x464c4f57
	credit    word = 1 // number: the message the sink waits for
	end       word = 2 // number: of messages in the stream
	ended     word = 3 // number: as in end
)

type word uint32

func note(w word, number uint32) []byte {
	b := binary.BigEndian.AppendUint32(nil, noteMagic)
	b = binary.BigEndian.AppendUint32(b, uint32(w))
	return binary.BigEndian.AppendUint32(b, number)
}

func parseNote(b []byte) (w word, number uint32, ok bool) {
	if len(b) != noteLen || binary.BigEndian.Uint32(b) != noteMagic {
		return 0, 0, false
	}
	return word(binary.BigEndian.Uint32(b[4:])), binary.BigEndian.Uint32(b[8:]), true
}
