// SPDX-License-Identifier: Apache-2.0

package xdp

// LevelTriggered reports true: FD is readable as long as frames wait.
func (x *XSK) LevelTriggered() bool { return true }

// Ready reports whether Receive would find something to give or to tell: a glance
// at the receive rings, without a system call. It is safe for concurrent use; while
// somebody else uses the device it says no.
func (x *XSK) Ready() bool {
	if !x.mu.TryLock() {
		return false
	}
	defer x.mu.Unlock()
	if x.closed || x.arena == nil || x.removed.Load() || x.config.BusyPoll > 0 {
		return true // with BusyPoll it is Receive that makes the card work
	}
	for _, s := range x.sockets {
		if s.rx.available() > 0 {
			return true
		}
	}
	return false
}
