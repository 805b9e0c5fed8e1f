// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// verdict is what a filter returns for a call: a machine for the instructions that filter uses.
func verdict(t *testing.T, f []unix.SockFilter, number, arch uint32, arguments ...uint64) uint32 {
	t.Helper()
	e := binary.NativeEndian
	data := make([]byte, 64) // struct seccomp_data
	e.PutUint32(data[offsetNumber:], number)
	e.PutUint32(data[offsetArch:], arch)
	for i, v := range arguments {
		e.PutUint64(data[offsetArgument+8*i:], v)
	}
	var a uint32
	for i := 0; i < len(f); i++ {
		switch in := f[i]; in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = e.Uint32(data[in.K:])
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			if a == in.K {
				i += int(in.Jt)
			} else {
				i += int(in.Jf)
			}
		case unix.BPF_RET | unix.BPF_K:
			return in.K
		default:
			t.Fatalf("instruction %d: %+v", i, in)
		}
	}
	t.Fatal("the filter does not end")
	return 0
}

// The supervisor is told of the calls of sockets, of socket and socketpair those of AF_TIPC alone, of
// ioctl what TIPC answers otherwise than a UNIX socket, and of no call by another architecture's table. Mutations it
// catches: a jump is shorter or longer by one; the architecture is not compared; the first argument is taken for the second.
//
// Proves: plain.supervised
func TestFilter(t *testing.T) {
	const last = 500
	f := filter()
	for number := range uint32(last) {
		for _, a := range [][2]uint64{
			{unix.AF_UNIX},
			{attach.AFTIPC},
			{1<<32 | attach.AFTIPC},
			{attach.AFTIPC, nodeIDRequest},
			{nodeIDRequest},
			{0, linkNameRequest},
			{0, unreadRequest},
			{0, unix.TIOCOUTQ},
			{0, 1<<32 | atMarkRequest},
			{0, unix.TIOCGWINSZ},
		} {
			want := uint32(unix.SECCOMP_RET_ALLOW)
			told := slices.Contains(served, number)
			switch number {
			case unix.SYS_SOCKET, unix.SYS_SOCKETPAIR:
				told = uint32(a[0]) == attach.AFTIPC
			case unix.SYS_IOCTL:
				told = slices.Contains([]uint32{nodeIDRequest, linkNameRequest, unreadRequest, unix.TIOCOUTQ, atMarkRequest}, uint32(a[1]))
			}
			if told {
				want = unix.SECCOMP_RET_USER_NOTIF
			}
			if got := verdict(t, f, number, architecture, a[:]...); got != want {
				t.Errorf("call %d with %#x: %#x, want %#x", number, a, got, want)
			}
			if got := verdict(t, f, number, unix.AUDIT_ARCH_I386, a[:]...); got != unix.SECCOMP_RET_ALLOW {
				t.Errorf("call %d of another architecture: %#x", number, got)
			}
		}
	}
	for _, not := range []uint32{unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE} {
		if slices.Contains(served, not) {
			t.Errorf("call %d is served: it would cost all programs", not)
		}
	}
}
