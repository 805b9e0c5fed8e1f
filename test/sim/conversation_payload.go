// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"hash/crc32"
	"time"

	"github.com/utipc/utipc/frame"
)

const (
	maxReturnable = 1 << 14          // messages of one node that are kept
	returnTime    = 30 * time.Second // after which none comes back
)

// A sentMessage is enough of a message to know it again when it comes back.
type sentMessage struct {
	port uint32
	sum  uint32 // of the data that would come back
	conn bool
}

// returnable is what a node sent that may come back, the oldest forgotten first.
type returnable struct {
	at     map[sentMessage]time.Duration
	order  []sentMessage
	forgot time.Duration // when the last one that is not kept was sent
	lost   bool          // forgot counts
}

// sumBack is the sum of the data that comes back.
func sumBack(data []byte) uint32 {
	return crc32.Checksum(data[:min(len(data), frame.MaxReturned)], castagnoli)
}

func (r *returnable) keep(now time.Duration, m sentMessage) {
	if r.at == nil {
		r.at = map[sentMessage]time.Duration{}
	}
	if _, ok := r.at[m]; !ok {
		r.order = append(r.order, m)
	}
	r.at[m] = now
	if len(r.order) > maxReturnable {
		r.forgot, r.lost = max(r.forgot, r.at[r.order[0]]), true
		delete(r.at, r.order[0])
		r.order = r.order[1:]
	}
}

// payload holds a message of a socket's to the rules.
func (c *Conversation) payload(e *endpoint, p frame.Payload) {
	conn := p.Type() == frame.ConnMsg
	if p.Error() == frame.OK {
		// One that was looked up again comes back to the node that did.
		if s := c.station(e.from); !p.DestDroppable() {
			s.sent.keep(c.now, sentMessage{p.OrigPort(), sumBack(p.Data()), conn})
			if p.Syn() {
				// With "overload" nothing of its data comes back; from a connection that it
				// brought about, it does as one of its messages.
				s.sent.keep(c.now, sentMessage{p.OrigPort(), sumBack(nil), conn})
				s.sent.keep(c.now, sentMessage{p.OrigPort(), sumBack(p.Data()), true})
			}
		}
		return
	}
	if conn && len(p.Data()) == 0 {
		return // a connection that ends by itself
	}
	if isDummy(p) || p.Type() == frame.McastMsg && p.Syn() {
		return // it shows where a link ended, or is the twin of a multicast
	}
	to, ok := p.DestNode()
	if !ok {
		to = e.to
	}
	s := c.station(to)
	_, ok = s.sent.at[sentMessage{p.DestPort(), sumBack(p.Data()), conn}]
	old := s.sent.lost && c.now-s.sent.forgot < returnTime
	heard := c.end(e.reverse()).began
	if c.Slack > 0 && c.twins(e) {
		heard = false // what came back may stand in a tunnel, and in the failed link's own packets
	}
	c.addIf(!ok && !old && heard, "returned", "w1 28:25", "%v: port %d of %v sent no such message", p.Error(), p.DestPort(), to)
}
