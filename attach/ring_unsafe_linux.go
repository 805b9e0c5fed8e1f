// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"errors"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/callfault"
)

// seals are what the memory of a ring must have: its length stays as it is, so that
// nobody can make a look at it a SIGBUS.
const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// A Ring is memory that two processes share, see ring.go. It is used by giving it to a
// Conn, once.
type Ring struct {
	mem []byte
	out producer
	in  consumer
}

// MakeRing makes a ring of size bytes each way, a size of RingSize, for the daemon's
// end. fd is the memory, sealed; it is the caller's, to be passed to the program and
// closed.
func MakeRing(size int) (r *Ring, fd int, err error) {
	if n, ok := RingSize(uint32(size)); !ok || n != size {
		return nil, -1, os.NewSyscallError("ring", unix.EINVAL)
	}
	if e := callfault.Answer(callfault.RingMake); e != 0 {
		return nil, -1, os.NewSyscallError("memfd_create", e)
	}
	fd, err = unix.MemfdCreate("utipc-ring", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // a kernel before 6.3
		fd, err = unix.MemfdCreate("utipc-ring", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, -1, os.NewSyscallError("memfd_create", err)
	}
	if err = unix.Ftruncate(fd, int64(ringPage+2*size)); err != nil {
		err = os.NewSyscallError("ftruncate", err)
	} else if _, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		err = os.NewSyscallError("F_ADD_SEALS", err)
	} else if r, err = mapRing(fd, size, ringIn, ringOut); err == nil {
		for i, v := range []uint32{ringMagic, ringVersion, uint32(size)} {
			atomic.StoreUint32(r.word(4*i), v)
		}
		return r, fd, nil
	}
	unix.Close(fd)
	return nil, -1, err
}

// MapRing makes the program's end of a ring of size bytes each way of what the daemon
// has passed, which it closes. Errors: ErrRing when that is no such memory, or its
// length may change.
func MapRing(fd, size int) (*Ring, error) {
	defer unix.Close(fd)
	if n, ok := RingSize(uint32(size)); !ok || n != size {
		return nil, ErrRing
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, os.NewSyscallError("fstat", err)
	}
	has, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || has&seals != seals || has&(unix.F_SEAL_WRITE|unix.F_SEAL_FUTURE_WRITE) != 0 || st.Size != int64(ringPage+2*size) {
		return nil, ErrRing
	}
	r, err := mapRing(fd, size, ringOut, ringIn)
	if err != nil {
		return nil, err
	}
	if atomic.LoadUint32(r.word(0)) != ringMagic || atomic.LoadUint32(r.word(4)) != ringVersion || atomic.LoadUint32(r.word(8)) != uint32(size) {
		r.unmap()
		return nil, ErrRing
	}
	return r, nil
}

// mapRing maps the memory; out and in are where the indices of the two ways lie.
func mapRing(fd, size, out, in int) (*Ring, error) {
	if e := callfault.Answer(callfault.RingMap); e != 0 {
		return nil, os.NewSyscallError("mmap of a ring", e)
	}
	mem, err := unix.Mmap(fd, 0, ringPage+2*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap of a ring", err)
	}
	_ = unix.Madvise(mem, unix.MADV_DONTFORK) // it is this process's alone
	return ringOver(mem, size, out, in), nil
}

func ringOver(mem []byte, size, out, in int) *Ring {
	r := &Ring{mem: mem}
	way := func(at int) (indices, []byte) {
		begin := ringPage
		if at == ringIn {
			begin += size
		}
		return indices{r.word(at + ringHead), r.word(at + ringTail), r.word(at + ringConsumerWants), r.word(at + ringProducerWants)},
			mem[begin : begin+size : begin+size]
	}
	r.out.indices, r.out.mem = way(out)
	r.in.indices, r.in.mem = way(in)
	return r
}

// word is the u32 at an offset that is a multiple of 4, within the first page.
func (r *Ring) word(at int) *uint32 { return (*uint32)(unsafe.Pointer(&r.mem[at])) }

// unmap gives the memory back, once. Nobody uses the ring any more.
func (r *Ring) unmap() {
	if r.mem != nil {
		_ = unix.Munmap(r.mem)
		*r = Ring{}
	}
}

// Close gives back the memory of a ring that was not given to a Conn.
func (r *Ring) Close() { r.unmap() }
