// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"errors"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/bench/load"
)

// errNothing means that nothing has come, or could be sent, for as long as the timeout lasts
// or since the job was stopped.
var errNothing = errors.New("nothing has come")

// packets is a connected socket of datagrams, however its calls wait.
type packets interface {
	Read(b []byte, stop *load.Stop) (int, error)
	Write(b []byte, stop *load.Stop) error
	Close() error
}

// newPackets makes one of a descriptor, which stays the caller's.
func newPackets(fd int, c DatagramConfig) (packets, error) {
	switch c.Wait {
	case Spin:
		return spinningPackets(fd), unix.SetNonblock(fd, true)
	case Block:
		return blockingPackets(fd), timeouts(fd)
	}
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	f := os.NewFile(uintptr(own), c.Name)
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	return &goPackets{conn: conn}, nil
}

// timeouts has blocking calls end when the timeout does.
func timeouts(fd int) error {
	d := unix.NsecToTimeval(int64(timeout))
	for _, option := range []int{unix.SO_RCVTIMEO, unix.SO_SNDTIMEO} {
		if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, option, &d); err != nil {
			return os.NewSyscallError("setsockopt timeout", err)
		}
	}
	return nil
}

// passing reports whether a call may be made again: nothing was there, there was no room,
// or the other end had no socket yet when something was sent to it.
func passing(err error) bool {
	switch err {
	case unix.EAGAIN, unix.EINTR, unix.ENOBUFS, unix.ECONNREFUSED:
		return true
	}
	return false
}

// spinningPackets calls the kernel until it has or takes something.
type spinningPackets int

// lookEvery is how many calls in vain go by between two looks at the clock.
const lookEvery = 256

func (c spinningPackets) Read(b []byte, stop *load.Stop) (n int, err error) {
	return n, spin("read", stop, func() (errno unix.Errno) {
		n, errno = rawRead(int(c), b)
		return errno
	})
}

func (c spinningPackets) Write(b []byte, stop *load.Stop) error {
	return spin("write", stop, func() unix.Errno {
		_, errno := rawWrite(int(c), b)
		return errno
	})
}

func (c spinningPackets) Close() error { return nil }

// spin makes a call until it succeeds.
func spin(what string, stop *load.Stop, call func() unix.Errno) error {
	var begin time.Time
	for turn := 1; ; turn++ {
		switch errno := call(); {
		case errno == 0:
			return nil
		case !passing(errno):
			return os.NewSyscallError(what, errno)
		case turn%lookEvery != 0:
			continue
		}
		now := time.Now()
		if begin.IsZero() {
			begin = now
		}
		if stop.Load() || now.Sub(begin) > timeout {
			return errNothing
		}
	}
}

// blockingPackets sleeps in the kernel.
type blockingPackets int

func (c blockingPackets) Read(b []byte, _ *load.Stop) (int, error) {
	n, err := unix.Read(int(c), b)
	return n, asleep("read", err)
}

func (c blockingPackets) Write(b []byte, _ *load.Stop) error {
	_, err := unix.Write(int(c), b)
	return asleep("write", err)
}

func (c blockingPackets) Close() error { return nil }

func asleep(what string, err error) error {
	if passing(err) {
		return errNothing
	}
	return os.NewSyscallError(what, err)
}

// goPackets is a socket of package net. Its deadline is between one and two times the timeout
// away, as setting it anew for each call would cost what a call does.
type goPackets struct {
	conn net.Conn
	due  time.Time
}

func (c *goPackets) Read(b []byte, _ *load.Stop) (int, error) {
	if err := c.prolong(); err != nil {
		return 0, err
	}
	n, err := c.conn.Read(b)
	return n, c.waited(err)
}

func (c *goPackets) Write(b []byte, _ *load.Stop) error {
	if err := c.prolong(); err != nil {
		return err
	}
	_, err := c.conn.Write(b)
	return c.waited(err)
}

func (c *goPackets) Close() error { return c.conn.Close() }

func (c *goPackets) prolong() error {
	now := time.Now()
	if c.due.Sub(now) > timeout {
		return nil
	}
	c.due = now.Add(2 * timeout)
	return c.conn.SetDeadline(c.due)
}

func (c *goPackets) waited(err error) error {
	var errno unix.Errno
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &errno) && passing(errno) {
		return errNothing
	}
	return err
}
