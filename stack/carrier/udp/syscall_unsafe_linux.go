// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// A message is one of those that sendmmsg and recvmmsg take: struct mmsghdr.
type message struct {
	unix.Msghdr
	n uint32 // bytes sent or received
}

// name makes m be for an address, or write the address it came from there.
func (m *message) name(a *sockaddr, size uint32) {
	m.Name, m.Namelen = (*byte)(unsafe.Pointer(a)), size
}

// vectors makes m consist of v.
func (m *message) vectors(v []unix.Iovec) {
	m.Iov = unsafe.SliceData(v)
	m.SetIovlen(len(v))
}

// control makes m have the control messages b.
func (m *message) control(b []byte) {
	m.Control = unsafe.SliceData(b)
	m.SetControllen(len(b))
}

// vector makes v be the bytes of b.
func vector(v *unix.Iovec, b []byte) {
	v.Base = unsafe.SliceData(b)
	v.SetLen(len(b))
}

// A segmentSize is the control message that says how long the datagrams of a run
// are.
type segmentSize [32]byte // as much as it takes on any machine

// put writes it for sending and returns what of it is used.
func (c *segmentSize) put(size int) []byte {
	h := (*unix.Cmsghdr)(unsafe.Pointer(c))
	h.Level, h.Type = unix.SOL_UDP, unix.UDP_SEGMENT
	h.SetLen(unix.CmsgLen(2))
	*(*uint16)(unsafe.Pointer(&c[unix.CmsgLen(0)])) = uint16(size)
	return c[:unix.CmsgSpace(2)]
}

// get reads it from n bytes received; 0 when it is not there.
func (c *segmentSize) get(n int) int {
	h := (*unix.Cmsghdr)(unsafe.Pointer(c))
	if n < unix.CmsgLen(4) || h.Level != unix.SOL_UDP || h.Type != unix.UDP_GRO {
		return 0
	}
	return int(*(*int32)(unsafe.Pointer(&c[unix.CmsgLen(0)])))
}

// The system calls of the datapath. They return at once and are made past the Go
// scheduler, which would otherwise be free to take the processor away meanwhile.

// send gives messages to fd, which keeps copies, and says how many it took. errno
// is about the first that it did not take, and only when that is the first of all.
func send(fd int, m []message) (n int, errno unix.Errno) {
	r, _, e := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(m))), uintptr(len(m)), unix.MSG_DONTWAIT, 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(r), 0
}

// receive takes messages from fd into m and says how many.
func receive(fd int, m []message) (n int, errno unix.Errno) {
	r, _, e := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(m))), uintptr(len(m)), unix.MSG_DONTWAIT, 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(r), 0
}

// bind gives fd an address.
func bind(fd int, a *sockaddr) error {
	_, _, e := unix.Syscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(a)), uintptr(a.size()))
	if e != 0 {
		return e
	}
	return nil
}

// socketDrops asks how many datagrams found the socket's buffer full.
func socketDrops(fd int) uint64 {
	const drops = 8 // its place among what the kernel tells, SK_MEMINFO_DROPS
	var info [16]uint32
	size := uint32(unsafe.Sizeof(info))
	_, _, e := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if e != 0 || size < 4*(drops+1) {
		return 0
	}
	return uint64(info[drops])
}
