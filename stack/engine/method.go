// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"time"

	"github.com/utipc/utipc/frame"
)

// A Method is how a socket's multicast messages reach other nodes.
type Method uint8

const (
	Auto      Method = iota // chosen for each message by the number of nodes that it is for
	Broadcast               // once, on the node's broadcast link
	Replicast               // a copy to each node, on the link to it
)

// Source of both: docs/spec/04-broadcast.md §6.
const (
	replicastShare = 10              // per cent of the nodes up to which copies are sent
	methodLife     = 5 * time.Second // of a choice, where receivers cannot follow a change
)

// A method is what a socket's last multicast message went by.
type method struct {
	replicast bool
	fixed     bool // by the program
	expires   time.Duration
}

// SetMethod says how multicast messages go from now on. Where both are forbidden by
// what other nodes can do the message goes as it must.
func (p *Port) SetMethod(m Method) {
	if p.method.fixed = m != Auto; p.method.fixed {
		p.method.replicast = m == Replicast
	}
}

// chooseMethod decides how a multicast message to so many other nodes goes, and whether
// that is a change that receivers have to be told of.
func (e *Engine) chooseMethod(now time.Duration, p *Port, nodes int) (replicast, changed bool) {
	m, can := &p.method, e.commonCaps()
	if !can.Has(frame.CapBcastRcast) {
		return false, m.replicast && can.Has(frame.CapMcastRbctl)
	}
	old := m.expires
	m.expires = now + methodLife
	if m.fixed || !can.Has(frame.CapMcastRbctl) && now < old {
		return m.replicast, false
	}
	if e.method == Auto {
		replicast = nodes <= 1+e.ups*e.share()/100
	} else {
		replicast = e.method == Replicast
	}
	return replicast, replicast != m.replicast && can.Has(frame.CapMcastRbctl)
}

// share is the per cent of the nodes up to which copies are sent.
func (e *Engine) share() int { return cmp.Or(e.ratio, replicastShare) }

// commonCaps is what this node and all nodes known can do.
func (e *Engine) commonCaps() frame.Capabilities {
	if e.capsVoid {
		e.capsVoid = false
		e.caps = e.cfg.Capabilities
		for _, n := range e.nodes {
			e.caps &= n.caps
		}
	}
	return e.caps
}
