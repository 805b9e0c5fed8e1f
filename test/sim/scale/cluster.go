// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/monitor"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

// A cluster is a running simulation.
type cluster struct {
	Config
	now      time.Duration
	r        *rand.Rand
	arena    *netdev.Arena // of all nodes: what they send and receive lies there for moments
	stations []*station
	byAddr   map[frame.NodeAddr]*station
	due      agenda
	air      segment
	lives    int // engines made so far
	living   int
	started  time.Duration // when the last node was, at the beginning
	contacts int           // of all living nodes
	lost     []loss        // reported since the last kill
	names    []naming.Event
	report   Report
}

// A loss is a report of a node that is lost.
type loss struct {
	by, of *station
	at     time.Duration
}

const (
	serviceType = 18888
	firstAddr   = 0x1001001
)

func newCluster(c Config) *cluster {
	c = c.withDefaults()
	x := &cluster{
		Config: c, r: rand.New(rand.NewPCG(c.Seed, 77)), byAddr: map[frame.NodeAddr]*station{},
		arena: netdev.NewArena(netdev.ArenaConfig{Small: max(8192, 160*c.Nodes), Reserve: 64}),
	}
	for i, k := range x.r.Perm(c.Nodes) { // neighbours on the ring do not start one after another
		s := &station{idx: i, addr: frame.NodeAddr(firstAddr + k), mac: frame.MAC{2, 0, 0, 0, byte(i >> 8), byte(i)}, place: -1}
		x.stations = append(x.stations, s)
		x.byAddr[s.addr] = s
	}
	return x
}

// start makes a node and gives it its name.
func (c *cluster) start(s *station) {
	c.lives++
	e, err := engine.New(c.engineConfig(s))
	if err != nil {
		panic(err)
	}
	s.eng, s.peers, s.diedAt = e, 0, 0
	c.living++
	if _, err := e.AddBearer(c.now, engine.BearerConfig{Name: "eth0", MAC: s.mac, MTU: mtu}); err != nil {
		panic(err)
	}
	p := e.OpenPort(engine.PortConfig{})
	if err := p.Bind(c.now, frame.Range{Type: serviceType, Lower: uint32(s.addr), Upper: uint32(s.addr)}, frame.ClusterScope); err != nil {
		panic(err)
	}
	c.after(s)
}

func (c *cluster) engineConfig(s *station) engine.Config {
	threshold := 0 // the default
	if c.NoMonitor {
		threshold = monitor.MaxThreshold
	}
	return engine.Config{
		Address: s.addr, Arena: c.arena, Chance: engine.NewSeeded(c.Seed, uint64(1000+c.lives)), Tolerance: c.Tolerance,
		MonitorThreshold: threshold,
	}
}

// kill ends a node without a word.
func (c *cluster) kill(s *station) {
	s.eng, s.diedAt = nil, c.now
	c.due.move(s, flowctl.Never)
	c.living--
	c.contacts -= s.peers
}

// run lets time pass until end, or until stop says so, which is asked after each
// step; nil is never. It reports whether stop did.
func (c *cluster) run(end time.Duration, stop func() bool) bool {
	for {
		at := min(c.due.first(), c.air.first())
		if at > end {
			c.now = end
			return false
		}
		c.now = at
		if c.air.first() <= at {
			c.arrive()
		} else {
			s := c.due.top()
			c.report.Ticks++
			s.eng.HandleTimeout(c.now)
			c.after(s)
		}
		if stop != nil && stop() {
			return true
		}
	}
}

// after takes what a node has to send and to tell.
func (c *cluster) after(s *station) {
	for b := s.eng.NextFrame(0); b != nil; b = s.eng.NextFrame(0) {
		c.send(s, b.Bytes())
		b.Release()
	}
	for ev, ok := s.eng.NextEvent(); ok; ev, ok = s.eng.NextEvent() {
		switch ev.Kind {
		case engine.PeerUp:
			s.peers++
			c.contacts++
		case engine.PeerLost:
			s.peers--
			c.contacts--
			c.lostPeer(s, c.byAddr[ev.Node], ev.Cause)
		}
	}
	c.names = s.eng.TakeNameEvents(c.names[:0])
	c.due.move(s, s.eng.Deadline())
}

// lostPeer notes a report of a lost node.
func (c *cluster) lostPeer(by, of *station, why flowctl.Cause) {
	c.lost = append(c.lost, loss{by, of, c.now})
	if of.eng != nil && !c.apart(by, of) {
		c.violate("at %v node %v reports %v lost, which lives: %v", c.now, by.addr, of.addr, why)
	}
}

// apart reports whether the segment lets two stations not hear each other.
func (c *cluster) apart(a, b *station) bool { return c.air.split && a.idx%2 != b.idx%2 }

// inContact reports whether every living node has contact with every other, and no dead one.
func (c *cluster) inContact() bool {
	if c.contacts != c.living*(c.living-1) {
		return false
	}
	for _, s := range c.stations {
		if s.eng != nil && s.peers != c.living-1 {
			return false
		}
	}
	return true
}

const maxViolations = 20

func (c *cluster) violate(format string, args ...any) {
	if c.report.Violations++; len(c.report.Findings) < maxViolations {
		c.report.Findings = append(c.report.Findings, fmt.Sprintf("%d nodes, seed %d: ", c.Nodes, c.Seed)+fmt.Sprintf(format, args...))
	}
}

// checkTables compares every table with what is bound.
func (c *cluster) checkTables(when string) {
	var live []frame.NodeAddr
	for _, s := range c.stations {
		if s.eng != nil {
			live = append(live, s.addr)
		}
	}
	slices.SortFunc(live, func(a, b frame.NodeAddr) int { return cmp.Compare(a, b) })
	var has []frame.NodeAddr
	for _, s := range c.stations {
		if s.eng == nil {
			continue
		}
		has = has[:0]
		for b := range s.eng.Overlapping(frame.Range{Type: serviceType, Lower: 0, Upper: 1<<32 - 1}) {
			has = append(has, b.Socket.Node)
		}
		slices.Sort(has)
		if !slices.Equal(has, live) {
			c.violate("%s: node %v knows names of %d nodes, not of the %d that live", when, s.addr, len(has), len(live))
		}
	}
}
