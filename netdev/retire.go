// SPDX-License-Identifier: Apache-2.0

package netdev

import "sync/atomic"

// A retirement is the end of an arena: begun by Retire, over when the last chunk
// has come back.
//
//	in use --Retire--> retired --(last chunk is back)--> over
type retirement struct {
	free  func() // set before begun, then never changed
	begun atomic.Bool
	over  atomic.Bool
}

// Retire ends the arena: from now on Get returns nil, and when the last Buffer
// has come back, in this call or in whatever goroutine releases it, free is
// called, once. After that the memory is no longer touched from here, and the
// Buffers have no bytes. A second Retire is ignored.
func (a *Arena) Retire(free func()) {
	if a.end.begun.Load() {
		return
	}
	a.end.free = free
	a.end.begun.Store(true)
	a.settle()
}

// settle ends a retired arena if all chunks are back. A chunk is counted before
// its giver looks whether the arena is retired, so the last giver or Retire
// itself sees both.
func (a *Arena) settle() {
	if a.Free() != a.Total() || !a.end.over.CompareAndSwap(false, true) {
		return
	}
	for i := range a.all {
		if a.poison {
			a.all[i].checkPoison()
		}
		a.all[i].mem = nil
	}
	a.mem = nil
	if a.end.free != nil {
		a.end.free()
	}
}
