// SPDX-License-Identifier: Apache-2.0

package flowctl

import "math"

// Windows of connections. Source: docs/spec/07-sockets.md §5.1, §5.2.
const (
	blockSize     = 1024 // bytes
	firstWindow   = 128  // blocks, both ways, until the first acknowledgement
	messageWindow = 512  // messages, both ways and always
	leastWindow   = 65   // blocks, what a message of the greatest length needs
	ackShare      = 4    // a quarter of the window read is acknowledged
	memoryShare   = 4    // kernels count memory up to four times the data
)

// A Connection is the flow control of one end of a connection: how much this end may
// send, and when it tells the other end that it has read.
//
//	Sent ──► unacked ≤ window: Open        peer's data, read by the user: Read ──► due
//	HandleAck ──► unacked less, window new                             Credit ◄──────┘
//
// It counts blocks of 1 KiB, the message's header included; or, when one of the nodes
// cannot do that, messages. Both ends must count alike, else they drift apart and the
// connection stalls. The zero value is of no use.
// Source: docs/spec/07-sockets.md §5.
type Connection struct {
	blocks  bool
	unacked int // sent, not acknowledged
	window  int // how much that may be
	read    int // read by the user, not acknowledged
	granted int // the window that the peer goes by
	offer   int // the window that every acknowledgement tells
}

// NewConnection begins a connection that counts blocks, or messages. Of blocks the
// peer is offered a quarter of limit, the bytes that may wait to be read.
func NewConnection(blocks bool, limit int) Connection {
	if !blocks {
		return Connection{window: messageWindow, granted: messageWindow}
	}
	return Connection{blocks: true, window: firstWindow, granted: firstWindow, offer: offered(limit)}
}

// offered is the window that a limit allows, in blocks.
func offered(limit int) int {
	return min(max(limit/blockSize/memoryShare, leastWindow), math.MaxUint16)
}

// SetLimit makes later acknowledgements offer a quarter of limit, as of NewConnection.
func (c *Connection) SetLimit(limit int) {
	if c.blocks {
		c.offer = offered(limit)
	}
}

// Offer makes later acknowledgements offer the least window and, up to the quarter of
// limit, what spare bytes more allow. It returns the bytes that it takes of these: 0 where
// the ends count messages, for the window is what it is then.
func (c *Connection) Offer(limit, spare int) (taken int) {
	if !c.blocks {
		return 0
	}
	c.offer = min(offered(limit), leastWindow+max(0, spare/blockSize))
	return (c.offer - leastWindow) * blockSize
}

// cost is what a message of size bytes counts, its header included.
func (c *Connection) cost(size int) int {
	if !c.blocks {
		return 1
	}
	return size/blockSize + 1
}

// CountsBlocks reports whether the ends count blocks, not messages.
func (c *Connection) CountsBlocks() bool { return c.blocks }

// Open reports whether a message may be sent, of any length: one may overshoot the
// window.
func (c *Connection) Open() bool { return c.unacked <= c.window }

// Shut makes Open report false from now on.
func (c *Connection) Shut() { c.unacked, c.window = 0, -1 }

// Unacked is how much was sent and not acknowledged, in blocks or messages.
func (c *Connection) Unacked() int { return c.unacked }

// Window is how much that may be before the sender has to wait.
func (c *Connection) Window() int { return c.window }

// Sent counts a message of size bytes that was sent, its header included.
func (c *Connection) Sent(size int) { c.unacked += c.cost(size) }

// HandleAck takes an acknowledgement of the peer. It reports false when the peer has
// acknowledged more than was sent: then nothing of it counts, the window neither. A
// window of 0, after which nothing would ever move, counts as 1.
func (c *Connection) HandleAck(acked, window uint16) bool {
	if int(acked) > c.unacked {
		return false
	}
	c.unacked -= int(acked)
	if c.blocks {
		c.window = max(1, int(window))
	}
	return true
}

// Read counts a message of size bytes that the user has read, its header included, and
// reports whether an acknowledgement is due.
func (c *Connection) Read(size int) (due bool) {
	c.read += c.cost(size)
	return c.read >= c.granted/ackShare
}

// Near reports whether an acknowledgement is due once so many blocks, or messages, more
// are read.
func (c *Connection) Near(more int) bool { return c.read+more >= c.granted/ackShare }

// Credit is what an acknowledgement says that is sent now; it counts as told.
func (c *Connection) Credit() (acked, window uint16) {
	n := min(c.read, math.MaxUint16)
	c.read -= n
	if c.blocks {
		c.granted = c.offer
	}
	return uint16(n), uint16(c.offer)
}

// Uncredited takes back a Credit that could not be sent.
func (c *Connection) Uncredited(acked uint16) { c.read += int(acked) }
