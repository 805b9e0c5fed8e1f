// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/daemon/genetlink"
)

// A netlinkState is what a generic netlink socket does when it cannot go on.
type netlinkState struct {
	nonblock      bool
	receive, send unix.Timeval // it waits so long; 0: without limit
}

// netlinkOf looks at a descriptor. Errors: syscall.EPROTOTYPE if it is no generic netlink socket.
func netlinkOf(fd int) (how netlinkState, err error) {
	for _, x := range [...]struct{ option, want int }{{unix.SO_DOMAIN, unix.AF_NETLINK}, {unix.SO_PROTOCOL, unix.NETLINK_GENERIC}} {
		if v, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, x.option); err != nil || v != x.want {
			return how, syscall.EPROTOTYPE
		}
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return how, err
	}
	how.nonblock = flags&unix.O_NONBLOCK != 0
	for option, t := range map[int]*unix.Timeval{unix.SO_RCVTIMEO: &how.receive, unix.SO_SNDTIMEO: &how.send} {
		v, err := unix.GetsockoptTimeval(fd, unix.SOL_SOCKET, option)
		if err != nil {
			return how, err
		}
		*t = *v
	}
	return how, nil
}

// apply makes another socket do the same.
func (how *netlinkState) apply(fd int) error {
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &how.receive); err != nil {
		return err
	}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &how.send); err != nil {
		return err
	}
	return unix.SetNonblock(fd, how.nonblock)
}

// ackOptions says how answers are to be, as the kernel's socket was told.
func ackOptions(fd int, s *genetlink.Socket) error {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	if nl, ok := sa.(*unix.SockaddrNetlink); ok {
		s.Port = nl.Pid
	}
	capped, _ := unix.GetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_CAP_ACK)
	texts, _ := unix.GetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_EXT_ACK)
	s.Capped, s.Texts = capped != 0, texts != 0
	return nil
}

// kernelRoom is what the kernel is told to make datagrams of lists for, in bytes: the least that
// programs have room for. One that is longer comes whole.
const kernelRoom = 4096

// readKernel waits for a datagram from the kernel. What other processes send is none.
func (e *end) readKernel() (b []byte, err error) {
	var failed error
	b = make([]byte, kernelRoom)
	err = e.s.Read(func(fd uintptr) bool {
		for {
			n, _, err := unix.Recvfrom(int(fd), b, unix.MSG_DONTWAIT|unix.MSG_PEEK|unix.MSG_TRUNC)
			if err == nil && n > len(b) {
				b = make([]byte, n)
			}
			if err == nil {
				var from unix.Sockaddr
				n, from, err = unix.Recvfrom(int(fd), b[:cap(b)], unix.MSG_DONTWAIT)
				if a, ok := from.(*unix.SockaddrNetlink); err == nil && (!ok || a.Pid != 0) {
					continue
				}
			}
			switch err {
			case unix.EAGAIN:
				return false
			case unix.EINTR, unix.ENOBUFS: // some were lost, as the program did not read
				continue
			}
			b, failed = b[:max(n, 0)], err
			return true
		}
	})
	if err == nil {
		err = failed
	}
	return b, err
}
