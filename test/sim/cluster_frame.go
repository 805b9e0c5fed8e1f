// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
	"github.com/utipc/utipc/frame/lint"
)

// checkFrame holds a frame that a node sends to what any frame must be, and counts
// multicasts by their method.
func (c *cluster) checkFrame(t *term, net int, b []byte) {
	msg := b[frame.EthernetLen:]
	if c.Trace != nil {
		line, _ := describe.Message(msg)
		c.tracef("node %d, network %d: %s", t.m.idx, net, line)
	}
	m, err := frame.Parse(msg)
	if err != nil {
		c.violate("frames", "node %d sent what does not parse: %v", t.m.idx, err)
		return
	}
	if p, err := frame.ParsePayload(m); err == nil && p.Type() == frame.McastMsg {
		switch {
		case p.Syn() && p.Error() != frame.OK:
			c.report.Barriers++
		case m.NonSeq():
			c.report.Broadcasts++
		default:
			c.report.Replicast++
		}
	}
	if p, err := frame.ParseConn(m); err == nil && p.Fields().Type == frame.ConnProbe {
		c.report.Probes++
	}
	if c.talk == nil {
		return
	}
	c.waited()
	bad := func(f lint.Finding) {
		line, _ := describe.Message(msg)
		c.violate("frames", "node %d sent %s: %v", t.m.idx, line, f)
	}
	if c.report.Frames%8 == 0 { // all of them are held to that elsewhere
		for _, f := range lint.Check(msg) {
			if c.first == 0 || f.Rule != "synch-first" && f.Rule != "bcast-init" { // a link begins with 1, says lint
				bad(f)
			}
		}
	}
	for _, f := range c.talk.Frame(c.clock.now, frame.MAC(b[6:12]), frame.MAC(b[:6]), msg) {
		if (!needsMemory[f.Rule] || !c.scarce && c.refusal == 0) && (!unsettled[f.Rule] || !c.Connections) {
			bad(f)
		}
	}
}

// unsettled are the rules that connections break here: the observer forgets who asked for a
// connection when a node comes back as another, and an answer that finds no memory may
// come behind data, which answers as well.
var unsettled = map[string]bool{"conn-answer": true}
