// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// yielders let a goroutine that never runs out of work wait behind whoever's connection has
// become readable meanwhile. To yield is not enough: as long as any goroutine can run the
// runtime does not look at descriptors, but every 10 ms. So the goroutine makes a
// descriptor of its own readable and waits for that as others wait for theirs: the runtime
// looks, finds all of them, and they run in turn. It costs some 2 µs.
type yielders struct {
	mu   sync.Mutex // guards free
	free []*yielder
}

// mostYielders is how many descriptors are kept.
const mostYielders = 64

type yielder struct {
	f    *os.File // an eventfd
	raw  syscall.RawConn
	look func(fd uintptr) bool
	rung bool
}

func newYielder() (*yielder, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	b := &yielder{f: os.NewFile(uintptr(fd), "yielder")}
	if b.raw, err = b.f.SyscallConn(); err != nil {
		b.f.Close()
		return nil, err
	}
	b.look = func(fd uintptr) bool {
		var buf [8]byte
		if !b.rung {
			b.rung = true
			buf[0] = 1
			unix.Write(int(fd), buf[:])
			return false
		}
		_, err := unix.Read(int(fd), buf[:])
		return err != unix.EAGAIN
	}
	return b, nil
}

// take waits until others had their turn.
func (s *yielders) take() {
	s.mu.Lock()
	var b *yielder
	if k := len(s.free); k > 0 {
		b, s.free = s.free[k-1], s.free[:k-1]
	}
	s.mu.Unlock()
	if b == nil {
		var err error
		if b, err = newYielder(); err != nil {
			return // without descriptors it does without
		}
	}
	b.rung = false
	b.raw.Read(b.look)
	s.mu.Lock()
	keep := len(s.free) < mostYielders
	if keep {
		s.free = append(s.free, b)
	}
	s.mu.Unlock()
	if !keep {
		b.f.Close()
	}
}

// close gives the descriptors back.
func (s *yielders) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.free {
		b.f.Close()
	}
	s.free = nil
}
