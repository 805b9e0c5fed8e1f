// SPDX-License-Identifier: Apache-2.0

package sim

import "time"

const (
	clusterNets = 3 // networks of a cluster, at most
	nodeLinks   = 2 // links between two nodes, at most

	outageSeen = 6 * time.Second // after which no link is up that gets nothing across
)

// outage is the end of a round's trouble: one network carries nothing from then on. Two links
// between each two nodes come up over the others, however they stood before. Then one more fails:
// the nodes keep contact, or return to it, over the last. All are back when the round rests.
func (c *cluster) outage() {
	first := c.work.IntN(len(c.nets))
	second := (first + 1 + c.work.IntN(len(c.nets)-1)) % len(c.nets)
	for _, failed := range [][]int{{first}, {first, second}} {
		if c.stop() {
			return
		}
		c.tracef("networks %v fail", failed)
		c.calm(failed...)
		c.run(outageSeen)
		c.settle()
	}
}

// wanted is how many links a node should have.
func (c *cluster) wanted() int { return (len(c.members) - 1) * min(len(c.nets)-c.failed, nodeLinks) }

// spoilt reports whether networks failed of which links may be left: nothing takes their place.
func (c *cluster) spoilt() bool { return len(c.nets)-c.failed < nodeLinks && c.failed > 0 }

// netsTo returns the networks over which a node has links to another when all is well: all of them,
// or those that it chose.
func (t *term) netsTo(o *member) (nets []int) {
	c := t.m.c
	if len(c.nets) <= nodeLinks {
		for i := range c.nets {
			nets = append(nets, i)
		}
		return nets
	}
	for p, link := range t.links {
		if p.Node == o.term.eng.Address() && link.IsUp() {
			nets = append(nets, p.net)
		}
	}
	return nets
}
