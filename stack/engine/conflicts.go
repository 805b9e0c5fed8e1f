// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// alarmGap is how long nothing is said again of one duplicate.
const alarmGap = time.Second

// conflictsSaid decides which duplicates are said: each once in alarmGap, and in that time so many at
// most, since anybody can cause them. When two clusters meet all come within a moment. The zero
// conflictsSaid is ready for use.
type conflictsSaid [8]conflictSaid

// A conflictSaid is a duplicate and when it was said.
type conflictSaid struct {
	said  bool
	node  frame.NodeAddr
	claim Claim
	at    time.Duration
}

// due reports whether a duplicate is to be said now.
func (a *conflictsSaid) due(now time.Duration, node frame.NodeAddr, c Claim) bool {
	place := -1
	for i := range a {
		x := &a[i]
		recent := x.said && now-x.at < alarmGap
		if recent && x.node == node && x.claim == c {
			return false
		}
		if !recent {
			place = i
		}
	}
	if place < 0 {
		return false
	}
	a[place] = conflictSaid{true, node, c, now}
	return true
}
