// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"errors"
	"net"
	"syscall"
)

// A rawConn is the descriptor of a socket, for what neither reads nor writes.
type rawConn struct{ syscall.RawConn }

func (rawConn) Read(func(fd uintptr) bool) error { return errors.ErrUnsupported }

func (rawConn) Write(func(fd uintptr) bool) error { return errors.ErrUnsupported }

// SyscallConn implements backend.Socket.
func (s *Socket) SyscallConn() (syscall.RawConn, error) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil, net.ErrClosed
	}
	c, err := s.line().conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	return rawConn{c}, nil
}

// SetWriteBuffer implements backend.Socket.
func (s *Socket) SetWriteBuffer(bytes int) error {
	c, err := s.SyscallConn()
	if err != nil {
		return err
	}
	return setSendBuffer(c, bytes)
}
