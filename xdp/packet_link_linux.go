// SPDX-License-Identifier: Apache-2.0

package xdp

import "github.com/utipc/utipc/frame"

// linkChanged is told by the watch what has become of the interface: its MTU in
// bytes, 0 while it is down or without carrier.
func (p *Packet) linkChanged(mtu int, removed bool) {
	p.mu.Lock()
	p.linkMTU = mtu
	p.removed = p.removed || removed
	changed, wake := p.measureLocked(), p.wake
	p.mu.Unlock()
	if (changed || removed) && wake != nil {
		wake() // Receive says ErrRemoved, the socket itself may keep silent about it
	}
}

// measureLocked brings what depends on the interface and the arena up to date, and
// reports whether the MTU is another one.
func (p *Packet) measureLocked() (changed bool) {
	mtu := int64(p.linkMTU)
	if p.arena != nil {
		mtu = min(mtu, int64(p.arena.Largest()-frame.EthernetLen))
		// Once long frames have been announced, some may still be under way when
		// the MTU falls: there is no way back.
		if !p.long && int(mtu)+frame.EthernetLen > p.arena.SmallFrame() {
			p.long = true
			p.dropSpareLocked() // it was a small one
		}
	}
	if mtu < MinMTU {
		mtu = 0 // TIPC cannot use it
	}
	return p.mtu.Swap(mtu) != mtu
}
