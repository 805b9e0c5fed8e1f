// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack/engine"
)

// A cluster is a running simulation.
type cluster struct {
	Config
	shape
	now, began time.Duration
	r          *rand.Rand
	arena      *netdev.Arena // of all nodes: what they send and receive lies there for moments
	stations   []*station    // strangers too
	members    []*station
	byAddr     map[frame.NodeAddr]*station
	air        air
	serial     uint64
	lives      int
	quiet      bool // the network is at peace
	known      []*known
	given      int // keys there were when the nodes had their first
	master     *known
	todo       []errand
	echoes     []echo
	names      []naming.Event
	ready      []*engine.Port
	scratch    []byte
	msg        []byte
	into       [70000]byte
	report     Report
}

// An errand is something that the operator does at a time. It reports false when it is to
// be tried again.
type errand struct {
	at time.Duration
	do func() bool
}

func newCluster(c Config) *cluster {
	x := &cluster{Config: c, r: rand.New(rand.NewPCG(c.Seed, 99)), byAddr: map[frame.NodeAddr]*station{}}
	x.shape = c.shape(x.r)
	x.mutate()
	x.arena = netdev.NewArena(netdev.ArenaConfig{Small: 8192, Reserve: 64})
	for i := range x.nodes {
		s := &station{idx: i, addr: frame.NodeAddr(firstAddr + i)}
		x.stations = append(x.stations, s)
		x.byAddr[s.addr] = s
	}
	x.members = x.stations[:x.nodes:x.nodes]
	x.addStranger()
	return x
}

// mutate makes the shape one in which the mutation can be found.
func (c *cluster) mutate() {
	if c.Mutation != None && c.Mutation != SameStart {
		c.crashes, c.lastWithout = false, false
	}
	switch c.Mutation {
	case Insider:
		c.stranger = wrong
	case SendMaster, Deaf:
		c.Kind, c.rekey = Master, 15*time.Second
	}
}

// later has the operator do something within a time from now.
func (c *cluster) later(within time.Duration, do func() bool) {
	c.todo = append(c.todo, errand{c.now + time.Duration(c.r.Int64N(int64(within))), do})
}

// errands does what is due.
func (c *cluster) errands() {
	left := c.todo
	c.todo = nil
	for _, e := range left {
		if e.at > c.now {
			c.todo = append(c.todo, e)
		} else if !e.do() {
			c.todo = append(c.todo, errand{c.now + time.Second, e.do})
		}
	}
}

// until lets time pass until a condition holds, which is asked now and then, or it has
// gone on for too long.
func (c *cluster) until(limit time.Duration, each func(), is func() bool) bool {
	for end := c.now + limit; c.now < end; {
		c.run(c.now + pass)
		c.errands()
		if each != nil {
			each()
		}
		if is != nil && is() {
			return true
		}
	}
	return false
}

// run lets time pass until end.
func (c *cluster) run(end time.Duration) {
	for {
		var s *station
		at := c.air.first()
		for _, o := range c.stations {
			if o.eng != nil {
				if d := o.eng.Deadline(); d < at {
					at, s = d, o
				}
			}
		}
		if at > end {
			c.now = end
			return
		}
		c.now = max(c.now, at)
		if s == nil {
			c.arrive()
			continue
		}
		s.eng.HandleTimeout(c.now)
		c.after(s)
	}
}

// inContact reports whether every member that lives has contact with every other: of those
// that were given keys, if others were not.
func (c *cluster) inContact() bool {
	for _, s := range c.members {
		for _, o := range c.members {
			if s != o && s.life != 0 && o.life != 0 && s.due == o.due && s.peers[o.addr] != o.life {
				return false
			}
		}
	}
	return true
}

// sealing reports whether a node has a key beside the master key.
func (s *station) sealing() bool {
	slots := s.eng.Encryption().Slots
	return slots[1].Bits+slots[2].Bits+slots[3].Bits > 0
}

// pending reports whether a node has a key that others have not all taken up, or is dead.
func (s *station) pending() bool {
	if s.life == 0 {
		return true
	}
	for _, k := range s.eng.Encryption().Slots {
		if k.State == seal.Pending {
			return true
		}
	}
	return false
}

// unsettled says which key is not where it is to be, if any is.
func (c *cluster) unsettled() string {
	for _, s := range c.members {
		x := s.eng.Encryption()
		active := uint8(0)
		for i, k := range x.Slots {
			switch k.State {
			case seal.Pending:
				return fmt.Sprintf("a key of %v is pending in slot %d, with %d users", s.addr, i, k.Users)
			case seal.Active:
				active = uint8(i)
			}
		}
		for _, p := range x.Peers {
			o := c.byAddr[p.Node]
			switch {
			case o == nil || o.alien:
			case p.Reported != active:
				return fmt.Sprintf("%v uses slot %d of %v, which has its key in %d", p.Node, p.Reported, s.addr, active)
			case p.NoKey && o.sealing():
				return fmt.Sprintf("%v cannot open what %v sends", s.addr, p.Node)
			}
		}
	}
	return ""
}

func (c *cluster) tracef(format string, args ...any) {
	if c.Trace != nil {
		fmt.Fprintf(c.Trace, "%v "+format+"\n", append([]any{c.now.Round(time.Millisecond)}, args...)...)
	}
}

const maxFindings = 20

func (c *cluster) violate(format string, args ...any) {
	if c.report.Violations++; len(c.report.Findings) < maxFindings {
		c.report.Findings = append(c.report.Findings, fmt.Sprintf("seed %d, %v: ", c.Seed, c.now.Round(time.Millisecond))+fmt.Sprintf(format, args...))
	}
}
