// SPDX-License-Identifier: Apache-2.0

package shortage

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// A call is a system call that may lack descriptors or memory.
type call struct {
	number uint32
	name   string
}

var calls = []call{
	{unix.SYS_ACCEPT4, "accept4"},
	{unix.SYS_BIND, "bind"},
	{unix.SYS_BPF, "bpf"},
	{unix.SYS_CONNECT, "connect"},
	{unix.SYS_DUP3, "dup3"},
	{unix.SYS_EPOLL_CREATE1, "epoll_create1"},
	{unix.SYS_EPOLL_CTL, "epoll_ctl"},
	{unix.SYS_EVENTFD2, "eventfd2"},
	{unix.SYS_FCNTL, "fcntl"},
	{unix.SYS_FSTAT, "fstat"},
	{unix.SYS_GETDENTS64, "getdents64"},
	{unix.SYS_GETSOCKOPT, "getsockopt"},
	{unix.SYS_IOCTL, "ioctl"},
	{unix.SYS_LISTEN, "listen"},
	{unix.SYS_MEMFD_CREATE, "memfd_create"},
	{unix.SYS_MMAP, "mmap"},
	{unix.SYS_OPENAT, "openat"},
	{unix.SYS_PIPE2, "pipe2"},
	{unix.SYS_READ, "read"},
	{unix.SYS_READLINKAT, "readlinkat"},
	{unix.SYS_RECVFROM, "recvfrom"},
	{unix.SYS_RECVMSG, "recvmsg"},
	{unix.SYS_SENDMSG, "sendmsg"},
	{unix.SYS_SENDTO, "sendto"},
	{unix.SYS_SETSOCKOPT, "setsockopt"},
	{unix.SYS_SOCKET, "socket"},
	{unix.SYS_SOCKETPAIR, "socketpair"},
	{unix.SYS_TIMERFD_CREATE, "timerfd_create"},
}

// name is a call's, by its number.
func name(number uint32) string {
	for _, c := range calls {
		if c.number == number {
			return c.name
		}
	}
	return fmt.Sprint("call number ", number)
}

// filter is the program that says which calls are asked about: those of the list, but for
// mmap of memory that is no file's, as Go's own.
// Source: seccomp(2), struct seccomp_data: the number at 0, argument 3, the flags of mmap, at 40.
func filter() []unix.SockFilter {
	const number, flags = 0, 40
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	answer := func(a uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: a} }
	const equal, bits = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	f := []unix.SockFilter{
		load(number),
		{Code: equal, K: unix.SYS_MMAP, Jf: 2},
		load(flags), // little endian; the upper half is unused
		{Code: bits, K: unix.MAP_ANONYMOUS, Jt: uint8(len(calls)), Jf: uint8(len(calls) + 1)},
	}
	for i, c := range calls {
		f = append(f, unix.SockFilter{Code: equal, K: c.number, Jt: uint8(len(calls) - i)})
	}
	return append(f, answer(unix.SECCOMP_RET_ALLOW), answer(unix.SECCOMP_RET_USER_NOTIF))
}
