// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"runtime"
	"time"
)

// Run simulates. It never fails: what is wrong is counted in the report.
func (c Config) Run() Report {
	x := newCluster(c)
	began := x.Clock()
	x.report.Config, x.report.Nodes = x.Config, x.Nodes
	before := heap()
	if x.boot() {
		after := heap()
		x.report.Memory.Node = float64(after-before) / float64(x.Nodes)
		x.report.Memory.Peer = x.report.Memory.Node / float64(x.Nodes-1)
		x.idle()
		for _, k := range x.Kills {
			if !x.killSome(k) {
				break
			}
		}
		if x.Part {
			x.halves()
		}
	}
	x.report.Simulated = x.now
	x.report.Real = x.Clock() - began
	return x.report
}

// heap is the number of bytes in use. What a sync.Pool has, or a finalizer frees, takes a
// second collection.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// boot starts all nodes, one after another by chance, and waits until all know all.
func (c *cluster) boot() bool {
	for _, s := range c.stations {
		c.run(c.now+time.Duration(c.r.ExpFloat64()*float64(bootGap)), nil)
		c.start(s)
	}
	c.started = c.now
	c.report.Booted = c.meet("after the start")
	return c.report.Booted > 0
}

// meet waits until all living nodes are in contact and know all names, and returns how
// long that took; 0: they never were.
func (c *cluster) meet(when string) time.Duration {
	began := c.now
	if !c.inContact() && !c.run(c.now+bootLimit, c.inContact) {
		c.violate("%s: %d of %d contacts after %v", when, c.contacts, c.living*(c.living-1), c.now-began)
		return 0
	}
	took := c.now - began
	c.run(c.now+c.Settle, nil)
	c.checkTables(when)
	return max(took, 1)
}

// idle counts what an idle cluster sends.
func (c *cluster) idle() {
	frames, bytes, began := c.report.Frames, c.report.Bytes, c.Clock()
	c.run(c.now+c.Idle, nil)
	c.report.IdleReal = c.Clock() - began
	per := float64(c.Nodes) * c.Idle.Seconds()
	c.report.Idle = Traffic{float64(c.report.Frames-frames) / per, float64(c.report.Bytes-bytes) / per}
}

// killSome kills some nodes at once, waits until all others know, and starts them again,
// unless they are to stay dead.
func (c *cluster) killSome(n int) bool {
	n = min(n, c.Nodes-1)
	c.lost = c.lost[:0]
	dead := make([]*station, 0, n)
	for _, i := range c.r.Perm(c.Nodes)[:n] {
		c.kill(c.stations[i])
		dead = append(dead, c.stations[i])
	}
	began := c.now
	if !c.run(c.now+c.Bound()+longAfter, c.inContact) {
		c.violate("%d killed: %d of %d survivors' reports after %v", n, len(c.lost), n*c.living, c.now-began)
	}
	k := Kill{Nodes: n}
	var times []time.Duration
	for _, l := range c.lost {
		if l.of.eng == nil {
			times = append(times, l.at-began)
		}
	}
	c.judge(&k, times)
	c.run(c.now+time.Second, nil)
	c.checkTables("after a kill")
	if c.StayDead {
		c.report.Kills = append(c.report.Kills, k)
		return true
	}
	for _, s := range dead {
		c.run(c.now+time.Duration(c.r.ExpFloat64()*float64(bootGap)), nil)
		c.start(s)
	}
	k.Rejoined = c.meet("after they came back")
	c.report.Kills = append(c.report.Kills, k)
	return k.Rejoined > 0
}

// judge compares the times it took to notice with the bound.
func (c *cluster) judge(k *Kill, times []time.Duration) {
	k.distribution(times)
	if k.P99 > c.Bound() {
		c.violate("%d lost: 99 of 100 noticed in %v, not in %v", k.Nodes, k.P99, c.Bound())
	}
}
