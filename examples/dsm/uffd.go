// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Of linux/userfaultfd.h.
const (
	uffdAPI          = 0xaa
	ioctlAPI         = 0xc018aa3f
	ioctlRegister    = 0xc020aa00
	ioctlUnregister  = 0x8010aa01
	ioctlWake        = 0x8010aa02
	ioctlCopy        = 0xc028aa03
	ioctlProtect     = 0xc018aa06
	featureWPShared  = 1 << 12 // write protection of shared memory, from Linux 5.19 on
	registerMissing  = 1 << 0
	registerWP       = 1 << 1
	copyProtected    = 1 << 1
	protectWrites    = 1 << 0
	eventPagefault   = 0x12
	faultWrite       = 1 << 0
	faultWP          = 1 << 1
	messageLen       = 32
	flagsAt, addrsAt = 8, 16 // in a message
)

// pageSize is the bytes of a page.
const pageSize = 4096

// faults are what one process does with the pages of a region that it cannot go on with. Whoever
// has the descriptor decides, in whatever process: the calls act on the memory of the process that
// made it.
type faults struct {
	fd   int
	base uint64 // where the region is in that process
	size uint64
}

// newFaults registers this process's region. Errors: EPERM where only root may.
func newFaults(region []byte) (f faults, err error) {
	fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|unix.O_NONBLOCK, 0, 0)
	if errno != 0 {
		return f, os.NewSyscallError("userfaultfd", errno)
	}
	f = faults{fd: int(fd), base: uint64(uintptr(unsafe.Pointer(&region[0]))), size: uint64(len(region))}
	api := [3]uint64{uffdAPI, featureWPShared, 0}
	err = f.ioctl(ioctlAPI, unsafe.Pointer(&api))
	if err == nil {
		err = f.ioctl(ioctlRegister, unsafe.Pointer(&[4]uint64{f.base, f.size, registerMissing | registerWP, 0}))
	}
	if err != nil {
		unix.Close(f.fd)
	}
	return f, err
}

// ioctl repeats a call that changes of the process's mappings made return early. When the process has
// ended, there is nothing to do.
func (f faults) ioctl(request uintptr, arg unsafe.Pointer) error {
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(f.fd), request, uintptr(arg))
		switch errno {
		case 0, unix.ESRCH:
			return nil
		case unix.EAGAIN, unix.EINTR:
			continue
		}
		return fmt.Errorf("userfaultfd: ioctl %#x: %w", request, errno)
	}
}

func (f faults) at(page uint32) uint64 { return f.base + uint64(page)*pageSize }

// install gives the process a page that it does not have, and wakes what waits for it.
func (f faults) install(page uint32, data []byte, write bool) error {
	mode := uint64(copyProtected)
	if write {
		mode = 0
	}
	c := [5]uint64{f.at(page), uint64(uintptr(unsafe.Pointer(&data[0]))), pageSize, mode, 0}
	return f.ioctl(ioctlCopy, unsafe.Pointer(&c))
}

// protect says whether the process may write to a page that it has. When it may, what waits for
// that is woken.
func (f faults) protect(page uint32, on bool) error {
	var mode uint64
	if on {
		mode = protectWrites
	}
	return f.ioctl(ioctlProtect, unsafe.Pointer(&[3]uint64{f.at(page), pageSize, mode}))
}

// wake lets what waits for the page try again.
func (f faults) wake(page uint32) error {
	return f.ioctl(ioctlWake, unsafe.Pointer(&[2]uint64{f.at(page), pageSize}))
}

// release ends the registration, and wakes all that waits.
func (f faults) release() error {
	err := f.ioctl(ioctlUnregister, unsafe.Pointer(&[2]uint64{f.base, f.size}))
	if errors.Is(err, unix.ENOMEM) { // what it says here of a process that has ended
		return nil
	}
	return err
}

// next waits for a fault, or until end can be read; then ok is false.
func (f faults) next(end int) (page uint32, write, ok bool, err error) {
	poll := []unix.PollFd{{Fd: int32(f.fd), Events: unix.POLLIN}, {Fd: int32(end), Events: unix.POLLIN}}
	var m [messageLen]byte
	for {
		if _, err := unix.Poll(poll, -1); err != nil && err != unix.EINTR {
			return 0, false, false, os.NewSyscallError("poll", err)
		}
		if poll[1].Revents != 0 {
			return 0, false, false, nil
		}
		if _, err := unix.Read(f.fd, m[:]); err == unix.EAGAIN || err == unix.EINTR {
			continue
		} else if err != nil {
			return 0, false, false, os.NewSyscallError("read userfaultfd", err)
		}
		if m[0] != eventPagefault {
			continue
		}
		flags, addr := binary.NativeEndian.Uint64(m[flagsAt:]), binary.NativeEndian.Uint64(m[addrsAt:])
		return uint32((addr - f.base) / pageSize), flags&(faultWrite|faultWP) != 0, true, nil
	}
}
