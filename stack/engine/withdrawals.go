// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"time"

	"github.com/utipc/utipc/naming"
)

// withdrawPart is the number of bindings of closed sockets that are withdrawn between two
// calls of HandleTimeout.
const withdrawPart = 1024

// withdrawals are the bindings of closed sockets that are still to be withdrawn. To withdraw all
// of a socket's 65535 at once, and to tell every peer and subscriber, would hold up everybody
// else of the node. What is sent to them meanwhile comes back, as if it had met the close.
type withdrawals struct {
	bindings []naming.Binding // the next first
	done     int              // withdrawn since the last HandleTimeout
}

// withdrawAll withdraws the bindings of a socket that is closed, the newest first, as a
// kernel does (capture 05, frames 46 to 136).
func (e *Engine) withdrawAll(now time.Duration, bindings []naming.Binding) {
	x := &e.unbinding
	if len(x.bindings) == 0 && x.done+len(bindings) <= withdrawPart {
		for _, b := range slices.Backward(bindings) {
			e.withdraw(now, b)
		}
		x.done += len(bindings)
		return
	}
	for _, b := range slices.Backward(bindings) {
		x.bindings = append(x.bindings, b)
	}
}

// withdrawNext withdraws the next part of what is left.
func (e *Engine) withdrawNext(now time.Duration) {
	x := &e.unbinding
	x.done = min(withdrawPart, len(x.bindings))
	for _, b := range x.bindings[:x.done] {
		e.withdraw(now, b)
	}
	if x.bindings = x.bindings[x.done:]; len(x.bindings) == 0 {
		x.bindings = nil
	}
}
