// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A notification is struct seccomp_notif: a thread of the program makes a call, and waits.
type notification struct {
	ID    uint64
	TID   uint32
	Flags uint32
	Call  int32
	Arch  uint32
	IP    uint64
	Args  [6]uint64
}

// A response is struct seccomp_notif_resp.
type response struct {
	ID    uint64
	Value int64
	Error int32
	Flags uint32
}

// A descriptor is struct seccomp_notif_addfd.
type descriptor struct {
	ID                             uint64
	Flags, Source, Fresh, NewFlags uint32
}

// A listener is where the notifications of a filter come.
type listener int

// install gives the calling thread the filter, and returns its listener. Errors: EBUSY when the
// thread has a filter with a listener already.
func install() (listener, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, os.NewSyscallError("prctl", err)
	}
	f := filter()
	p := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	fd, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&p)))
	if e != 0 {
		return -1, os.NewSyscallError("seccomp", e)
	}
	return listener(fd), nil
}

func (l listener) control(request uintptr, p unsafe.Pointer) (int, error) {
	r, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(l), request, uintptr(p))
	if e != 0 {
		return -1, e
	}
	return int(r), nil
}

// receive waits for a notification. It may fail for one that is over, with EINTR or ENOENT.
func (l listener) receive(n *notification) error {
	*n = notification{}
	_, err := l.control(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(n))
	return err
}

// send answers a notification.
func (l listener) send(r *response) error {
	_, err := l.control(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(r))
	return err
}

// valid reports whether a call still waits for its answer.
func (l listener) valid(id uint64) bool {
	_, err := l.control(unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id))
	return err == nil
}

// give gives the program a copy of a descriptor, and returns its number there.
func (l listener) give(d *descriptor) (int, error) {
	return l.control(unix.SECCOMP_IOCTL_NOTIF_ADDFD, unsafe.Pointer(d))
}
