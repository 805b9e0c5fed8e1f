// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestServeRingRefuses(t *testing.T) {
	for _, size := range []uint32{1, 64 << 10, MinRing + 1, 2 * MaxRing, 1 << 31} {
		a, b := pair(t)
		before := descriptors(t)
		h := Header{Op: OpRing, ID: 5, Arg0: size}
		refused, err := b.ServeRing(&h)
		if err != nil || refused != syscall.EINVAL {
			t.Errorf("size %d: refused %v, %v", size, refused, err)
		}
		if err := b.RefuseRing(&h, refused); err != nil {
			t.Fatal(err)
		}
		_, fd, err := a.ReadFD(&h, nil)
		if err != nil || fd != -1 || h.Errno != syscall.EINVAL || h.ID != 5 {
			t.Errorf("size %d: %v, descriptor %d, %v", size, &h, fd, err)
		}
		if err := a.TakeRing(&h, fd); err != syscall.EINVAL || a.HasRing() || b.HasRing() {
			t.Errorf("size %d: %v", size, err)
		}
		if now := descriptors(t); now > before {
			t.Errorf("size %d: %d descriptors, %d before", size, now, before)
		}
		if err := a.Write(&h, nil); err != nil { // it goes on without
			t.Error(err)
		}
		if _, err := b.Read(&h, nil); err != nil {
			t.Error(err)
		}
	}
	a, b := ringPair(t, MinRing)
	h := Header{Op: OpRing, ID: 5}
	refused, err := b.ServeRing(&h)
	if err != nil || refused != syscall.EALREADY {
		t.Errorf("a second ring: %v, %v", refused, err)
	}
	if err := b.RefuseRing(&h, refused); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Read(&h, nil); err != nil || h.Errno != syscall.EALREADY {
		t.Errorf("a second ring: %v, %v", &h, err)
	}
}

// What is passed as a ring is looked at before it is mapped.
func TestMapRingRefuses(t *testing.T) {
	memory := func(size int64, seal int) int {
		fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Ftruncate(fd, size); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seal); err != nil {
			t.Fatal(err)
		}
		return fd
	}
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[1])
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := unix.Open(filepath.Join(t.TempDir(), "f"), unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	whole := int64(ringPage + 2*MinRing)
	for name, fd := range map[string]int{
		"not sealed": memory(whole, unix.F_SEAL_SEAL), "may shrink": memory(whole, unix.F_SEAL_GROW|unix.F_SEAL_SEAL),
		"seals may be added": memory(whole, unix.F_SEAL_GROW|unix.F_SEAL_SHRINK), "not to be written": memory(whole, seals|unix.F_SEAL_WRITE),
		"a byte short": memory(whole-1, seals), "a byte more": memory(whole+1, seals), "empty": memory(0, seals),
		"nothing in it": memory(whole, seals), "a pipe": pipe[0], "a device": null, "a file": plain, "none": -1,
	} {
		if r, err := MapRing(fd, MinRing); err == nil {
			r.Close()
			t.Errorf("%s: is mapped", name)
		} else if fd >= 0 {
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
				t.Errorf("%s: is left open", name)
			}
		}
	}
	// Of the daemon's own memory nobody can change the length.
	r, fd, err := MakeRing(MinRing)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer unix.Close(fd)
	for _, size := range []int64{0, whole - 1, whole + 1} {
		if err := unix.Ftruncate(fd, size); err == nil {
			t.Errorf("the length was changed to %d", size)
		}
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE); err == nil {
		t.Error("a seal was added")
	}
}

// A peer that scribbles over the ring while we use it ends its own connection, or
// makes its own records wrong, and that is all.
//
// Proves: daemon.harmless
func TestRingCorrupted(t *testing.T) {
	for seed := range uint64(20) {
		a, b := ringPair(t, MinRing)
		mem := a.ring.Load().ring.mem
		r := rand.New(rand.NewPCG(seed, 2))
		var wait sync.WaitGroup
		wait.Go(func() { // the daemon's end echoes
			defer b.Close()
			var h Header
			for range 2000 {
				buf, err := b.ReadPooled(&h)
				if err != nil {
					return
				}
				err = b.Write(&h, buf.Data)
				buf.Release()
				if err != nil {
					return
				}
			}
		})
		for range 300 {
			if a.TryWrite(&Header{Op: OpSend}, make([]byte, r.IntN(3000))) != nil {
				break
			}
			_, err := a.TryRead(new(Header), nil)
			if err != nil && !errors.Is(err, syscall.EAGAIN) {
				break
			}
			at := ringOut + r.IntN(8)*128
			if r.IntN(2) == 0 {
				at = ringPage + r.IntN(len(mem)-ringPage-4)
			}
			if r.IntN(20) == 0 {
				binary.NativeEndian.PutUint32(mem[at:], r.Uint32()>>r.IntN(32))
			}
		}
		a.Close()
		wait.Wait()
	}
}
