// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

const (
	bootLimit = 30 * time.Second // to make contact
	healLimit = 90 * time.Second // to have everything in place, once all is at peace
	keysEnd   = 10 * time.Second // before peace, nobody changes keys any more
	ackLimit  = 2 * time.Second  // to have all acknowledged that was sent, which takes some 0.4 s at peace
)

// Run simulates. It never fails: what is wrong is counted in the report.
func (c Config) Run() Report {
	x := newCluster(c)
	x.report.Config, x.report.Setup, x.report.Kind = c, x.shape.String(), x.Kind
	x.boot()
	x.began = x.now
	x.bustle()
	x.heal()
	for _, k := range x.known {
		if len(k.used) > 0 {
			x.report.KeysUsed++
		}
	}
	x.report.Simulated = x.now
	return x.report
}

// boot makes keys and nodes, and lets them meet.
func (c *cluster) boot() {
	if c.Kind.master() {
		c.master = c.newKey(frame.ClusterKey)
	}
	c.firstKeys()
	for i, s := range c.stations {
		s.due = c.Kind != First && !s.alien && !(c.lastWithout && i == c.nodes-1)
	}
	for _, s := range c.stations {
		c.start(s)
		if s.alien {
			c.arm(s)
		}
		c.run(c.now + time.Duration(c.r.IntN(300))*time.Millisecond)
	}
	c.given = len(c.known)
	if !c.until(bootLimit, nil, c.inContact) {
		c.violate("no contact of all %v after the start", bootLimit)
	}
}

// firstKeys makes the keys that are no master key.
func (c *cluster) firstKeys() {
	var all *known
	if c.Kind == ClusterKey || c.Kind == Both || c.Kind == First {
		all = c.newKey(frame.ClusterKey)
	}
	for _, s := range c.members {
		if s.own = all; c.Kind == NodeKeys {
			s.own = c.newKey(frame.NodeKey)
		}
		s.told = s.own
	}
}

// bustle lets nodes talk while the operator works.
func (c *cluster) bustle() {
	end := c.began + c.busy
	if c.Kind == First { // all within the tolerance of links, so that none is lost
		for _, s := range c.members {
			c.later(600*time.Millisecond, func() bool { c.giveAll(s); return true })
		}
	}
	if c.Mutation == Forget {
		c.later(30*time.Second, func() bool {
			c.members[0].eng.FlushKeys(c.now)
			c.after(c.members[0])
			return true
		})
	}
	if c.Mutation == SendMaster {
		c.later(5*time.Second, func() bool { return c.give(c.members[0], engine.Key{Key: c.master.Key}) })
	}
	next := c.now + time.Second
	c.until(c.busy, func() {
		for _, s := range c.members {
			if s.life != 0 {
				c.chat(s)
			}
		}
		if c.stranger == repeater {
			c.meddle()
		}
		if c.now >= next && c.now < end-keysEnd {
			next = c.now + 500*time.Millisecond + time.Duration(c.r.Int64N(int64(8*time.Second)))
			c.event()
		}
	}, nil)
}

// event is something that happens.
func (c *cluster) event() {
	s := c.members[c.r.IntN(c.nodes)]
	switch n := c.r.IntN(10); {
	case n < 3 && c.crashes && s.life != 0 && !(c.Kind == Both && len(c.todo) > 0):
		c.crash(s)
		c.later(5*time.Second, func() bool { c.revive(s); return true })
	case n < 6:
		c.change(s)
	case s.life != 0 && (c.Kind.master() || !c.crashes && !c.lastWithout):
		// Without a master key, who starts after this cannot be told of the new keys.
		if s.eng.Rekey(c.now) == nil {
			c.report.Rekeys++
			c.tracef("%v makes a key", s.addr)
		}
		c.after(s)
	}
}

// change has the operator give out another key: the cluster's within some seconds to each
// node, or a node's own.
func (c *cluster) change(s *station) {
	switch {
	case len(c.todo) > 0:
		return // the last is not done
	case c.Kind == Both && !c.inContact():
		return // see the package's comment
	}
	switch c.Kind {
	case ClusterKey, Both, First:
		k := c.newKey(frame.ClusterKey)
		c.report.Changes++
		for _, s := range c.members {
			c.later(3*time.Second, func() bool { return c.replace(s, k) })
		}
	case NodeKeys:
		if s.pending() {
			return
		}
		k := c.newKey(frame.NodeKey)
		c.report.Changes++
		s.told = k
		for _, o := range c.members {
			if o != s && o.life != 0 && o.due {
				c.give(o, engine.Key{Key: k.Key, Node: frame.AddrIdentity(s.addr)})
			}
		}
		c.later(time.Second, func() bool { return c.replace(s, k) })
	}
}

// replace gives a node another own key.
func (c *cluster) replace(s *station, k *known) bool {
	switch {
	case s.life == 0 || !s.due: // it will start with it
	case !c.give(s, engine.Key{Key: k.Key}):
		return false
	}
	s.own = k
	return true
}

// heal lets the network be at peace, and looks whether all is well then.
func (c *cluster) heal() {
	c.quiet = true
	for _, s := range c.members {
		c.revive(s)
		if !s.due {
			c.giveAll(s)
		}
		s.eng.SetRekeying(c.now, 0)
	}
	looks := 0
	if !c.until(healLimit, nil, func() bool {
		looks++
		return looks%10 == 0 && len(c.todo) == 0 && c.inContact() && c.missing() == "" && c.unsettled() == ""
	}) {
		switch {
		case len(c.todo) > 0:
			c.violate("%d of the operator's errands are not done: a key is busy for ever", len(c.todo))
		case !c.inContact():
			c.violate("no contact of all, %v after peace", healLimit)
		default:
			c.violate("%v after peace: %s %s", healLimit, c.missing(), c.unsettled())
		}
	}
	if n := c.kept(); n != 0 && !c.crashes {
		c.violate("%d chunks are in use in the end", n)
	}
}

// kept is how many chunks nodes do not give back. What was sent just before is no such: a node
// keeps it until the other acknowledges it, and keys are handed out on request at any time.
func (c *cluster) kept() int {
	used := func() int { return c.arena.Total() - c.arena.Free() }
	if used() > 0 {
		c.until(ackLimit, nil, func() bool { return used() == 0 })
	}
	return used()
}
