// SPDX-License-Identifier: Apache-2.0

package bed

import (
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// SetAddress gives an interface of the namespace an IPv4 address in a network of 256.
func (n *Namespace) SetAddress(name string, addr netip.Addr) error {
	err := n.Do(func() error {
		if err := setInet4(name, "SIOCSIFADDR", unix.SIOCSIFADDR, addr.As4()); err != nil {
			return err
		}
		return setInet4(name, "SIOCSIFNETMASK", unix.SIOCSIFNETMASK, [4]byte{255, 255, 255, 0})
	})
	if err != nil {
		return fmt.Errorf("the address %v of %s: %w", addr, name, err)
	}
	return nil
}

// setInet4 makes one request, of the interface in the calling thread's namespace.
func setInet4(name, what string, request uint, value [4]byte) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	r, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	if err := r.SetInet4Addr(value[:]); err != nil {
		return err
	}
	return os.NewSyscallError("ioctl "+what, unix.IoctlIfreq(fd, request, r))
}
