// SPDX-License-Identifier: Apache-2.0

package tun

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// A Device is a TUN interface, which is there until it is closed. What the kernel sends to it is dropped.
type Device struct {
	f    *os.File
	done chan struct{}
}

// mtu is the longest packet of the interface, in bytes: programs take it for a limit of their own.
const mtu = 65520

// Open makes an interface with an address of IPv4 and the network that it is in, and brings it up. Errors: the system's;
// it needs CAP_NET_ADMIN.
func Open(name string, address netip.Prefix) (*Device, error) {
	d, err := open(name, address)
	if err != nil {
		return nil, fmt.Errorf("interface %s: %w", name, err)
	}
	return d, nil
}

func open(name string, address netip.Prefix) (*Device, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: "/dev/net/tun", Err: err}
	}
	req, err := unix.NewIfreq(name)
	if err == nil {
		req.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI | unix.IFF_TUN_EXCL)
		err = os.NewSyscallError("ioctl TUNSETIFF", unix.IoctlIfreq(fd, unix.TUNSETIFF, req))
	}
	if err == nil {
		err = configure(name, address)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	d := &Device{os.NewFile(uintptr(fd), name), make(chan struct{})}
	go d.drop()
	return d, nil
}

// configure gives the interface its addresses and brings it up.
func configure(name string, address netip.Prefix) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(s)
	ip := address.Addr().As4()
	mask := binary.BigEndian.AppendUint32(nil, ^uint32(0)<<(32-address.Bits()))
	for _, step := range []struct {
		what string
		op   uint
		set  func(r *unix.Ifreq) error
	}{
		{"SIOCSIFADDR", unix.SIOCSIFADDR, func(r *unix.Ifreq) error { return r.SetInet4Addr(ip[:]) }},
		{"SIOCSIFNETMASK", unix.SIOCSIFNETMASK, func(r *unix.Ifreq) error { return r.SetInet4Addr(mask) }},
		{"SIOCSIFMTU", unix.SIOCSIFMTU, func(r *unix.Ifreq) error { r.SetUint32(mtu); return nil }},
		{"SIOCSIFFLAGS", unix.SIOCSIFFLAGS, func(r *unix.Ifreq) error { r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING); return nil }},
	} {
		req, err := unix.NewIfreq(name)
		if err == nil {
			err = step.set(req)
		}
		if err == nil {
			err = os.NewSyscallError("ioctl "+step.what, unix.IoctlIfreq(s, step.op, req))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// drop reads what is sent to the interface, until it is closed.
func (d *Device) drop() {
	defer close(d.done)
	b := make([]byte, mtu)
	for {
		if _, err := d.f.Read(b); errors.Is(err, os.ErrClosed) || err != nil && !errors.Is(err, unix.EIO) {
			return
		}
	}
}

// Close removes the interface.
func (d *Device) Close() error {
	err := d.f.Close()
	<-d.done
	return err
}
