// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
)

// setLink says what has become of the interface. It comes from any goroutine.
func (x *XSK) setLink(s linkState) {
	if s.removed {
		x.removed.Store(true)
	}
	x.mu.Lock()
	x.linkMTU = s.carries()
	news := x.fate.follow(s, x.info.name, x.info.mac)
	if news != nil {
		x.pending = news
	}
	changed, wake := x.measureLocked(), x.wake
	x.mu.Unlock()
	if (changed || x.removed.Load() || news != nil) && wake != nil {
		wake() // Receive says why
	}
}

// measureLocked makes MTU what it is now, and reports whether it was another.
func (x *XSK) measureLocked() (changed bool) {
	now := int64(min(x.linkMTU, x.limit))
	if now < MinMTU {
		now = 0 // TIPC cannot use it
	}
	return x.mtu.Swap(now) != now
}

// longest is the length of the longest frame, in bytes; while the interface is
// down, of any.
func (x *XSK) longest() int {
	if mtu := x.MTU(); mtu > 0 {
		return mtu + frame.EthernetLen
	}
	return x.limit + frame.EthernetLen
}

// linkFaultLocked says what is wrong with the interface, nil if nothing is.
func (x *XSK) linkFaultLocked() error {
	switch errno := kickSend(x.sockets[0].fd); {
	case errno == unix.ENXIO, x.removed.Load():
		x.removed.Store(true)
		return x.errRemoved
	case errno == unix.ENETDOWN:
		return x.errDown
	case x.MTU() == 0:
		return x.errNoCarrier
	}
	return nil
}
