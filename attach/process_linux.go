// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// A Process is a process at the other end of a connection. Unlike its number it is never
// another process.
type Process struct{ fd int }

// Process returns the process that connected, with a descriptor that its Close closes. Before
// Linux 6.5 it is the one that has the number now. Errors: os.ErrProcessDone; of a process
// without a number, or without a descriptor for it, the system's.
func (c *Conn) Process() (*Process, error) {
	who, err := c.Credentials()
	if err != nil {
		return nil, err
	}
	fd := -1
	var failed error
	err = c.s.Control(func(own uintptr) {
		fd, failed = unix.GetsockoptInt(int(own), unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	})
	switch {
	case err != nil:
		return nil, err
	case failed == unix.ENOPROTOOPT:
		fd, failed = unix.PidfdOpen(who.PID, 0)
	case failed == unix.EINVAL: // what the option says of one that is gone
		failed = unix.ESRCH
	}
	switch {
	case failed == unix.ESRCH:
		return nil, os.ErrProcessDone
	case failed != nil:
		return nil, os.NewSyscallError("SO_PEERPIDFD", failed)
	}
	return &Process{fd}, nil
}

// Ended reports whether the process has ended.
func (p *Process) Ended() bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}, 0)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n > 0
		}
	}
}

// Close closes the descriptor.
func (p *Process) Close() error { return unix.Close(p.fd) }

// Inode is the number of this end's socket, by which sock_diag(7) finds the other end.
func (c *Conn) Inode() (uint64, error) {
	var st unix.Stat_t
	var failed error
	err := c.s.Control(func(fd uintptr) { failed = unix.Fstat(int(fd), &st) })
	return st.Ino, errors.Join(err, failed)
}
