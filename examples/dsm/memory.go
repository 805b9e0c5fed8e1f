// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Files that a program inherits from its pager.
const (
	controlFile = 3 // a UNIX socket: faults' descriptor and address out, a byte in when all is there
	regionFile  = 4 // the memfd of the region
)

// errLost is what an access is that no rank can serve any more.
var errLost = errors.New("dsm: the page is lost with a rank")

// A memory is the region, shared by the programs of all ranks. It is zero at first. Each access of
// an aligned word is atomic, and all ranks see all accesses in one order, if the program uses
// package sync/atomic for those that meet; Go's compiler may otherwise move them.
type memory struct{ b []byte }

// openMemory maps the region and gives its faults to the pager.
func openMemory() (m memory, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(regionFile, &st); err != nil {
		return m, err
	}
	m.b, err = unix.Mmap(regionFile, 0, int(st.Size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return m, err
	}
	f, err := newFaults(m.b)
	if err != nil {
		return m, err
	}
	defer unix.Close(f.fd) // the pager's remains
	base := fmt.Appendf(nil, "%d", f.base)
	if err := unix.Sendmsg(controlFile, base, unix.UnixRights(f.fd), nil, 0); err != nil {
		return m, err
	}
	var ready [1]byte
	if n, err := unix.Read(controlFile, ready[:]); err != nil || n != 1 {
		return m, fmt.Errorf("dsm: the pager has gone: %w", errors.Join(err, net.ErrClosed))
	}
	return m, nil
}

// receiveFaults is the pager's end of openMemory.
func receiveFaults(control int, size int) (f faults, err error) {
	b, oob := make([]byte, 32), make([]byte, unix.CmsgSpace(4))
	n, k, _, _, err := unix.Recvmsg(control, b, oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return f, os.NewSyscallError("recvmsg", err)
	}
	if n == 0 {
		return f, errors.New("dsm: the program ended before it had its memory")
	}
	all, err := unix.ParseSocketControlMessage(oob[:k])
	if err != nil || len(all) != 1 {
		return f, errMessage
	}
	fds, err := unix.ParseUnixRights(&all[0])
	if err != nil || len(fds) != 1 {
		return f, errMessage
	}
	f = faults{fd: fds[0], size: uint64(size)}
	_, err = fmt.Sscan(string(b[:n]), &f.base)
	return f, err
}

// do calls f, which may use the region; in other goroutines it may not. The error is errLost when a
// rank has gone with a page, or f's.
func (m memory) do(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		fault, ok := r.(interface{ Addr() uintptr })
		switch {
		case ok && fault.Addr()-uintptr(unsafe.Pointer(&m.b[0])) < uintptr(len(m.b)):
			err = errLost
		case r != nil:
			panic(r)
		}
	}()
	return f()
}

// words are the region's, 8 bytes each, from a page on.
func (m memory) words(page int) []uint64 {
	b := m.b[page*pageSize:]
	return unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), len(b)/8)
}

// floats are the same as floating-point numbers.
func (m memory) floats(page, count int) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(&m.b[page*pageSize])), count)
}
