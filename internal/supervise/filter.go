// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// served are the calls that the supervisor is told of; of those in chosen it is told if an argument has one of some
// values.
var served = []uint32{
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4, unix.SYS_CONNECT,
	unix.SYS_GETSOCKNAME, unix.SYS_GETPEERNAME, unix.SYS_GETSOCKOPT, unix.SYS_SETSOCKOPT, unix.SYS_SHUTDOWN,
	unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDMMSG, unix.SYS_RECVFROM, unix.SYS_RECVMSG, unix.SYS_RECVMMSG,
	unix.SYS_IOCTL,
}

// A choice is an argument, of which the lower half counts, and its values.
type choice struct {
	argument int
	values   []uint32
}

var chosen = map[uint32]choice{
	unix.SYS_SOCKET:     {0, []uint32{attach.AFTIPC}},
	unix.SYS_SOCKETPAIR: {0, []uint32{attach.AFTIPC}},
	unix.SYS_IOCTL:      {1, requests},
}

// architecture is that of the numbers in served: calls by other tables, as of 32-bit programs, go to the
// kernel.
var architecture = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]

// Offsets in struct seccomp_data.
const (
	offsetNumber   = 0
	offsetArch     = 4
	offsetArgument = 16 // the lower half of the first; each has 8 bytes
)

// filter is the program of the filter.
func filter() []unix.SockFilter {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	equal := func(k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	end := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }

	f := []unix.SockFilter{load(offsetArch), equal(architecture, 1, 0), end(unix.SECCOMP_RET_ALLOW), load(offsetNumber)}
	for _, n := range served {
		c, ok := chosen[n]
		if !ok {
			f = append(f, equal(n, 0, 1), end(unix.SECCOMP_RET_USER_NOTIF))
			continue
		}
		f = append(f, equal(n, 0, uint8(len(c.values)+3)), load(offsetArgument+8*uint32(c.argument)))
		for i, v := range c.values {
			f = append(f, equal(v, uint8(len(c.values)-i), 0))
		}
		f = append(f, end(unix.SECCOMP_RET_ALLOW), end(unix.SECCOMP_RET_USER_NOTIF))
	}
	return append(f, end(unix.SECCOMP_RET_ALLOW))
}
