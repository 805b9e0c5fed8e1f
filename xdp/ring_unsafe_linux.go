// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapRing maps one of a socket's rings, of size entries, whose parts lie at the
// offsets that the kernel told. The ring is the kernel's as long as mem is mapped.
func mapRing[E uint64 | descriptor](fd int, page int64, at unix.XDPRingOffset, size int) (s shared[E], mem []byte, err error) {
	var e E
	end := at.Desc + uint64(size)*uint64(unsafe.Sizeof(e))
	mem, err = unix.Mmap(fd, page, int(end), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return s, nil, os.NewSyscallError("mmap of a ring", err)
	}
	for _, o := range []uint64{at.Producer, at.Consumer, at.Flags} {
		if o%4 != 0 || o+4 > end {
			_ = unix.Munmap(mem)
			return s, nil, os.NewSyscallError("mmap of a ring", unix.EPROTO)
		}
	}
	s.producer = (*uint32)(unsafe.Pointer(&mem[at.Producer]))
	s.consumer = (*uint32)(unsafe.Pointer(&mem[at.Consumer]))
	s.flags = (*uint32)(unsafe.Pointer(&mem[at.Flags]))
	s.entries = unsafe.Slice((*E)(unsafe.Pointer(&mem[at.Desc])), size)
	return s, mem, nil
}

// ringOffsets asks where the parts of a socket's rings lie.
func ringOffsets(fd int) (o unix.XDPMmapOffsets, err error) {
	return o, getXDP(fd, unix.XDP_MMAP_OFFSETS, unsafe.Pointer(&o), unsafe.Sizeof(o))
}

// kernelCounts asks what a socket's rings have lost. Kernels before 5.9 tell the
// first three counts only.
func kernelCounts(fd int) (s unix.XDPStatistics, err error) {
	return s, getXDP(fd, unix.XDP_STATISTICS, unsafe.Pointer(&s), unsafe.Sizeof(s))
}

func getXDP(fd, option int, into unsafe.Pointer, size uintptr) error {
	length := uint32(size)
	_, _, e := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_XDP, uintptr(option),
		uintptr(into), uintptr(unsafe.Pointer(&length)), 0)
	if e != 0 {
		return os.NewSyscallError("getsockopt", e)
	}
	return nil
}

// registerMemory shares mem with the kernel, in chunks of chunkSize bytes. It
// must stay where it is, and be nobody else's, until the socket and those bound
// to it are gone: nothing on Go's heap moves.
func registerMemory(fd int, mem []byte) error {
	reg := unix.XDPUmemReg{
		Addr: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))),
		Len:  uint64(len(mem)),
		Size: chunkSize,
	}
	_, _, e := unix.Syscall6(unix.SYS_SETSOCKOPT, uintptr(fd), unix.SOL_XDP, unix.XDP_UMEM_REG,
		uintptr(unsafe.Pointer(&reg)), unsafe.Sizeof(reg), 0)
	if e != 0 {
		return os.NewSyscallError("setsockopt XDP_UMEM_REG", e)
	}
	return nil
}

// kickSend makes the kernel look at the transmit ring of fd. In copy mode it sends
// within the call.
func kickSend(fd int) unix.Errno {
	_, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), 0, 0, unix.MSG_DONTWAIT, 0, 0)
	return e
}

// kickReceive makes the kernel look at the fill ring of fd.
func kickReceive(fd int) unix.Errno {
	_, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), 0, 0, unix.MSG_DONTWAIT, 0, 0)
	return e
}
