// SPDX-License-Identifier: Apache-2.0

package sim

// checkWaiting is invariant 4: whoever waits has a reason that exists.
func (l *life) checkWaiting() {
	w := l.n.w
	for _, p := range l.ports {
		b := p.waiting
		if b == nil {
			continue
		}
		found := false
		for peer := range l.eng.Neighbours {
			link := peer.Link
			if peer.Node != b.Node || link == nil {
				continue
			}
			found = true
			switch {
			case !link.IsUp():
				w.violate(4, "node %d: a sender waits for %v, whose link is %v", l.n.idx, b.Node, link.State())
			case !link.Congested(b.Importance):
				w.violate(4, "node %d: a sender waits for %v at importance %v, which is not congested (%d of %d)",
					l.n.idx, b.Node, b.Importance, link.Look().Waiting[b.Importance], link.Limit(b.Importance))
			case !link.Look().TurnedAway[b.Importance]:
				w.violate(4, "node %d: a sender waits for %v at importance %v and the link does not know", l.n.idx, b.Node, b.Importance)
			default:
				continue
			}
			p.waiting = nil // said once
		}
		if !found {
			w.violate(4, "node %d: a sender waits for %v, which is not known", l.n.idx, b.Node)
			p.waiting = nil
		}
	}
}
