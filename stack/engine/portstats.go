// SPDX-License-Identifier: Apache-2.0

package engine

import "time"

// PortStats are what a socket has done since it was made. Messages without data are
// sent, and never seen by a receiver.
type PortStats struct {
	MessagesIn, BytesIn   uint64 // put into its queue, own ones that came back and events of a group among them
	MessagesOut, BytesOut uint64 // sent: requests for connections too; a multicast once
	SendErrors            uint64 // messages of a socket without connections that could not be sent: nobody has the name, no such member, a deadline
	CameBack              uint64 // of its messages, rejected where they went
	Returned              uint64 // messages of others sent back: no room for them, or unread at the end
	Dropped               uint64 // messages of others there was no room for, and not to be sent back
	Truncated             uint64 // read into too little space
	Blocked               uint64 // calls to send that waited
	BlockedFor            time.Duration
	Queued, MostQueued    int // messages that wait to be read, now and at most
	Bytes, MostBytes      int // that these count against the receive limit, 64 more than the data of each
}

// Stats returns a snapshot.
func (p *Port) Stats() PortStats {
	s := p.stats
	s.Queued, s.Bytes = p.queue.Len(), p.queued
	return s
}

// Stats is as of Port.
func (c *Conn) Stats() PortStats { return c.port.Stats() }

// Stats is as of Port; Queued is as of Pending.
func (l *Listener) Stats() PortStats {
	s := l.port.stats
	s.Queued, s.Bytes = l.Pending(), l.bytes
	return s
}

// Stats is as of Port.
func (g *Group) Stats() PortStats { return g.port.Stats() }

// Waited counts a call to send by the socket with a number that waited.
func (e *Engine) Waited(number uint32, d time.Duration) {
	if p := e.ports[number]; p != nil {
		p.stats.Blocked++
		p.stats.BlockedFor += d
	}
}

// SendFailed counts a message that the socket with a number could not send.
func (e *Engine) SendFailed(number uint32) {
	if p := e.ports[number]; p != nil {
		p.stats.SendErrors++
	}
}

// sent counts a message to a node, which may be the own one.
func (p *Port) sent(n *node, size int) {
	p.stats.MessagesOut++
	p.stats.BytesOut += uint64(size)
	n.traffic.sent(size)
}

// queuedOne counts a message that was put into the queue.
func (s *PortStats) queuedOne(size, messages, bytes int) {
	s.MessagesIn++
	s.BytesIn += uint64(size)
	s.MostQueued, s.MostBytes = max(s.MostQueued, messages), max(s.MostBytes, bytes)
}

// noRoom counts a message that the queue had no room for.
func (s *PortStats) noRoom(returnable bool) {
	if returnable {
		s.Returned++
	} else {
		s.Dropped++
	}
}
