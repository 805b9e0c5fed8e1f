// SPDX-License-Identifier: Apache-2.0

//go:build linux

package embedded

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Poll says what each of the sockets is ready for, in the bits of poll(2). With turn it drives the node once before that.
func (n *Node) Poll(handles []int32, ready []uint16, turn bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		var k int
		if turn {
			k = n.p.Turn(n.ready[:])
			turn = false
		} else {
			k = n.p.Take(n.ready[:])
		}
		for _, r := range n.ready[:k] {
			r.Owner.(*Socket).fresh = true
		}
		clear(n.ready[:k])
		if k < len(n.ready) {
			break
		}
	}
	for s := range n.blocked {
		s.sendWaiting()
	}
	for i, h := range handles {
		ready[i] = unix.POLLNVAL
		if s := n.of[h]; s != nil {
			ready[i] = s.readiness()
		}
	}
}

// Arm returns a descriptor that becomes readable when a socket has become ready, until Disarm. The caller calls Poll once more,
// without turn, before it sleeps. Errors: those of eventfd(2).
func (n *Node) Arm() (int, error) {
	fd, err := n.bells.add()
	if err != nil {
		return -1, err
	}
	n.mu.Lock()
	for s := range n.blocked {
		s.sendLater()
	}
	n.mu.Unlock()
	n.p.Rest()
	return fd, nil
}

// pause is how often a goroutine looks for room while the program does not.
const pause = time.Millisecond

// block notes that something of a socket waits for room. The program may never ask for it again. The lock is held.
func (n *Node) block(s *Socket) {
	n.blocked[s] = struct{}{}
	if n.watching {
		return
	}
	n.watching = true
	n.wg.Go(func() {
		for tick := time.NewTicker(pause); ; <-tick.C {
			n.mu.Lock()
			before := len(n.blocked)
			for s := range n.blocked {
				s.sendWaiting()
			}
			if len(n.blocked) < before {
				n.bells.ring()
			}
			if n.watching = len(n.blocked) > 0; !n.watching {
				tick.Stop()
				n.mu.Unlock()
				return
			}
			n.mu.Unlock()
		}
	})
}

// Disarm takes the descriptor back.
func (n *Node) Disarm(fd int) { n.bells.remove(fd) }

// bells are the descriptors of threads that sleep.
type bells struct {
	armed atomic.Int32

	mu   sync.Mutex // guards the rest; no call under it waits
	on   []int
	free []int
}

// ring makes all of them readable. It may be called with any lock.
func (b *bells) ring() {
	if b.armed.Load() == 0 {
		return
	}
	one := binary.NativeEndian.AppendUint64(nil, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, fd := range b.on {
		_, _ = unix.Write(fd, one) // full is readable
	}
}

func (b *bells) add() (fd int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k := len(b.free); k > 0 {
		fd, b.free = b.free[k-1], b.free[:k-1]
	} else if fd, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return -1, err
	}
	b.on = append(b.on, fd)
	b.armed.Add(1)
	return fd, nil
}

func (b *bells) remove(fd int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, o := range b.on {
		if o == fd {
			b.on[i] = b.on[len(b.on)-1]
			b.on = b.on[:len(b.on)-1]
			b.armed.Add(-1)
			var count [8]byte
			_, _ = unix.Read(fd, count[:])
			b.free = append(b.free, fd)
			return
		}
	}
}
