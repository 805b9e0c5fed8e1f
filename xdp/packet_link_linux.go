// SPDX-License-Identifier: Apache-2.0

package xdp

import "github.com/utipc/utipc/frame"

// linkChanged is told by the watch what has become of the interface.
func (p *Packet) linkChanged(s linkState) {
	p.mu.Lock()
	p.linkMTU = s.carries()
	p.removed = p.removed || s.removed
	news := p.fate.follow(s, p.name, p.mac)
	if news != nil {
		p.pending = news
	}
	changed, wake := p.measureLocked(), p.wake
	p.mu.Unlock()
	if (changed || s.removed || news != nil) && wake != nil {
		wake() // Receive says why, the socket itself may keep silent about it
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
