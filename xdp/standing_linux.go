// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"os"

	"golang.org/x/sys/unix"
)

// Standing is what the device was opened on.
func (p *Packet) Standing() Standing { return Standing{Index: p.index, MAC: p.mac} }

// Standing is what the device was opened on.
func (x *XSK) Standing() Standing {
	s := Standing{Index: x.info.index, MAC: x.info.mac}
	if len(x.config.Queues) == 0 && x.info.told {
		s.Queues = x.info.queues
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if a, ok := x.program.(*attachment); ok && a != nil && !x.closed {
		if i, err := a.link.Info(); err == nil {
			s.Program = uint32(i.Program)
		}
	}
	return s
}

// FindLink finds an interface as InterfaceByName does, and says what routing netlink knows
// of it, and its driver of its queues: that much costs some microseconds, and ProbeLink a
// thousand times that. Errors: *InterfaceError with ErrMissing; the system's.
func FindLink(name string) (Link, error) {
	l, _, err := findLink(name)
	if err != nil {
		return l, err
	}
	l.Queues = unknown[Sizes]("the driver does not tell")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return l, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	n, err := receiveQueues(fd, l.Name)
	if n > 0 {
		l.Queues = known(Sizes{RX: n})
	}
	return l, err
}
