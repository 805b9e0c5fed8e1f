// SPDX-License-Identifier: Apache-2.0

package udp

import "golang.org/x/sys/unix"

// Bounds of one call of sendmmsg.
const (
	callMessages = 64
	callFrames   = 64
	runFrames    = 64    // datagrams of a run: what any kernel takes
	runBytes     = 65487 // of a run: what a datagram over IPv6 takes
)

// An outbox is what sendmmsg is given: messages, each a run of datagrams to one
// station, each datagram in the chunk it came in.
//
//	messages  | run of 3 to A | run of 1 to B | run of 2 to A |
//	vectors   | x | x | x     | x             | x | x         |
type outbox struct {
	messages [callMessages]message
	runs     [callMessages]run
	vectors  [callFrames]unix.Iovec
	n        int // messages
	frames   int // vectors
}

// A run is datagrams that are one message, all of one size; the last may be
// shorter.
type run struct {
	to      *station
	first   int // its first vector
	frames  int
	size    int // bytes of the first
	bytes   int // of all
	closed  bool
	control segmentSize
}

func (o *outbox) clear() { o.n, o.frames = 0, 0 }

// begin adds a run of one datagram.
func (o *outbox) begin(s *station, data []byte) {
	r, m := &o.runs[o.n], &o.messages[o.n]
	r.to, r.first, r.frames, r.size, r.bytes, r.closed = s, o.frames, 1, len(data), len(data), len(data) == 0
	vector(&o.vectors[o.frames], data)
	o.n++
	o.frames++
	m.name(&s.to, s.to.size())
	m.vectors(o.vectors[r.first:o.frames])
	m.control(nil)
}

// extend adds one more datagram for the station of the last: to its run, if the
// kernel can cut runs of datagrams of so many bytes, longest being its limit.
func (o *outbox) extend(data []byte, longest int) {
	r, m := &o.runs[o.n-1], &o.messages[o.n-1]
	if r.closed || r.size > longest || len(data) > r.size || len(data) == 0 ||
		r.frames == runFrames || r.bytes+len(data) > runBytes {
		o.begin(r.to, data)
		return
	}
	vector(&o.vectors[o.frames], data)
	o.frames++
	r.frames++
	r.bytes += len(data)
	r.closed = len(data) < r.size
	m.vectors(o.vectors[r.first:o.frames])
	if r.frames == 2 {
		m.control(r.control.put(r.size))
	}
}

// forget lets go of the chunks: their memory may not be ours for ever.
func (o *outbox) forget() {
	clear(o.vectors[:o.frames])
	o.clear()
}
