// SPDX-License-Identifier: Apache-2.0

package hop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/bench/load"
)

// A slot is one way of the shared memory: a number that says how many messages have been
// put there, and the latest. They are lines of their own, as a ring would have them.
type slot struct {
	put  atomic.Uint32
	_    [64 - 4]byte
	data [maxShared]byte
}

// maxShared is the longest message, in bytes.
const maxShared = 4096 - 64

// slots are both ways: 0 is from end 0.
type slots [2]slot

// A Shared is one end of the shared memory.
type Shared struct {
	end int
	s   *slots
	mem []byte
	n   uint32 // messages that came the other way
}

// OpenShared maps the file at path, which end 1 makes, and both may remove.
func OpenShared(path string, end int) (*Shared, error) {
	flags := os.O_RDWR
	if end == 1 {
		flags |= os.O_CREATE | os.O_EXCL
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := int(unsafe.Sizeof(slots{}))
	if end == 1 {
		if err := f.Truncate(int64(size)); err != nil {
			return nil, err
		}
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return &Shared{end: end, s: (*slots)(unsafe.Pointer(&mem[0])), mem: mem}, nil
}

// Info implements load.Load.
func (s *Shared) Info() load.Info { return load.Info{Driver: "shared memory"} }

// Close implements load.Load.
func (s *Shared) Close() error { return unix.Munmap(s.mem) }

// lookEvery is how many empty looks at the memory go by between two at the clock.
const lookEvery = 1 << 12

// await spins until a message has come the other way, and copies it.
func (s *Shared) await(stop *load.Stop, b []byte) bool {
	from := &s.s[1-s.end]
	for turn := 1; from.put.Load() == s.n; turn++ {
		if turn%lookEvery == 0 && stop.Load() {
			return false
		}
	}
	s.n++
	copy(b, from.data[:])
	return true
}

func (s *Shared) put(b []byte) {
	to := &s.s[s.end]
	copy(to.data[:], b)
	to.put.Add(1)
}

// Run implements load.Load.
func (s *Shared) Run(ctx context.Context, j load.Job) (load.Result, error) {
	if j.Size > maxShared {
		return load.Result{}, fmt.Errorf("%d bytes, at most %d", j.Size, maxShared)
	}
	stop := load.StopOn(ctx)
	defer stop.Release()
	b := make([]byte, j.Size)
	switch j.Kind {
	case load.Ping:
		t := load.NewTrips(j.For)
		for more := true; more; more = t.Next() {
			if s.put(b); !s.await(stop, b) {
				break
			}
		}
		return t.Result(j.Size), nil
	case load.Pong:
		var c load.Count
		var r load.Result
		for s.await(stop, b) {
			s.put(b)
			c.Add(2)
		}
		c.Fill(&r)
		return r, nil
	}
	return load.Result{}, errors.New("shared memory has round trips alone")
}
