// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"hash/crc32"

	"github.com/utipc/utipc/frame"
)

// maxPublished is the number of bindings a node may have.
const maxPublished = 1 << 16

// keptUpdates is of how many updates the sums are kept: more than are told again.
const keptUpdates = 1024

// An audienceKey is a publisher and one who hears it.
type audienceKey struct{ from, to frame.NodeAddr }

// An audience is what one node was told of another's names.
type audience struct {
	known bool      // the bulk is over
	next  frame.Seq // number of the next update
}

func (c *Conversation) contact(from, to frame.NodeAddr) *audience {
	k := audienceKey{from, to}
	t := c.contacts[k]
	if t == nil {
		t = &audience{}
		c.contacts[k] = t
	}
	return t
}

// names holds a message of the name distributor to the rules.
func (c *Conversation) names(e *endpoint, n frame.Names) {
	s := c.station(e.from)
	if n.Bulk() {
		c.addIf(e.bulkDone, "last-bulk", "w1 28:27", "more of a bulk that ended")
		if n.LastBulk() {
			e.bulkDone = true
			t := c.contact(e.from, e.to)
			if next := n.UpdateSeq(); !t.known || t.next.Before(next) {
				t.known, t.next = true, next
			}
		}
	} else if n.NonLegacy() {
		c.update(e, n)
	}
	c.published(s, n)
}

// update holds an update's number and way to the rules.
func (c *Conversation) update(e *endpoint, n frame.Names) {
	q := n.UpdateSeq()
	s, sum := c.station(e.from), crc32.Checksum(n.Data(), castagnoli)
	if n.Withdrawal() {
		sum ^= 1
	}
	if was, ok := s.updates[q]; ok {
		c.addIf(was != sum, "update-repeat", "w4 15:0", "update %d is not what it was", q)
	}
	if e.to != 0 {
		t := c.contact(e.from, e.to)
		if c.Slack > 0 && c.twins(e) {
			t.known = false // updates may wait for the device of the other link
		}
		// What was told before may be told again by the other way, and what is told first
		// by this one may leave out what goes by the other.
		caps, ok := c.caps(e.to)
		c.addIf(t.known && q.After(t.next) && !(ok && caps.Has(frame.CapNamedBcast)), "update-seq", "w4 15:0", "%d, want %d", q, t.next)
		s.update(q, sum)
		t.heard(q)
		return
	}
	// Those who are no longer there wait for numbers of their time.
	due, heard := false, false
	var want frame.Seq
	for k, t := range c.contacts {
		if k.from != e.from || !t.known {
			continue
		}
		due, heard, want = due || q.AtMost(t.next), true, max(want, t.next)
		t.heard(q)
	}
	s.update(q, sum)
	late := c.Owed || c.Slack > 0 && c.networks(e.from) > 1 // those before wait in another network
	c.addIf(heard && !due && !late, "update-seq", "w4 15:0", "%d, want %d", q, want)
	for _, o := range c.ends {
		if caps, ok := c.caps(o.to); ok && o.from == e.from && o.up && !o.stale && !caps.Has(frame.CapNamedBcast) {
			c.add("update-way", "w0 20", "a broadcast though a peer does not take it")
			return
		}
	}
}

// published keeps what a node published, and holds withdrawals to it.
// Where frames wait for devices, the one in another network may have gone first.
func (c *Conversation) published(s *station, n frame.Names) {
	late := c.Slack > 0 && c.networks(s.addr) > 1
	if s.published == nil || len(s.published) >= maxPublished {
		s.bulk = s.published == nil && s.bulk
		s.published = map[frame.NameItem]bool{}
	}
	for it := range n.Items() {
		if !n.Withdrawal() {
			s.published[it] = true
			continue
		}
		c.addIf(s.bulk && !s.published[it] && !late, "withdrawal", "+40", "%v of port %d, key %d, was not published", it.Range, it.Port, it.Key)
	}
	s.bulk = s.bulk || n.LastBulk()
}

// update keeps the sum of an update's items.
func (s *station) update(q frame.Seq, sum uint32) {
	if s.updates == nil {
		s.updates = map[frame.Seq]uint32{}
	}
	s.updates[q] = sum
	delete(s.updates, q-keptUpdates)
}

// heard notes that an audience was told an update.
func (t *audience) heard(q frame.Seq) {
	if q == t.next {
		t.next++
	}
}
