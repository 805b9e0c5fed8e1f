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
func verdict(t *testing.T, f []unix.SockFilter, number, arch uint32, argument uint64) uint32 {
	t.Helper()
	e := binary.NativeEndian
	data := make([]byte, 64) // struct seccomp_data
	e.PutUint32(data[offsetNumber:], number)
	e.PutUint32(data[offsetArch:], arch)
	e.PutUint64(data[offsetArgument:], argument)
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

// The supervisor is told of the calls of sockets, of socket and socketpair those of AF_TIPC alone, and of
// no call by another architecture's table. Mutations: a jump is shorter or longer by one; the
// architecture is not compared.
//
// Proves: plain.supervised
func TestFilter(t *testing.T) {
	const last = 500
	f := filter()
	for number := range uint32(last) {
		for _, family := range []uint64{unix.AF_UNIX, attach.AFTIPC, 1<<32 | attach.AFTIPC} {
			made := number == unix.SYS_SOCKET || number == unix.SYS_SOCKETPAIR
			want := uint32(unix.SECCOMP_RET_ALLOW)
			if slices.Contains(served, number) && (!made || uint32(family) == attach.AFTIPC) {
				want = unix.SECCOMP_RET_USER_NOTIF
			}
			if got := verdict(t, f, number, architecture, family); got != want {
				t.Errorf("call %d of family %#x: %#x, want %#x", number, family, got, want)
			}
			if got := verdict(t, f, number, unix.AUDIT_ARCH_I386, family); got != unix.SECCOMP_RET_ALLOW {
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
