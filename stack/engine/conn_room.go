// SPDX-License-Identifier: Apache-2.0

package engine

// Limits of what a node keeps for connections whose queues are empty now.
const (
	leastRoom    = 4 << 10   // bytes of data of one
	maxRoom      = 256 << 10 // bytes of one
	maxSpareRoom = 4 << 20   // bytes of all
)

// A room is what the queue of a connection takes up. A connection has one while something
// waits to be read; so those that idle cost little, and those that do not need no memory
// of the runtime again and again.
type room struct {
	data    []byte
	records []Received
}

func (r *room) size() int { return len(r.data) + len(r.records)*recordCost }

// rooms are those that no connection has.
type rooms struct {
	spare []room
	bytes int // of them
}

// moveIn gives a connection a room, if it has none; where none is spare, a new one.
func (c *Conn) moveIn() {
	if c.housed {
		return
	}
	c.housed = true
	s := &c.port.e.conns.rooms
	n := len(s.spare)
	if n == 0 {
		c.port.data = ring{buf: make([]byte, leastRoom)}
		return
	}
	r := s.spare[n-1]
	s.spare[n-1] = room{}
	s.spare = s.spare[:n-1]
	s.bytes -= r.size()
	c.port.queue.Exchange(r.records)
	c.port.data = ring{buf: r.data}
}

// moveOut takes it back when nothing waits there. One that is large stays, unless idle
// says that it was not needed for long.
func (c *Conn) moveOut(idle bool) {
	p := &c.port
	if !c.housed || p.queue.Len() > 0 {
		return
	}
	r := room{p.data.buf, p.queue.Exchange(nil)}
	size := r.size()
	if size > maxRoom && !idle {
		p.queue.Exchange(r.records)
		return
	}
	p.data, c.housed = ring{}, false
	if s := &p.e.conns.rooms; size <= maxRoom && s.bytes+size <= maxSpareRoom {
		s.spare = append(s.spare, r)
		s.bytes += size
	}
}
