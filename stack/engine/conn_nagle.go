// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// Limits of streams whose messages are collected.
const (
	localPacket = 1500 // bytes of a packet within the node
	maxSpare    = 32   // stores that a node keeps for later
)

// A store has the bytes that a connection holds.
type store struct {
	data []byte
	from int // the oldest
}

// stores are those that no connection uses now.
type stores struct{ spare []*store }

func (s *stores) get() *store {
	n := len(s.spare)
	if n == 0 {
		return &store{}
	}
	x := s.spare[n-1]
	s.spare = s.spare[:n-1]
	return x
}

func (s *stores) put(x *store) {
	x.data, x.from = x.data[:0], 0
	if len(s.spare) < maxSpare {
		s.spare = append(s.spare, x)
	}
}

// beginNagle decides whether the messages of a connection are collected: of a stream,
// where both nodes can. Source: docs/spec/07-sockets.md §5.3.
func (c *Conn) beginNagle(n *node) {
	both := n.caps & c.port.e.cfg.Capabilities
	c.collects = c.Stream && both.Has(frame.CapNagle)
	c.nagle = flowctl.NewNagle(c.collects && !c.NoDelay)
}

// SetNoDelay says whether every message of a stream goes at once; then what is held goes
// too. It changes nothing where messages are not collected.
func (c *Conn) SetNoDelay(now time.Duration, on bool) {
	c.NoDelay = on
	if c.collects && c.state == Established {
		c.nagle.SetNoDelay(on)
		c.pay(now, c.owed) // the end of what is written may come behind it
	}
}

// Held is the number of bytes that Write has taken and that wait: for the peer's answer
// to what was sent before, or for the window or the link.
func (c *Conn) Held() int { return c.nagle.Held() }

// collect is Write where messages may be collected, or are held.
func (c *Conn) collect(now time.Duration, b []byte, m *Lent) error {
	limit, size := c.packetLimit(), sizeOf(b, m)
	alone := c.nagle.Alone(size, limit) || c.port.Account.beyond(size) != nil
	if alone {
		c.nagle.Flush()
	}
	if err := c.sendDue(now); err != nil {
		return err
	}
	if !c.flow.Open() {
		return c.windowFull()
	}
	before, ask := c.nagle, false
	if alone {
		c.nagle.Count()
	} else if v := c.nagle.Hold(size, limit); v == flowctl.NagleAsk && c.nagle.Packets() == 1 {
		c.nagle.Sent() // it has no company
		ask = true
	} else {
		if m != nil {
			b = c.port.e.joined(m)
		}
		c.keep(b)
		c.flush(now)
		return nil
	}
	err := c.write(now, b, m, ask)
	if err != nil {
		c.nagle = before
	}
	return err
}

// keep puts data behind what is held.
func (c *Conn) keep(b []byte) {
	if c.store == nil {
		c.store = c.port.e.conns.stores.get()
	}
	c.store.data = append(c.store.data, b...)
	c.port.recount()
}

// forgetHeld gives back the store of what is held no more.
func (c *Conn) forgetHeld() {
	c.nagle.Drop()
	if c.store != nil {
		c.port.e.conns.stores.put(c.store)
		c.store = nil
	}
	c.port.recount()
}

// packetLimit is the size of the packets in which messages are collected.
func (c *Conn) packetLimit() int {
	if c.node == c.port.e.self {
		return localPacket
	}
	return c.node.route(c.port.number).PacketLimit()
}

// sendDue sends what is held and due. Where that cannot be done now the rest stays due,
// and the error is that of a Write.
func (c *Conn) sendDue(now time.Duration) error {
	for {
		n, ask, ok := c.nagle.Next()
		if !ok {
			return nil
		}
		if !c.flow.Open() {
			return c.windowFull()
		}
		was, s := c.nagle, c.store
		c.nagle.Sent() // before it goes: within the node the peer may answer in the call
		s.from += n
		err := c.write(now, s.data[s.from-n:s.from], nil, ask)
		switch {
		case c.store != s: // the connection has ended, or the answer sent the rest
			if c.state == Established {
				return nil
			}
			return c.Err()
		case err != nil:
			c.nagle = was
			s.from -= n
			return err
		case c.nagle.Held() == 0:
			c.forgetHeld()
		}
		c.port.recount()
	}
}

// flush sends what is due on the connection's own account. When the link or the node's
// memory has no room it waits for that in line; for the window it needs no line.
func (c *Conn) flush(now time.Duration) {
	e := c.port.e
	var err error
	if c.nagle.Due() {
		was, stuck := e.queues.as, c.stuck
		e.SendAs(&c.ticket)
		err = c.sendDue(now)
		e.SendAs(was)
		c.stuck = stuck
	}
	switch {
	case connFull(err) && !errors.Is(err, ErrWindow):
		if !c.again.isSet() {
			e.alarms.set(&c.again, now+owedPause)
		}
	default:
		c.leaveLine(now)
	}
}

// drain sends what is still held, before the connection's end. It reports false when some
// of it has to wait.
func (c *Conn) drain(now time.Duration) bool {
	c.nagle.Flush()
	c.flush(now)
	return c.nagle.Held() == 0
}

// lingers reports whether a connection is closed, and its peer has not been sent all that
// was written.
func (c *Conn) lingers() bool { return c.state == ConnClosed && c.nagle.Held() > 0 }

// handleLate takes a message for a connection that lingers: its owner reads no more. Data is
// acknowledged all the same: the peer may be closed, too, and hold something until there is room.
func (c *Conn) handleLate(now time.Duration, n *node, f *frame.PayloadFields, data []byte) {
	e := c.port.e
	switch {
	case f.Error != frame.OK:
		e.arrived(n)
		c.peerEnded(now, f.Error, nil)
	case f.Type == frame.ConnMsg:
		e.drop(DropNoPort)
		if c.back == nil {
			c.keepReturned(data)
		}
		due := len(data) > 0 && c.flow.Read(frame.ShortLen+len(data))
		if due || f.SrcDroppable {
			c.acknowledge(now, f.SrcDroppable)
		}
	default:
		e.giveBack(now, n, f, data, frame.NoPort)
	}
}

// ackUnread acknowledges what nobody has read of a connection that lingers, see handleLate, and keeps the
// beginning of the first message for the end.
func (c *Conn) ackUnread(now time.Duration) {
	p, due := &c.port, false
	if c.taken > 0 {
		due = c.flow.Read(frame.ShortLen + p.queue.At(0).Len)
		c.skipPart()
	}
	var data [frame.MaxReturned]byte
	for {
		k, r, ok := p.Read(data[:])
		if !ok {
			break
		}
		if c.back == nil {
			c.keepBack(data[:k])
		}
		due = c.flow.Read(frame.ShortLen+r.Len) || due
	}
	c.moveOut(true)
	if due {
		c.acknowledge(now, false)
	}
}

// unsentHeld is how many messages the connections to a node have still to send: those
// held, and the end of those that are closed.
func (n *node) unsentHeld() (sum int) {
	for c := n.conns; c != nil; c = c.behind {
		sum += c.nagle.Packets()
		if c.state == ConnClosed {
			sum++
		}
	}
	return sum
}
