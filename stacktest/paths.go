// SPDX-License-Identifier: Apache-2.0

package stacktest

import "time"

// A Paths is a set of the paths that frames take in a cluster: from a node to another one, on a
// bearer. What is set stays until something else is: also when a node crashes or is
// restarted.
type Paths struct {
	c   *Cluster
	has func(bearer, from, to int) bool
}

// Between is the paths between nodes i and j, both ways, on all bearers.
func (c *Cluster) Between(i, j int) Paths {
	c.t.Helper()
	c.check(i, j)
	return Paths{c, func(_, from, to int) bool { return from == i && to == j || from == j && to == i }}
}

// From is the paths from node i to node j, on all bearers, and not those back.
func (c *Cluster) From(i, j int) Paths {
	c.t.Helper()
	c.check(i, j)
	return Paths{c, func(_, from, to int) bool { return from == i && to == j }}
}

// Around is all paths to and from node i.
func (c *Cluster) Around(i int) Paths {
	c.t.Helper()
	c.check(i)
	return Paths{c, func(_, from, to int) bool { return from == i || to == i }}
}

// Bearer is all paths on the bearer "ethB".
func (c *Cluster) Bearer(b int) Paths { return c.All().On(b) }

// All is all paths.
func (c *Cluster) All() Paths { return Paths{c, func(int, int, int) bool { return true }} }

func (c *Cluster) check(nodes ...int) {
	c.t.Helper()
	for _, i := range nodes {
		if n := len(c.all()); i < 0 || i >= n {
			c.t.Fatalf("stacktest: node %d in a cluster of nodes 0 to %d", i, n-1)
		}
	}
}

// On is those of the paths that are on the bearer "ethB".
func (p Paths) On(b int) Paths {
	return Paths{p.c, func(bearer, from, to int) bool { return bearer == b && p.has(bearer, from, to) }}
}

// Cut ends all traffic on the paths. What is under way on them is lost.
func (p Paths) Cut() { p.set(func(x *path) { x.cut = true }) }

// Heal undoes Cut and Lose. Delays stay.
func (p Paths) Heal() { p.set(func(x *path) { x.cut, x.loss = false, 0 }) }

// Lose has each frame from now on be lost with this probability, 0 to 1. Which ones are follows from
// Config.Seed, for each path by itself.
func (p Paths) Lose(share float64) { p.set(func(x *path) { x.loss = share }) }

// Delay has each frame from now on take this long; in a bubble MinDelay, if that is more. Frames
// keep their order on each path.
func (p Paths) Delay(d time.Duration) {
	p.set(func(x *path) { x.delay = max(d, p.c.net.least) })
}

func (p Paths) set(change func(*path)) {
	p.c.settle()
	n := p.c.net
	n.mu.Lock()
	defer n.mu.Unlock()
	for b, of := range n.paths {
		for i := range of {
			for j := range of[i] {
				if i != j && p.has(b, i, j) {
					change(&of[i][j])
				}
			}
		}
	}
}
