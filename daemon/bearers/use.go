// SPDX-License-Identifier: Apache-2.0

package bearers

import "time"

// A use decides when an interface that others used is the node's alone again.
//
//	alone --(somebody uses it)--> used --(nobody does)--> left --(for wait)--> alone
//
// Each time somebody comes the wait is twice as long, so that addresses that come and go, as
// those of a lease that is not renewed in time, move a bearer ever more rarely. The zero use is
// that of an interface that nobody has been seen to use.
type use struct {
	used  bool
	wait  time.Duration // 0: nobody has used it yet
	since time.Duration // when they were gone
}

// see takes whether somebody uses the interface, and reports whether that has changed.
func (u *use) see(now time.Duration, used bool) (changed bool) {
	if used == u.used {
		return false
	}
	switch {
	case !used:
		u.since = now
	case u.wait == 0:
		u.wait = firstAlone
	default:
		u.wait = min(2*u.wait, lastAlone)
	}
	u.used = used
	return true
}

// leaves is when the interface is the node's alone again, of one that nobody uses.
func (u *use) leaves() time.Duration { return u.since + u.wait }
