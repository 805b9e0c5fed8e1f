// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// withdrawals are the bindings of closed sockets that are still to be withdrawn. To withdraw all
// of a socket's 65535 at once, and to tell every peer and subscriber, would hold up everybody
// else of the node. What is sent to them meanwhile comes back, as if it had met the close.
type withdrawals struct {
	e        *Engine
	bindings []naming.Binding // the next first
}

// withdrawAll withdraws the bindings of a socket that is closed, the newest first, as a
// kernel does (capture 05, frames 46 to 136).
func (e *Engine) withdrawAll(now time.Duration, bindings []naming.Binding) {
	x := &e.unbinding
	waits := len(x.bindings) > 0
	for _, b := range slices.Backward(bindings) {
		if !waits && len(x.bindings) == 0 && e.mayDo(1) {
			e.withdraw(now, b)
		} else {
			x.bindings = append(x.bindings, b)
		}
	}
	if !waits && len(x.bindings) > 0 {
		x.e = e
		e.later(x)
	}
}

// part withdraws some of what is left.
func (x *withdrawals) part(now time.Duration) (more bool) {
	for k := 0; k < 64 && len(x.bindings) > 0 && x.e.mayDo(1); k++ {
		b := x.bindings[0]
		x.bindings = x.bindings[1:]
		x.e.withdraw(now, b)
	}
	if len(x.bindings) == 0 {
		x.bindings = nil
	}
	return len(x.bindings) > 0
}

// A sweep takes the names of nodes with which contact is lost out of the table.
type sweep struct{ e *Engine }

// condemn has a node's names go.
func (e *Engine) condemn(now time.Duration, a frame.NodeAddr) {
	was := e.table.Condemned()
	e.table.Condemn(a)
	if x := (sweep{e}); !was && e.table.Condemned() {
		for e.mayDo(1) && x.part(now) {
		}
		if e.table.Condemned() {
			e.later(x)
		}
	}
}

// part takes some of them out.
func (x sweep) part(now time.Duration) (more bool) {
	x.e.did(WorkBindings, x.e.table.Sweep(64))
	x.e.groupNews(now)
	return x.e.table.Condemned()
}

// A drain brings the names of a node into the table that came ahead of their turn, and have it.
type drain struct {
	e *Engine
	n *node
}

// part brings some of them in.
func (x drain) part(now time.Duration) (more bool) {
	x.e.namesCame(now, x.n, x.e.drainNames(now, x.n))
	x.n.draining = x.n.inbox.Due()
	return x.n.draining
}
