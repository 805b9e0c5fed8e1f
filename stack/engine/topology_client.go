// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// A client is a connection to the topology service.
type client struct {
	t       *topology
	conn    topologyConn
	node    frame.NodeAddr
	serial  uint64 // older ones have smaller ones
	subs    map[record][]*remote
	n       int                   // subscriptions
	listing *remote               // of them the last, while it is told of what existed; or nil
	records flowctl.Queue[record] // that wait to be taken
	events  flowctl.Queue[notice] // that wait to be written
	news    int                   // of them, that are not of bindings which existed
	full    bool                  // the connection has no room
	dirty   bool
	end     bool // nothing more is taken, and what waits is not written
	gone    bool // the connection is over
}

// A record is a subscription as it was received.
type record [frame.SubscriptionLen]byte

// A remote is a subscription of a client.
type remote struct {
	watch
	c       *client
	record  record          // as it was received
	listing *naming.Listing // of the bindings that existed, while there are more
	overdue bool            // its time is over, and it is still told of those
}

// soil has serve look at the client.
func (c *client) soil() {
	if !c.dirty {
		c.dirty = true
		c.t.dirty.Push(c)
	}
}

// refuse ends a connection whose client broke a rule or a limit. What it was told
// before still goes out, if there is room; what it asked for and was not taken yet goes
// with it.
func (c *client) refuse() {
	c.t.e.count.SubscriptionsRefused++
	c.end = true
	c.records = flowctl.Queue[record]{}
	c.soil()
}

func (c *client) mayTake() bool { return !c.end && !c.gone && c.events.Len() < clientEvents }

// take carries out records, as long as the turn may do more and the client reads. Those behind a
// subscription wait until the client was told of all that existed.
func (c *client) take(now time.Duration) {
	for c.mayTake() && c.t.e.mayDo(3) {
		switch {
		case c.listing != nil:
			c.list()
		case c.records.Len() > 0:
			c.subscribe(now, c.records.Pop())
		default:
			return
		}
	}
}

// list tells the client some more of the bindings that existed.
func (c *client) list() {
	e, x := c.t.e, c.listing
	e.hearNow(&x.watch) // Reached is asked for what was before
	if c.end {
		return
	}
	e.did(WorkBindings, x.listing.Next(e.table, &x.Subscription, listingPart, func(b naming.Binding) { c.note(x.notice(frame.Published, b)) }))
	if x.listing.Done() && !c.end {
		c.listing, x.listing = nil, nil
		if x.overdue {
			x.timedOut()
		}
	}
}

// mayGoOn reports whether take has something to do.
func (c *client) mayGoOn() bool { return (c.listing != nil || c.records.Len() > 0) && c.mayTake() }

// subscribe carries out one record.
// Source: docs/spec/06-topology.md §2.2, §2.3.
func (c *client) subscribe(now time.Duration, rec record) {
	t, e := c.t, c.t.e
	s, _ := frame.ParseSubscription(rec[:], t.native)
	f := s.Fields()
	if f.Filter&frame.FilterCancel != 0 {
		f.Filter &^= frame.FilterCancel
		e.did(WorkSubscribers, 1)
		c.cancel(record(f.Append(nil)))
		return
	}
	x := &remote{c: c, record: rec}
	x.watch = watch{Subscription: naming.Subscription{Range: f.Range, Filter: f.Filter}, by: x, due: flowctl.Never}
	if !x.Legal() || c.n >= clientSubscriptions || !t.hasRoom(c.node) {
		c.refuse()
		return
	}
	e.takeChanges() // what was before is no news to it
	switch {
	case f.Filter&frame.FilterNoStatus != 0:
		e.did(WorkBindings, 1)
	case x.Few(e.table, listingPart):
		e.did(WorkBindings, 1+x.Existing(e.table, func(b naming.Binding) { c.note(x.notice(frame.Published, b)) }))
	default:
		c.listing, x.listing = x, &naming.Listing{}
	}
	if c.end { // these were too many
		return
	}
	if f.Timeout != frame.Forever {
		x.due = now + time.Duration(f.Timeout)*time.Millisecond
	}
	c.subs[rec] = append(c.subs[rec], x)
	c.n++
	t.counted(c.node, 1)
	e.watch(&x.watch)
}

// hasRoom reports whether a node may have one more subscription: one of another node has
// no more than are left for the others.
func (t *topology) hasRoom(a frame.NodeAddr) bool {
	left := naming.MaxSubscriptions - t.subs
	return left > 0 && (a == t.e.addr || t.of[a] < max(left, nodeSubscriptions))
}

// counted counts subscriptions of a node.
func (t *topology) counted(a frame.NodeAddr, n int) {
	t.subs += n
	if a == t.e.addr {
		return
	}
	if t.of[a] += n; t.of[a] == 0 {
		delete(t.of, a)
	}
}

// cancel ends the oldest subscription that was made by exactly this record.
func (c *client) cancel(rec record) {
	if x := c.subs[rec]; len(x) > 0 {
		c.drop(x[0])
	}
}

// drop ends a subscription.
func (c *client) drop(x *remote) {
	same := c.subs[x.record]
	for i := range same {
		if same[i] == x {
			same = append(same[:i], same[i+1:]...)
			break
		}
	}
	if c.subs[x.record] = same; len(same) == 0 {
		delete(c.subs, x.record)
	}
	if c.listing == x {
		c.listing = nil
	}
	c.n--
	c.t.counted(c.node, -1)
	c.t.e.unwatch(&x.watch)
}

// clear drops all that a client has and has asked for.
func (c *client) clear() {
	c.end = true
	c.t.waiting -= c.events.Len()
	c.news = 0
	c.events = flowctl.Queue[notice]{}
	c.records = flowctl.Queue[record]{}
	c.listing = nil
	for _, same := range c.subs {
		for _, x := range same {
			c.t.e.unwatch(&x.watch)
		}
	}
	c.t.counted(c.node, -c.n)
	c.n = 0
	clear(c.subs)
}
