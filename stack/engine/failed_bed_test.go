// SPDX-License-Identifier: Apache-2.0

package engine

import "time"

// lose ends contact with a node, in a turn of its own.
func (e *Engine) lose(now time.Duration, n *node) {
	e.giveUp(now, n)
	e.reapFailed(now)
}

// cutLink takes a link down, in a turn of its own.
func (e *Engine) cutLink(now time.Duration, l *link) {
	l.Fail()
	e.after(now, l)
	e.reapFailed(now)
}
