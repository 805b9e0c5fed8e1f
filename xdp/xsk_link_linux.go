// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
)

// setLink says what the interface carries now: messages of mtu bytes, 0 nothing.
// It comes from any goroutine.
func (x *XSK) setLink(mtu int) {
	x.mu.Lock()
	x.linkMTU = mtu
	changed, wake := x.measureLocked(), x.wake
	x.mu.Unlock()
	if (changed || x.removed.Load()) && wake != nil {
		wake() // Receive says ErrRemoved
	}
}

// setRemoved says that the interface is gone for good.
func (x *XSK) setRemoved() {
	x.removed.Store(true)
	x.setLink(0)
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
