// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"time"

	"github.com/utipc/utipc/frame"
)

// A Cluster is any number of nodes that bind names and withdraw them, multicast to
// them, crash, come back and lose each other. Only what a program sees is checked, and
// what every frame must be: see its checks in cluster_table.go and cluster_cast.go.
// Zero fields mean the defaults.
type Cluster struct {
	Seed     uint64
	Nodes    int  // 0: 3 to 8, by the seed; at most 250
	Networks int  // 1 to 3; 0: by the seed, two in one of three
	Bindings int  // of each node when it starts; 0: 1 to 20, by the seed
	Rounds   int  // of faults and changes, each with a rest behind it; 0: two
	Quiet    bool // no faults and no changes: the nodes start, and that is all
	// Connections has sockets connect to each other, and end that, besides. See
	// cluster_call.go.
	Connections bool
	// Suspend has nodes be suspended instead of all other faults and changes. See
	// cluster_suspend.go.
	Suspend bool
	// Outage has networks fail, of which there must be three, at the end of each round's trouble.
	// See cluster_outage.go.
	Outage bool
	// Exclusive has sockets take names for themselves, besides. See cluster_exclusive.go.
	Exclusive bool
	Mutation  Mutation  // a deliberate mistake, to see the checks find it
	Trace     io.Writer // one line a frame and event; nil: none
}

const (
	clusterNodes = 250              // most nodes
	clusterTalk  = 16               // nodes of which a Conversation holds all frames
	clusterBoot  = 30 * time.Second // longest time for a cluster to boot
	clusterRest  = 90 * time.Second // longest time to get well
	barrierTime  = 6 * time.Second  // after which no message is held back any more
)

// A cluster is a running Cluster.
type cluster struct {
	Cluster
	clock   clock
	work    *rand.Rand
	faults  [clusterNets]NetworkFaults
	nets    []*fabric
	members []*member
	lives   int
	round   int    // of faults and changes
	busy    bool   // while they last
	failed  int    // networks that carry nothing
	split   int    // changes of the partitions so far
	met     uint64 // frames that the nodes sent while they met, of Suspend
	storm   uint64 // and after how many there is a storm; 0: none is looked for
	casts   []*cast
	nextID  uint32
	talk    *Conversation // all that is sent; nil in large clusters
	callWorld
	refuser

	occasions int // for the mutation
	marked    marked
	report    ClusterReport
	buf       [frame.MaxMessage]byte
}

// Run simulates. It never fails: what is wrong is among the report's Violations.
func (c Cluster) Run() ClusterReport {
	x := newCluster(c)
	x.boot()
	for x.round = 1; x.round <= x.Rounds && !x.stop(); x.round++ {
		if x.Suspend {
			x.suspend()
		} else {
			x.trouble()
		}
		if x.Outage && !x.stop() {
			x.outage()
		}
		x.rest()
	}
	if !x.stop() {
		x.shutdown()
	}
	x.report.Simulated = x.clock.now
	return x.report
}

func newCluster(cfg Cluster) *cluster {
	c := &cluster{Cluster: cfg}
	c.work = c.rand(1)
	drawn := [...]int{3 + c.work.IntN(6), 1 + c.work.IntN(3)/2, 1 + c.work.IntN(20)}
	for i, p := range []*int{&c.Nodes, &c.Networks, &c.Bindings} {
		if *p == 0 {
			*p = drawn[i]
		}
	}
	if c.Connections && cfg.Nodes == 0 {
		c.Nodes = 2 + c.Nodes%4
	}
	c.Nodes, c.Networks = min(max(c.Nodes, 2), clusterNodes), min(max(c.Networks, 1), clusterNets)
	switch {
	case c.Quiet:
		c.Rounds = 0
	case c.Rounds == 0:
		c.Rounds = 2
	}
	if !c.Quiet && !c.Suspend {
		c.drawRefuser()
	}
	if c.Nodes <= clusterTalk {
		c.talk = NewConversation(frame.DefaultNetID)
		c.talk.Owed, c.talk.TakesBack = c.refusal > 0, true
		if c.frames > 0 {
			c.talk.Slack = c.jam
		}
	}
	mixed := c.work.IntN(3)
	for i := range c.Nodes {
		m := &member{c: c, idx: i, addr: frame.NodeAddr(0x1001001 + i), identity: frame.AddrIdentity(frame.NodeAddr(0x1001001 + i))}
		m.tolerance = 1500 * time.Millisecond
		m.mtu = [clusterNets]int{1500, 1500, 1500}
		if mixed == 0 {
			m.tolerance = time.Duration(200+c.work.IntN(3000)) * time.Millisecond
		}
		c.members = append(c.members, m)
	}
	if c.Connections {
		c.drawCalls()
	}
	for i := range c.Networks {
		s := &fabric{
			clock: &c.clock, r: c.rand(10 + uint64(i)), f: &c.faults[i], maxDelay: time.Microsecond, lost: &c.report.FramesLost,
			deliver: func(to int, p *packet) { c.members[to].arrived(i, p) },
		}
		s.connect(c.Nodes)
		c.nets = append(c.nets, s)
	}
	c.report.Seed = c.Seed
	c.report.Setup = fmt.Sprintf("%d nodes, %d networks, %d bindings each, mixed tolerance %v", c.Nodes, c.Networks, c.Bindings, mixed == 0)
	return c
}

