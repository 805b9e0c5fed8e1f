// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
)

// Limits of what stations can make a node remember. A station is one node; it may
// have come back under other names, but not often.
const (
	stationNodes  = 8                      // nodes that one station has announced
	newcomerStay  = 2 * time.Second        // before others may take a node's place: time to make contact
	fewStrangers  = 64                     // who never made contact are remembered for long as long as they are few
	strangersStay = 30 * time.Second       // and with more than that not
	objectionGap  = 10 * time.Millisecond  // between two objections to addresses, on average
	objections    = 100                    // of them at once
	contactGap    = 500 * time.Millisecond // between two times that contact with a node begins, on average
	contacts      = 8                      // of them at once
	priorityGap   = 10 * time.Second       // between two resets of a link because its peer asks for another priority, on average
	priorities    = 3                      // of them at once
	maxAnswers    = 256                    // frames that wait for a device, beyond which discovery is not answered
)

// A station is who announces nodes: an Ethernet address on a bearer.
type station struct {
	mac    frame.MAC
	bearer uint8
}

// stations are the nodes that each station has announced, the oldest first. Anybody may
// announce a node; so that a flood of them does not keep out one that is there, each
// station has its own share, and who has just come has time to make contact before
// another takes its place:
//
//	new node ──► its station has announced 8? ──yes──► the oldest of them goes, if it may
//	                │ no                                  │ it may not: refused
//	                ▼                                     ▼
//	             too many strangers? ──yes──► the oldest stranger goes, if it may
//	                │ no
//	                ▼
//	             too many nodes? ──yes──► who has lost contact for longest goes, if it may
//
// A node may go that has no contact, and has had none for newcomerStay.
type stations map[station][]*node

// mayGo reports whether another may take the place of a node.
func (n *node) mayGo(now time.Duration) bool {
	return n != nil && n.lruList != nil && now-n.downSince >= newcomerStay
}

// makeRoom makes room for one more node, announced by a station. It reports false when
// there is none.
func (e *Engine) makeRoom(now time.Duration, s station) bool {
	if of := e.stations[s]; len(of) >= stationNodes {
		i := slices.IndexFunc(of, func(n *node) bool { return n.mayGo(now) })
		if i < 0 {
			return false
		}
		e.remove(of[i])
	}
	if e.strangers.n >= maxStrangers && !e.displace(now, e.strangers.first) {
		return false
	}
	return len(e.nodes) < e.cfg.MaxNodes || e.displace(now, e.gone.first) || e.displace(now, e.strangers.first)
}

// displace forgets a node, if there is one and it may go.
func (e *Engine) displace(now time.Duration, n *node) bool {
	if !n.mayGo(now) {
		return false
	}
	e.remove(n)
	return true
}

// announced notes who has announced a node.
func (e *Engine) announced(n *node, s station) {
	n.origin = s
	e.stations[s] = append(e.stations[s], n)
}

// unannounce forgets that.
func (e *Engine) unannounce(n *node) {
	of := e.stations[n.origin]
	if i := slices.Index(of, n); i >= 0 {
		of = slices.Delete(of, i, i+1)
	}
	if len(of) == 0 {
		delete(e.stations, n.origin)
	} else {
		e.stations[n.origin] = of
	}
}
