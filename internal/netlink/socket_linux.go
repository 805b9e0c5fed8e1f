// SPDX-License-Identifier: Apache-2.0

package netlink

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// ErrAnswer means that an answer of the kernel cannot be read.
var ErrAnswer = errors.New("netlink: the kernel's answer cannot be read")

// Open opens a socket of a netlink family, for example unix.NETLINK_ROUTE, in the network
// namespace of the calling thread. Its reads end after a second, with EAGAIN. The caller
// closes it.
func Open(family int) (fd int, err error) {
	fd, err = unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, family)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	wait := unix.Timeval{Sec: 1}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait); err != nil {
		unix.Close(fd)
		return -1, os.NewSyscallError("setsockopt", err)
	}
	return fd, nil
}

// Subscribe opens a socket on which rtnetlink announces what changes in some groups, a set of
// unix.RTMGRP_, in the network namespace of the calling thread. Its reads never wait. The
// caller closes it.
func Subscribe(groups uint32) (fd int, err error) {
	fd, err = unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: groups}); err != nil {
		unix.Close(fd)
		return -1, os.NewSyscallError("bind", err)
	}
	return fd, nil
}

// Send sends a message to the kernel.
func Send(fd int, message []byte) error {
	return os.NewSyscallError("sendto", unix.Sendto(fd, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}))
}

// Receive returns the next datagram from the kernel, in buf.
func Receive(fd int, buf []byte) ([]byte, error) {
	for {
		n, from, err := unix.Recvfrom(fd, buf, 0)
		switch a, ok := from.(*unix.SockaddrNetlink); {
		case err == unix.EINTR:
		case err != nil:
			return nil, os.NewSyscallError("recvfrom", err)
		case ok && a.Pid == 0: // what another process sends is not the kernel's word
			return buf[:n], nil
		}
	}
}

// Route sends one request to rtnetlink and returns the message that answers it: of type
// NLMSG_ERROR, with the error 0, where the kernel only acknowledges.
//
// Errors: the unix.Errno with which the kernel refuses the request; ErrAnswer; the system's.
func Route(typ, flags uint16, body []byte) (Message, error) {
	fd, err := Open(unix.NETLINK_ROUTE)
	if err != nil {
		return Message{}, err
	}
	defer unix.Close(fd)
	if err := Send(fd, AppendRequest(nil, typ, flags, body)); err != nil {
		return Message{}, err
	}
	b, err := Receive(fd, make([]byte, 64<<10))
	if err != nil {
		return Message{}, err
	}
	m, _, ok := Next(b)
	if !ok || m.Cut {
		return Message{}, ErrAnswer
	}
	if errno, ok := m.Errno(); ok && errno != 0 {
		return Message{}, errno
	}
	return m, nil
}

// Dump sends one request to rtnetlink and calls each for every message of the list that
// answers it.
//
// Errors: as of Route. What each was called for until then is part of a list.
func Dump(typ uint16, body []byte, each func(Message)) error {
	fd, err := Open(unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := Send(fd, AppendRequest(nil, typ, unix.NLM_F_DUMP, body)); err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	for {
		b, err := Receive(fd, buf)
		if err != nil {
			return err
		}
		for len(b) > 0 {
			m, rest, ok := Next(b)
			if !ok || m.Cut {
				return ErrAnswer
			}
			if m.Type == unix.NLMSG_DONE {
				return nil
			}
			if errno, ok := m.Errno(); ok && errno != 0 {
				return errno
			}
			each(m)
			b = rest
		}
	}
}

// Shortage reports whether an error means that the system or the process is short of
// descriptors or memory, or did not answer in time: then nothing is known about what was asked.
func Shortage(err error) bool {
	for _, errno := range []unix.Errno{unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.ENOBUFS, unix.EAGAIN} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