func (c *cluster) rand(n uint64) *rand.Rand { return rand.New(rand.NewPCG(c.Seed, 5000+n)) }

func (c *cluster) stop() bool { return len(c.report.Violations) >= maxViolations }

// run lets time pass.
func (c *cluster) run(d time.Duration) { c.clock.run(c.clock.now+d, c.stop) }

// upTo draws a time below d.
func (c *cluster) upTo(d time.Duration) time.Duration { return time.Duration(c.work.Int64N(int64(d))) }

// every does something about as often as mean says, for the rest of this round's
// trouble.
func (c *cluster) every(mean time.Duration, do func()) {
	if mean <= 0 {
		return
	}
	round := c.round
	c.clock.after(c.upTo(2*mean)+1, func() {
		if c.busy && c.round == round {
			do()
			c.every(mean, do)
		}
	})
}

// violate notes that something does not hold that always must. what is one of tables,
// events, purge, multicast, connections, waits, frames, health, memory and work.
func (c *cluster) violate(what, format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	c.tracef("VIOLATION %s: %s", what, s)
	if !c.stop() {
		c.report.Violations = append(c.report.Violations, fmt.Sprintf("%s, seed %d, %v: %s", what, c.Seed, c.clock.now, s))
	}
}

func (c *cluster) tracef(format string, args ...any) {
	if c.Trace != nil {
		fmt.Fprintf(c.Trace, "%12.6f ", c.clock.now.Seconds())
		fmt.Fprintf(c.Trace, format, args...)
		fmt.Fprintln(c.Trace)
	}
}

// note brings something that happened into the hash.
func (c *cluster) note(kind byte, who int, b []byte, more uint64) {
	h := c.report.Hash
	for _, v := range [...]uint64{uint64(kind)<<32 | uint64(who), uint64(c.clock.now), uint64(crc32.Checksum(b, castagnoli)), more} {
		h = (h ^ v) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	c.report.Hash = h
}

// boot starts the nodes, some of whose bindings come only while they meet, and waits
// until all know all.
func (c *cluster) boot() {
	for _, m := range c.members {
		c.clock.at(c.upTo(time.Second), m.start)
	}
	c.run(time.Second)
	for c.clock.now < clusterBoot && !c.stop() && !c.know() {
		c.run(10 * time.Millisecond)
	}
	c.report.Booted = c.clock.now
	if c.Suspend {
		c.run(suspendMeet - min(suspendMeet, c.clock.now))
		c.met = c.report.Frames
	}
	c.settle()
}

// settle waits until nothing is on its way any more, and looks whether all is as it
// must be.
func (c *cluster) settle() {
	began := c.clock.now
	end := began + clusterRest
	for c.clock.now < end && !c.stop() && !c.well() {
		c.run(100 * time.Millisecond)
	}
	c.report.Slowest = max(c.report.Slowest, c.clock.now-began)
	c.run(barrierTime)
	if !c.stop() {
		c.checkWell()
		c.checkTables()
		c.judge()
	}
	if c.Connections && !c.stop() {
		c.quietCalls()
	}
}

// rest ends the faults and the changes.
func (c *cluster) rest() {
	c.calm()
	c.settle()
}

// calm ends the faults and the changes, but that some networks carry nothing.
func (c *cluster) calm(failed ...int) {
	c.busy, c.failed = false, len(failed)
	for i, s := range c.nets {
		c.faults[i] = NetworkFaults{}
		s.join()
		clear(s.gone)
	}
	for _, i := range failed {
		c.faults[i].Loss = 1
	}
	c.split++
	for _, m := range c.members {
		m.start() // if it is down
		m.calm()
	}
}

// shutdown closes and leaves everything, and looks whether all memory has come back.
func (c *cluster) shutdown() {
	if c.Connections {
		c.endCalls()
	}
	for _, m := range c.members {
		for len(m.term.socks) > 0 {
			m.term.close(m.term.socks[0])
		}
		m.term.closeSole()
	}
	c.run(10 * time.Second)
	c.checkTables()
	for _, m := range c.members {
		m.term.leaves = true
		m.term.do(func(now time.Duration) { m.term.eng.Leave(now) })
	}
	c.run(5 * time.Second)
	for _, m := range c.members {
		if a := m.term.arena; a.Free() != a.Total() {
			c.violate("memory", "node %d: %d of %d chunks free after everything was closed", m.idx, a.Free(), a.Total())
		}
	}
}
