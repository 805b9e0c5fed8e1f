// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// checkWaiting is invariant 4: whoever waits has a reason that exists.
func (l *life) checkWaiting() {
	w := l.n.w
	for _, p := range l.ports {
		b := p.waiting
		if b == nil {
			continue
		}
		var worst string
		known, well := false, false
		for peer, link := range l.links {
			if peer.Node != b.Node {
				continue
			}
			known = true
			if why := reasonToWait(link, b.Importance); why == "" {
				well = true
			} else if worst == "" || link.IsUp() {
				worst = why
			}
		}
		switch {
		case !known:
			worst = "which is not known"
		case well:
			continue
		}
		w.violate(4, "node %d: a sender waits for %v at importance %v, %s", l.n.idx, b.Node, b.Importance, worst)
		p.waiting = nil // said once
	}
}

// reasonToWait returns what is wrong with waiting for a link.
func reasonToWait(link *flowctl.Link, imp frame.Importance) string {
	switch in := link.Look(); {
	case !link.IsUp():
		return fmt.Sprintf("whose link is %v", link.State())
	case !link.Congested(imp):
		return fmt.Sprintf("which is not congested (%d of %d)", in.Waiting[imp], link.Limit(imp))
	case !in.TurnedAway[imp]:
		return "whose link does not know"
	}
	return ""
}
