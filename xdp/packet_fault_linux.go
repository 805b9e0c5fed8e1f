// SPDX-License-Identifier: Apache-2.0

package xdp

import "golang.org/x/sys/unix"

// linkFaultLocked asks the kernel what is wrong with the interface: removed, down, or
// without carrier. nil means nothing is. Once removed it stays removed.
func (p *Packet) linkFaultLocked() error {
	if p.removed {
		return p.errRemoved
	}
	// The number stays the same when the name changes. A socket of a namespace
	// answers for that namespace, whatever thread asks.
	ifr, err := unix.NewIfreq("")
	if err != nil {
		return err
	}
	ifr.SetUint32(uint32(p.index))
	if err = unix.IoctlIfreq(p.tx, unix.SIOCGIFNAME, ifr); err == nil {
		err = unix.IoctlIfreq(p.tx, unix.SIOCGIFFLAGS, ifr)
	}
	switch flags := ifr.Uint16(); {
	case err == unix.ENODEV || err == unix.ENXIO:
		p.removed = true
		return p.errRemoved
	case err != nil:
		return err
	case flags&unix.IFF_UP == 0:
		return p.errDown
	case flags&unix.IFF_RUNNING == 0:
		return p.errNoCarrier
	}
	return nil
}
