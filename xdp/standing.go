// SPDX-License-Identifier: Apache-2.0

package xdp

import "github.com/utipc/utipc/frame"

// A Standing is what a device was opened on. FindLink tells what the interface is now.
type Standing struct {
	Index   int       // the interface's number
	MAC     frame.MAC // its station address
	Queues  int       // receive queues it had; 0: the device does not depend on them, or they are not known
	Program uint32    // number of the device's own XDP program; 0: none

	// Which driver is right may depend on others who use the interface (see LookAround): the
	// device would be opened with another one as soon as somebody does, or nobody any more.
	Alone, Shared bool
}

// Standing is what the driver was opened on.
func (b *choice) Standing() Standing {
	var s Standing
	if d, ok := b.Driver().(interface{ Standing() Standing }); ok {
		s = d.Standing()
	}
	s.Alone, s.Shared = b.plan.holds(b.Method())
	return s
}
