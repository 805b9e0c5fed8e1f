// SPDX-License-Identifier: Apache-2.0

package seal

import "time"

// An Event is what a Ring tells its owner at a timer; several may be set.
type Event uint8

const (
	Switched   Event = 1 << iota // the pending key is the active one now
	RekeyDue                     // draw RekeyLen random bytes and call Rekey
	KeyWearing                   // said once a key: it has sealed 2^36 packets, and none follows by itself
)

// Deadline is when HandleTimeout has something to do; Never when it does not.
func (r *Ring) Deadline() time.Duration {
	d := Never
	if r.switching() {
		d = r.changed + Lasting
	}
	if r.automatic() {
		d = min(d, r.rekeyAt)
	}
	return d
}

// automatic reports whether the node makes itself keys. It does not without a master
// key: whoever starts later could neither open what goes under the new keys nor be
// sent them. Rekey does at its owner's word.
func (r *Ring) automatic() bool { return r.interval > 0 && r.exchange && r.tx[0] != nil }

// switching reports whether the pending key only waits for Lasting.
func (r *Ring) switching() bool {
	return r.pending != 0 && r.users[r.pending] > 0 && (r.active == 0 || r.users[r.active] == 0)
}

// HandleTimeout carries out what is due at now. The owner calls it at Deadline, and
// while there are keys at least once a second, as packets wear keys out.
// Source: docs/spec/09-security.md §4.2, §5.
func (r *Ring) HandleTimeout(now time.Duration) (e Event) {
	if r.switching() && now-r.changed >= Lasting {
		if r.active != 0 {
			r.drop(r.active)
		}
		r.active, r.pending, r.changed = r.pending, 0, now
		r.counters.Switched++
		e |= Switched
	}
	if r.automatic() && now >= r.rekeyAt {
		r.rekeyAt = now + r.interval
		if r.pending == 0 {
			e |= RekeyDue
		}
	}
	for _, t := range r.tx {
		if t == nil || t.told || !t.SoonSpent() {
			continue
		}
		t.told = true
		if r.exchange && r.tx[0] != nil && r.pending == 0 && t == r.tx[r.active] {
			e |= RekeyDue
		} else {
			e |= KeyWearing
		}
	}
	return e
}
