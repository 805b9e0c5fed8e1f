// SPDX-License-Identifier: Apache-2.0

package station

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// addresses gives both ends of the cable their IPv4 address where IP runs on it, and takes
// their offloads away if the variant is to go without.
func (st *Station) addresses() error {
	o := st.v.Ends[0]
	if !o.IP() && st.v.Program == nil {
		return nil
	}
	for end := range st.ends {
		name := st.bed.Name(end)
		err := st.bed.Do(end, func() error {
			if !st.v.Offloads {
				if err := withoutOffloads(name); err != nil {
					return err
				}
			}
			return setAddress(name, addresses[end])
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// setAddress gives an interface an IPv4 address in a network of 256.
func setAddress(name, addr string) error {
	return onInterface(name, func(fd int, r *unix.Ifreq) error {
		if err := r.SetInet4Addr(net.ParseIP(addr).To4()); err != nil {
			return err
		}
		if err := unix.IoctlIfreq(fd, unix.SIOCSIFADDR, r); err != nil {
			return os.NewSyscallError("ioctl SIOCSIFADDR", err)
		}
		if err := r.SetInet4Addr([]byte{255, 255, 255, 0}); err != nil {
			return err
		}
		return os.NewSyscallError("ioctl SIOCSIFNETMASK", unix.IoctlIfreq(fd, unix.SIOCSIFNETMASK, r))
	})
}

// onInterface runs f with a socket for requests about an interface.
func onInterface(name string, f func(fd int, r *unix.Ifreq) error) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	r, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	return f(fd, r)
}
