// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/engine"
)

// With Cluster.Exclusive sockets take ranges of few instances for themselves, while nodes come and go and the
// network splits and heals. When it has been quiet no two of them overlap.

// soleType is the service type of names that one socket has.
const soleType = 1030

// mostSole is how many sockets with such names a node has.
const mostSole = 4

// actSole opens a socket and binds it exclusively, or closes one.
func (t *term) actSole() {
	c := t.m.c
	t.eng.TakeLost(nil)
	if k := len(t.sole); k == mostSole || k > 0 && c.work.IntN(3) == 0 {
		i := c.work.IntN(k)
		p := t.sole[i]
		if p.Lost() != nil {
			c.report.SoleLost++
		}
		t.sole = append(t.sole[:i:i], t.sole[i+1:]...)
		t.do(func(now time.Duration) { p.Close(now) })
		return
	}
	r := frame.Range{Type: soleType, Lower: uint32(c.work.IntN(6))}
	r.Upper = r.Lower + uint32(c.work.IntN(3))
	p := t.eng.OpenPort(engine.PortConfig{})
	h, err := p.BindExclusive(t.now(), r)
	if err != nil {
		t.do(func(now time.Duration) { p.Close(now) })
		return
	}
	c.report.Sole++
	t.sole = append(t.sole, p)
	if c.work.IntN(2) == 0 {
		h.Settle()
		return
	}
	c.clock.after(c.upTo(200*time.Millisecond), func() { h.Settle() })
}

// closeSole closes all of them.
func (t *term) closeSole() {
	for _, p := range t.sole {
		t.do(func(now time.Duration) { p.Close(now) })
	}
	t.sole = nil
}

// checkSole is called when the network has been quiet: what one socket has is bound by no other.
func (c *cluster) checkSole() {
	var all []naming.Binding
	for b := range c.bound {
		if b.Range.Type == soleType {
			all = append(all, b)
		}
	}
	for i, x := range all {
		for _, y := range all[:i] {
			if x.Range.Lower <= y.Range.Upper && y.Range.Lower <= x.Range.Upper {
				c.violate("exclusive", "%v has %v to itself, and %v has %v", x.Socket, x.Range, y.Socket, y.Range)
			}
		}
	}
}
