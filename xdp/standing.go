// SPDX-License-Identifier: Apache-2.0

package xdp

import "github.com/utipc/utipc/frame"

// A Standing is what a device was opened on. FindLink tells what the interface is now.
type Standing struct {
	Index   int       // the interface's number
	MAC     frame.MAC // its station address
	Queues  int       // receive queues it had; 0: the device does not depend on them, or they are not known
	Program uint32    // number of the device's own XDP program; 0: none
}

// Standing is what the driver was opened on.
func (b *choice) Standing() Standing {
	if d, ok := b.Driver().(interface{ Standing() Standing }); ok {
		return d.Standing()
	}
	return Standing{}
}
