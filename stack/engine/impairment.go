// SPDX-License-Identifier: Apache-2.0

package engine

import "time"

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=Impairment -linecomment

// An Impairment is what the network has not done for a link for 10 s: the link shows it, and an
// Event tells when it begins and ends.
type Impairment uint8

const (
	Unimpaired   Impairment = iota // none
	MulticastIn                    // multicast from the peer not seen, unicast is
	MulticastOut                   // multicast to the peer not acknowledged, unicast is
	OneWay                         // the peer is heard and does not answer
	NarrowPath                     // the path carries shorter frames than the interface
)

// Times of impairments.
const (
	impairedAfter = 10 * time.Second
	heardFor      = impairedAfter - answerTime // of a peer that does not answer
	answerTime    = 2 * time.Second            // for a link to come up once both ends are heard
	heardGap      = 130 * time.Second          // a peer with other links announces itself once a minute
)

// A heardDown is how often the peer of a link that is down was heard.
//
//	zero --(heard)--> heard --(again, heardFor later)--> ripe --(still down answerTime later)--> told
//	any --(up, or not heard for heardGap)--> zero
type heardDown struct {
	first, last time.Duration
	ripened     time.Duration
	ripe, told  bool
}

// hear notes that the peer was heard. While the link is up that says nothing, and neither
// while it is held down by this node.
func (l *link) hear(now time.Duration) {
	h := l.n.heard[l.bearer.id]
	switch {
	case l.IsUp() || !l.IsReset() || l.n.up() && l.damper.waits(now):
		return
	case h == nil || now-h.last > heardGap:
		h = &heardDown{first: now}
		l.n.heard[l.bearer.id] = h
	case !h.ripe && now-h.first >= heardFor:
		h.ripe, h.ripened = true, now
	}
	h.last = now
}

// answered ends what was noted of a link that comes up.
func (e *Engine) answered(l *link) {
	told := l.n.heard[l.bearer.id] != nil && l.n.heard[l.bearer.id].told
	l.n.heard[l.bearer.id] = nil
	if told {
		e.impaired(l, OneWay, false)
	}
}

// A castWatch notices that packets of a broadcast link are missing at a node and none gets
// there, though other packets do. What stalls over several contacts adds up: a node that
// misses packets for too long is given up, and comes back.
type castWatch struct {
	since   time.Duration
	sum     time.Duration // of stalls before
	mark    uint32        // changes when a packet has got there
	stalled bool          // since then
	told    bool
}

// watchCast has a watch look, which is there only while something has stalled.
func watchCast(w **castWatch, now time.Duration, mark uint32, lacks bool) (news bool) {
	if *w == nil {
		if !lacks {
			return false
		}
		*w = &castWatch{mark: mark}
	}
	if news = (*w).look(now, mark, lacks); !(*w).stalled && (*w).sum == 0 {
		*w = nil
	}
	return news
}

// says reports whether the owner was told.
func (w *castWatch) says() bool { return w != nil && w.told }

// look takes how the broadcast link stands at now; news means that told has changed.
func (w *castWatch) look(now time.Duration, mark uint32, lacks bool) (news bool) {
	if mark != w.mark {
		news = w.told
		*w = castWatch{mark: mark}
		return news
	}
	if !lacks {
		w.pause(now)
		return false
	}
	if !w.stalled {
		w.stalled, w.since = true, now
	}
	if !w.told && w.sum+now-w.since >= impairedAfter {
		w.told, news = true, true
	}
	return news
}

// pause ends a stall without anything having got there.
func (w *castWatch) pause(now time.Duration) {
	if w != nil && w.stalled {
		w.sum += now - w.since
		w.stalled = false
	}
}

// inspect looks at a link at its tick for what the network does not do for it.
func (e *Engine) inspect(now time.Duration, l *link) {
	n, h := l.n, l.n.heard[l.bearer.id]
	if bound := l.PathMTU() > 0; bound != l.bound {
		l.bound = bound
		e.impaired(l, NarrowPath, bound)
	}
	switch {
	case !l.IsUp() && h == nil:
	case !l.IsUp():
		if h.told && now-h.last > heardGap {
			l.n.heard[l.bearer.id] = nil
		}
		if h.ripe && !h.told && now-h.ripened >= answerTime {
			h.told = true
			e.impaired(l, OneWay, true)
		}
	case n.slots[0] == l:
		if watchCast(&n.castFrom, now, uint32(n.bcast.Received+n.bcast.Duplicates), n.bcast.Gap() > 0) {
			e.impaired(l, MulticastIn, n.castFrom.says())
		}
		if watchCast(&n.castTo, now, uint32(n.member.Acked()), n.member.Behind()) {
			e.impaired(l, MulticastOut, n.castTo.says())
		}
	}
}

// impaired tells the owner that an impairment of a link begins or ends.
func (e *Engine) impaired(l *link, what Impairment, begins bool) {
	ev := Event{Kind: LinkRecovered, Node: l.n.addr, Link: l.label(), Fault: what}
	if begins {
		ev.Kind = LinkImpaired
		if what == NarrowPath {
			ev.MTU = l.MTU()
		}
	}
	e.events.Push(ev)
}

// impairment is what the link shows, the first that holds.
func (l *link) impairment() Impairment {
	n := l.n
	switch {
	case l.n.heard[l.bearer.id] != nil && l.n.heard[l.bearer.id].told:
		return OneWay
	case l.PathMTU() > 0:
		return NarrowPath
	case l.IsUp() && n.castFrom.says():
		return MulticastIn
	case l.IsUp() && n.castTo.says():
		return MulticastOut
	}
	return Unimpaired
}
