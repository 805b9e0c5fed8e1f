// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/callfault"
)

// A message is one datagram that is sent or received: a header in its own memory, and
// data in the caller's. It is used over and over, so that nothing is allocated.
type message struct {
	hdr   [HeaderLen]byte
	ctl   [unix.SizeofCmsghdr + 8]byte // one descriptor
	iov   [2]unix.Iovec
	msg   unix.Msghdr
	n     int // bytes received, also of those there was no room for
	errno syscall.Errno
}

// prepare points the message at data, of which there may be none. With control there
// is room for, or there is, one descriptor.
func (m *message) prepare(data []byte, control bool) {
	m.iov[0].Base = &m.hdr[0]
	m.iov[0].SetLen(len(m.hdr))
	m.iov[1].Base = unsafe.SliceData(data)
	m.iov[1].SetLen(len(data))
	m.msg = unix.Msghdr{Iov: &m.iov[0]}
	m.msg.Iovlen = 1
	if len(data) > 0 {
		m.msg.Iovlen = 2
	}
	if control {
		m.msg.Control = &m.ctl[0]
		m.msg.SetControllen(unix.CmsgLen(4))
	}
}

// cut makes the header part n bytes long.
func (m *message) cut(n int) { m.iov[0].SetLen(n) }

// done drops what the message points at.
func (m *message) done() { m.iov[1].Base, m.msg.Control = nil, nil }

// send tries once; m.errno says what came of it.
func (m *message) send(fd uintptr, as callfault.Call) {
	if m.errno = callfault.Answer(as); m.errno != 0 {
		return
	}
	_, _, m.errno = syscall.RawSyscall(unix.SYS_SENDMSG, fd, uintptr(unsafe.Pointer(&m.msg)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
}

// receive tries once; m.errno says what came of it.
func (m *message) receive(fd uintptr, as callfault.Call) {
	if m.errno = callfault.Answer(as); m.errno != 0 {
		return
	}
	n, _, e := syscall.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&m.msg)), unix.MSG_DONTWAIT|unix.MSG_TRUNC|unix.MSG_CMSG_CLOEXEC)
	m.n, m.errno = int(n), e
}

// peerGroups returns the supplementary groups of who is at the other end.
func peerGroups(fd int) ([]uint32, error) {
	for size := uint32(32); ; {
		groups := make([]uint32, max(size, 1))
		length := uint32(len(groups) * 4)
		_, _, e := syscall.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_PEERGROUPS,
			uintptr(unsafe.Pointer(&groups[0])), uintptr(unsafe.Pointer(&length)), 0)
		switch {
		case e == 0:
			return groups[:length/4], nil
		case e == unix.ERANGE && length/4 > size:
			size = length / 4
		case e == unix.ENODATA, e == unix.ENOPROTOOPT: // none, or a kernel before 4.13
			return nil, nil
		default:
			return nil, e
		}
	}
}
