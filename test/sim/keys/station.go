// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"fmt"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack/engine"
)

// A station is a place in the cluster, with a node while one lives there.
type station struct {
	idx   int
	addr  frame.NodeAddr
	alien bool // a stranger, whose own frames nobody checks
	eng   *engine.Engine
	life  uint32                    // of the node: each start has its own; 0: dead
	keyed bool                      // it was given a key
	due   bool                      // it is to have one
	own   *known                    // its own or the cluster's
	told  *known                    // its own, as others know it
	peers map[frame.NodeAddr]uint32 // nodes there is contact with, and their lives then
	talk

	slots [4]*known // what it last sealed with, for the next look
}

const (
	firstAddr   = 0x1001001
	serviceType = 18888
	allType     = 18889
	mtu         = 1500
)

func (s *station) mac(bearer int) frame.MAC {
	return frame.MAC{2, 0, 0, byte(bearer), 0, byte(s.idx + 1)}
}

// chance is the engine's, but that what it draws for keys is known to the simulation.
type chance struct {
	engine.Chance
	c *cluster
}

// Material draws a key, of which a copy is kept.
func (h chance) Material(b []byte) {
	h.Chance.Material(b)
	if len(b) > 0 {
		h.c.learn(frame.NodeKey, b)
	}
}

// Nonce is where the numbers of a key begin.
func (h chance) Nonce() uint64 {
	n := h.Chance.Nonce()
	if h.c.Mutation == SameStart {
		n = 1
	}
	return n
}

// start makes a node.
func (c *cluster) start(s *station) {
	c.lives++
	c.tracef("%v starts", s.addr)
	e, err := engine.New(engine.Config{
		Address: s.addr, Arena: c.arena, Chance: chance{engine.NewSeeded(c.Seed, uint64(1000+c.lives)), c},
		Sealed: true, Migration: c.migrate, Rekey: c.rekey,
	})
	if err != nil {
		panic(err)
	}
	s.eng, s.life, s.keyed, s.slots = e, uint32(c.lives), false, [4]*known{}
	s.peers = map[frame.NodeAddr]uint32{}
	s.talk.reset(c)
	if s.due {
		c.giveAll(s)
	}
	for b := range c.bearers {
		if _, err := e.AddBearer(c.now, engine.BearerConfig{Name: fmt.Sprint("eth", b), MAC: s.mac(b), MTU: mtu}); err != nil {
			panic(err)
		}
	}
	c.bind(s)
	c.after(s)
}

// crash ends a node without a word.
func (c *cluster) crash(s *station) {
	c.report.Crashes++
	c.tracef("%v crashes", s.addr)
	s.eng, s.life = nil, 0
}

// revive starts a node that crashed.
func (c *cluster) revive(s *station) {
	if s.life == 0 {
		c.start(s)
	}
}

// give gives a node a key. It reports false while the key before is being taken up.
func (c *cluster) give(s *station, k engine.Key) bool {
	err := s.eng.SetKey(c.now, k)
	switch err {
	case nil:
		s.keyed = s.keyed || k.Node == (frame.Identity{})
	case seal.ErrBusy:
		c.report.Busy++
	default:
		c.violate("node %v refuses a key: %v", s.addr, err)
	}
	c.tracef("%v is given a key, master %v, of node %v: %v", s.addr, k.Master, k.Node, err)
	c.after(s)
	return err == nil
}

// giveAll gives a node all keys that it is to have.
func (c *cluster) giveAll(s *station) {
	s.due = true
	if c.master != nil && !s.alien {
		c.give(s, engine.Key{Key: c.master.Key, Master: true})
	}
	if s.own != nil {
		c.give(s, engine.Key{Key: s.own.Key})
	}
	if c.Kind != NodeKeys || s.alien {
		return
	}
	for _, o := range c.stations {
		if o != s && !o.alien {
			c.give(s, engine.Key{Key: o.told.Key, Node: frame.AddrIdentity(o.addr)})
		}
	}
}

// after takes what a node has to send and to tell.
func (c *cluster) after(s *station) {
	e := s.eng
	if s.port == nil {
		return // it is not on the network yet
	}
	for b := range c.bearers {
		for f := e.NextFrame(b); f != nil; f = e.NextFrame(b) {
			c.send(s, b, f.Bytes())
			f.Release()
		}
	}
	for ev, ok := e.NextEvent(); ok; ev, ok = e.NextEvent() {
		c.heed(s, ev)
	}
	c.names = e.TakeNameEvents(c.names[:0])
	c.ready = e.TakeReady(c.ready[:0])
	if len(c.ready) > 0 {
		c.read(s)
	}
}

// heed looks at what a node tells.
func (c *cluster) heed(s *station, ev engine.Event) {
	o := c.byAddr[ev.Node]
	if c.Trace != nil {
		c.tracef("%v: %v %v %v %v", s.addr, ev.Kind, ev.Node, ev.Link, ev.Cause)
	}
	switch ev.Kind {
	case engine.PeerUp:
		if s.alien || o == nil || o.alien {
			c.violate("contact of %v with %v, a stranger", s.addr, ev.Node)
			return
		}
		if s.keyed != o.keyed && c.Kind != First {
			c.violate("contact of %v with %v, of which one has a key", s.addr, ev.Node)
		}
		s.peers[ev.Node] = o.life
		s.meet(o.idx)
	case engine.LinkDown, engine.PeerLost:
		if o == nil {
			return
		}
		if life := s.peers[ev.Node]; life != 0 && life == o.life {
			c.violate("node %v: %v with %v, which lives: %v", s.addr, ev.Kind, ev.Node, ev.Cause)
		}
		if ev.Kind == engine.PeerLost {
			delete(s.peers, ev.Node)
		}
	case engine.KeyInUse:
		c.report.Switched++
	case engine.KeyTaken:
		c.report.Taken++
	}
}

// pass is how long to let time go by between two looks.
const pass = 20 * time.Millisecond
