// SPDX-License-Identifier: Apache-2.0

// Package macvlan gives a process a station of its own on an interface of this host: an interface of kind macvlan, with
// an Ethernet address of its own, in a network namespace of its own.
//
//	eth1 ──┬── station (address of its own), in the namespace of one process
//	       └── station, in that of another
//
// The stations of one interface hear each other, and what is on its network; the host itself on that interface they do
// not hear. The namespace has no name: the kernel removes it, and the station, when the last socket in it is closed, however
// the process ends.
package macvlan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/netlink"
)

// Name is the name of a station, in its namespace.
const Name = "station"

// Do makes a station on an interface of the calling thread's namespace, and calls f in that of the station. What f opens there keeps both. Errors: the system's; it
// needs CAP_NET_ADMIN, and CAP_SYS_ADMIN for the namespace; those of f.
func Do(lower string, f func() error) error {
	home, err := namespace()
	if err != nil {
		return err
	}
	defer unix.Close(home)
	done := make(chan error, 1)
	go func() { // its thread ends with it, as nobody else is to have the namespace
		runtime.LockOSThread()
		err := enter(home, lower)
		if err != nil {
			err = fmt.Errorf("a station on interface %s: %w", lower, err)
		} else {
			err = f()
		}
		done <- err
	}()
	return <-done
}

// enter makes a station, and takes the calling thread to it.
func enter(home int, lower string) error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return os.NewSyscallError("unshare", err)
	}
	own, err := namespace()
	if err != nil {
		return err
	}
	defer unix.Close(own)
	if err := unix.Setns(home, unix.CLONE_NEWNET); err != nil {
		return os.NewSyscallError("setns", err)
	}
	index, err := indexOf(lower)
	if err != nil {
		return err
	}
	if err := create(index, own); err != nil {
		return os.NewSyscallError("macvlan", err)
	}
	if err := unix.Setns(own, unix.CLONE_NEWNET); err != nil {
		return os.NewSyscallError("setns", err)
	}
	return bringUp()
}

func namespace() (int, error) {
	const path = "/proc/thread-self/ns/net"
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// indexOf is the number of an interface.
func indexOf(name string) (uint32, error) {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, os.NewSyscallError("socket", err)
	}
	defer unix.Close(s)
	r, err := unix.NewIfreq(name)
	if err == nil {
		err = unix.IoctlIfreq(s, unix.SIOCGIFINDEX, r)
	}
	if err != nil {
		return 0, err
	}
	return r.Uint32(), nil
}

const modeBridge = 4 // MACVLAN_MODE_BRIDGE

// create makes the station in a namespace.
func create(lower uint32, ns int) error {
	number := func(v uint32) []byte { return binary.NativeEndian.AppendUint32(nil, v) }
	attribute := netlink.AppendAttribute
	const mode, kind, data = 1, 1, 2 // IFLA_MACVLAN_MODE, IFLA_INFO_KIND, IFLA_INFO_DATA
	info := attribute(attribute(nil, kind, []byte("macvlan")), data, attribute(nil, mode, number(modeBridge)))
	body := make([]byte, unix.SizeofIfInfomsg)
	body = attribute(body, unix.IFLA_LINK, number(lower))
	body = attribute(body, unix.IFLA_IFNAME, append([]byte(Name), 0))
	body = attribute(body, unix.IFLA_NET_NS_FD, number(uint32(ns)))
	body = attribute(body, unix.IFLA_LINKINFO, info)
	_, err := netlink.Route(unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL|unix.NLM_F_ACK, body)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return fmt.Errorf("%w (the kernel has no macvlan)", err)
	}
	return err
}

// bringUp brings the station up, in the calling thread's namespace.
func bringUp() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(s)
	r, err := unix.NewIfreq(Name)
	if err == nil {
		r.SetUint16(unix.IFF_UP)
		err = os.NewSyscallError("ioctl SIOCSIFFLAGS", unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, r))
	}
	return err
}
