// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// The program may have the descriptor of an answer, and close it, before the daemon has closed its
// own: the socket would seem to have another. So each request waits until none is being given.

// Give writes an answer with its descriptor, which it closes.
func (s *Sockets) Give(c *attach.Conn, r *attach.Header, a Answer) error {
	err := s.tryGive(c, r, a)
	if err == syscall.EAGAIN { // nobody waits for who waits for room
		err = c.WriteFD(r, a.Data, a.FD)
		unix.Close(a.FD)
	}
	return err
}

// tryGive is Give that does not wait. With the error syscall.EAGAIN the descriptor stays the caller's.
func (s *Sockets) tryGive(c *attach.Conn, r *attach.Header, a Answer) error {
	s.giving.RLock()
	defer s.giving.RUnlock()
	err := c.TryWriteFD(r, a.Data, a.FD)
	if err != syscall.EAGAIN {
		unix.Close(a.FD)
	}
	return err
}

// given waits until no descriptor is being given.
func (s *Sockets) given() {
	s.giving.Lock()
	defer s.giving.Unlock()
}
