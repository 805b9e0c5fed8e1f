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
			k = n.p.PollOnce(n.ready[:])
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
	fd, err := n.wakers.add()
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
				n.wakers.wake()
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
func (n *Node) Disarm(fd int) { n.wakers.remove(fd) }

// wakers are the descriptors of threads that sleep.
type wakers struct {
	armed atomic.Int32

	mu   sync.Mutex // guards the rest; no call under it waits
	on   []int
	free []int
}

// wake makes all of them readable. It may be called with any lock.
func (w *wakers) wake() {
	if w.armed.Load() == 0 {
		return
	}
	one := binary.NativeEndian.AppendUint64(nil, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, fd := range w.on {
		_, _ = unix.Write(fd, one) // full is readable
	}
}

func (w *wakers) add() (fd int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if k := len(w.free); k > 0 {
		fd, w.free = w.free[k-1], w.free[:k-1]
	} else if fd, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return -1, err
	}
	w.on = append(w.on, fd)
	w.armed.Add(1)
	return fd, nil
}

func (w *wakers) remove(fd int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, o := range w.on {
		if o == fd {
			w.on[i] = w.on[len(w.on)-1]
			w.on = w.on[:len(w.on)-1]
			w.armed.Add(-1)
			var count [8]byte
			_, _ = unix.Read(fd, count[:])
			w.free = append(w.free, fd)
			return
		}
	}
}
