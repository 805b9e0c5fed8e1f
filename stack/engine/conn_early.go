// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"time"

	"github.com/utipc/utipc/frame"
)

// A kernel whose link is full may let the end of a connection join a packet that waits, and
// so overtake data of the connection that waits behind that packet. An end that has not joined
// another message overtakes nothing, as what waits is sent in order; nor does any within the
// node. Such an end is one at once. With one that has joined, the connection takes data until
// the link has delivered all that the peer had put there: until the peer says that nothing
// waits any more, or more packets have come than can have waited. If contact is lost before,
// that is the connection's end. What comes after the end all the same is kept for whoever
// still reads. Source: docs/spec/02-link.md §6.2, docs/spec/07-sockets.md §4.6.

// overtakes is the number of packets that may come behind one that the end has joined, and
// were sent before the end: more than a kernel's backlog holds at all importances.
// Source: docs/spec/02-link.md §6.1.
const overtakes = 4096

// An earlyEnd is an end that may have overtaken data.
type earlyEnd struct {
	code frame.ErrorCode
	back []byte // what came with it
	link *link
	from frame.Seq // the packet that the link expected next
	wait int       // looks until an answer that has not come is given up
}

// answerLooks is how many looks that is: a second.
const answerLooks = int(time.Second / owedPause)

// overtaken takes an end that came on l and has joined another message's packet.
func (c *Conn) overtaken(now time.Duration, l *link, code frame.ErrorCode, back []byte) {
	if c.state != Established {
		c.peerEnded(now, code, back)
		return
	}
	c.early = &earlyEnd{code: code, back: bytes.Clone(back[:min(len(back), frame.MaxReturned)]), link: l, from: l.Expected()}
	c.owed = 0
	c.flow.Shut() // a Write waits, and then learns of the end
	c.port.e.alarms.cancel(&c.again)
	c.askDrained(now)
}

// askDrained asks the peer's node whether something is still to come, and looks again after
// a while.
func (c *Conn) askDrained(now time.Duration) {
	e, x := c.port.e, c.early
	if l := c.node.route(c.port.number); l != x.link { // that one failed, and left what it had
		x.link, x.from = l, l.Expected()
	}
	if x.from.Distance(x.link.Expected()) >= overtakes {
		c.endEarly(now)
		return
	}
	e.alarms.set(&c.limit, now+owedPause)
	if x.wait--; x.wait > 0 && x.link.AsksDrained() {
		return
	}
	x.wait = answerLooks
	x.link.AskDrained(now)
	e.drain(x.link)
	e.arm(x.link)
}

// endEarly is the end that came early.
func (c *Conn) endEarly(now time.Duration) {
	x := c.early
	c.early = nil
	c.peerEnded(now, x.code, x.back)
}

// drained ends the connections whose end came early on a link that has delivered all that
// was sent before.
func (e *Engine) drained(now time.Duration, l *link) {
	var ended []*Conn
	for c := l.n.conns; c != nil; c = c.behind {
		if c.early != nil && c.early.link == l {
			ended = append(ended, c)
		}
	}
	for _, c := range ended {
		c.endEarly(now)
	}
}
