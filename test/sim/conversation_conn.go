// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/utipc/utipc/frame"

const (
	maxTalks     = 1 << 14 // ends of connections; with more, all are forgotten
	talkWindow   = 128     // blocks that may be sent before the first acknowledgement
	talkMessages = 512     // messages, where those are counted
	talkHeld     = 64 + 2  // blocks that a stream may hold back, which go beyond the window
)

// A talkEnd is a socket.
type talkEnd struct {
	node frame.NodeAddr
	port uint32
}

// A talkKey names what one end of a connection says to the other.
type talkKey struct{ from, to talkEnd }

func (k talkKey) reverse() talkKey { return talkKey{k.to, k.from} }

// A talk is what one end of a connection has said to the other.
type talk struct {
	known   bool // heard from the request on
	ended   bool
	sent    int // blocks, or messages
	acked   int // of what the other end sent
	window  int // the largest it has offered
	asks    int // messages that ask for an acknowledgement at once
	answers int // to such
}

// talks are the connections of a conversation.
type talks struct {
	of     map[talkKey]*talk
	asked  map[talkEnd]int // who asked for a connection, and what the data with it counts
	forgot bool            // some are not kept
}

// talk returns what is known of an end of a connection, and of the other one.
func (s *talks) talk(k talkKey) (own, other *talk) {
	for _, k := range []talkKey{k, k.reverse()} {
		if s.of[k] == nil {
			s.of[k] = &talk{}
		}
	}
	return s.of[k], s.of[k.reverse()]
}

// forget forgets what two nodes said: from here on something may not be heard.
func (s *talks) forget(a, b frame.NodeAddr) {
	for k := range s.of {
		if k.from.node == a && k.to.node == b || k.from.node == b && k.to.node == a {
			delete(s.of, k)
		}
	}
}

// bound keeps the memory of s within bounds.
func (s *talks) bound() {
	if s.of == nil || max(len(s.of), len(s.asked)) >= maxTalks {
		s.forgot = s.of != nil
		s.of, s.asked = map[talkKey]*talk{}, map[talkEnd]int{}
	}
}

// cost is what a message counts in the flow control of a connection of two nodes: of
// its size, header included, blocks of 1 KiB, or 1. Source: docs/spec/07-sockets.md §5.
func (c *Conversation) cost(a, b frame.NodeAddr, size int) int {
	if c.both(a, b, frame.CapBlockFlowctl) {
		return size/1024 + 1
	}
	return 1
}

// both reports whether both nodes have announced a capability.
func (c *Conversation) both(a, b frame.NodeAddr, f frame.Capabilities) bool {
	mine, _ := c.caps(a)
	theirs, _ := c.caps(b)
	return (mine & theirs).Has(f)
}

// hears reports whether connections of e's node can be followed: not where frames of two
// links may wait for devices side by side.
func (c *Conversation) hears(e *endpoint) bool {
	c.talking.bound()
	_, mine := c.caps(e.from)
	_, theirs := c.caps(e.to)
	return mine && theirs && (c.Slack == 0 || c.networks(e.from) <= 1)
}

// fromStart reports whether all that the two nodes of a link said since they have
// contact was heard.
func (c *Conversation) fromStart(e, r *endpoint) bool {
	return e.began && r.began && !e.stale && !r.stale && c.networks(e.from) <= 1 && !c.talking.forgot
}

// said holds a message of a connection to the rules, and notes who asks for one.
func (c *Conversation) said(e *endpoint, p frame.Payload) {
	if !c.hears(e) {
		return
	}
	f := p.Fields()
	if p.Syn() && p.Error() == frame.OK && p.Type() != frame.McastMsg {
		n := 0
		if len(p.Data()) > 0 {
			n = c.cost(f.OrigNode, e.to, len(p.Bytes())) // another node may have sent it on to this one
		}
		c.talking.asked[talkEnd{f.OrigNode, f.OrigPort}] = n
		return
	}
	if p.Type() != frame.ConnMsg || isDummy(p) {
		return
	}
	k := talkKey{talkEnd{e.from, f.OrigPort}, talkEnd{e.to, f.DestPort}}
	if p.Error() != frame.OK {
		c.closes(k, p.Error())
		return
	}
	own, other := c.talking.talk(k)
	if !own.known && own.sent+other.sent == 0 {
		c.begins(e, k, own, other, len(p.Data()))
	}
	c.addIf(own.ended, "conn-end", "w1 31:29", "port %d goes on after it has ended its connection to %d", k.from.port, k.to.port)
	if p.Fields().SrcDroppable {
		own.asks++
	}
	if len(p.Data()) == 0 {
		return
	}
	window := max(talkWindow, other.window)
	if !c.both(e.from, e.to, frame.CapBlockFlowctl) {
		window = talkMessages
	}
	if c.both(e.from, e.to, frame.CapNagle) {
		window += talkHeld
	}
	n := own.sent - other.acked
	c.addIf(own.known && n > window, "conn-unacked", "w0 16:0", "%d not acknowledged, window %d", n, window)
	own.sent += c.cost(e.from, e.to, len(p.Bytes()))
}

// begins takes the first message between two sockets: it is the answer to a request, and
// empty, but of old kernels where the request had data.
func (c *Conversation) begins(e *endpoint, k talkKey, own, other *talk, size int) {
	first, asked := c.talking.asked[k.to]
	if !asked {
		c.addIf(c.fromStart(e, c.end(e.reverse())), "conn-answer", "w5", "port %d of %v asked for no connection", k.to.port, k.to.node)
		return
	}
	own.known, other.known = true, true
	other.sent = first
	c.addIf(first == 0 && size > 0, "conn-answer", "w0 16:0", "a connection is accepted with %d bytes", size)
}

// manages holds a message of the connection manager to the rules.
func (c *Conversation) manages(e *endpoint, m frame.Conn) {
	if !c.hears(e) {
		return
	}
	f := m.Fields()
	k := talkKey{talkEnd{e.from, f.OrigPort}, talkEnd{e.to, f.DestPort}}
	if f.Error != frame.OK {
		c.closes(k, f.Error)
		return
	}
	own, other := c.talking.talk(k)
	c.addIf(own.ended, "conn-end", "w1 31:29", "port %d goes on after it has ended its connection to %d", k.from.port, k.to.port)
	if f.Type != frame.ConnAck || !own.known {
		return
	}
	own.acked += int(f.Acked)
	own.window = max(own.window, int(f.Window))
	c.addIf(own.acked > other.sent, "conn-ack", "w9 31:16", "%d acknowledged, %d sent", own.acked, other.sent)
	if f.NagleAck {
		own.answers++
	}
	c.addIf(own.answers > other.asks, "conn-asked", "w0 18", "answer %d, asked %d times", own.answers, other.asks)
}

// closes notes that a socket has ended its connection, or never had one: then it has
// returned what was sent to it. One that is full of messages may go on.
func (c *Conversation) closes(k talkKey, code frame.ErrorCode) {
	if code == frame.NoPort || code == frame.ConnShutdown {
		own, _ := c.talking.talk(k)
		own.ended = true
	}
}
