// SPDX-License-Identifier: Apache-2.0

package seal

// Counters are what a ring has done since its node began.
type Counters struct {
	Sealed    uint64 // packets, copies too
	Spent     uint64 // not sealed: the key has sealed all it may
	NoTX      uint64 // not sealed: the key is gone
	Opened    uint64
	NoKey     uint64 // not opened: no key for the slot
	BadTag    uint64 // not opened: another key, or changed
	Malformed uint64 // not opened, or what was inside does not fit the header
	Replayed  uint64 // opened and dropped: seen before
	Switched  uint64 // own pending keys that became active
}

// Counters returns what was done since the node began.
func (r *Ring) Counters() Counters { return r.counters }
