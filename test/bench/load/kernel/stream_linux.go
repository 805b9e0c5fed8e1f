// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/bench/load"
)

// A StreamConfig says what one end of streams is.
type StreamConfig struct {
	Name    string // printed
	End     int    // 1 listens, 0 connects
	Wait    Wait
	Family  int           // of the sockets
	Addr    unix.Sockaddr // where end 1 listens
	Options func(fd int) error
}

// A Stream is one end of connections, a new one for each job.
type Stream struct {
	c      StreamConfig
	listen int // -1 at end 0
}

var _ load.Load = (*Stream)(nil)

// OpenStream listens, at end 1.
func OpenStream(c StreamConfig) (*Stream, error) {
	if !c.Wait.known() {
		return nil, fmt.Errorf("%s: there is no such way to wait", c.Name)
	}
	e := &Stream{c: c, listen: -1}
	if c.End == 0 {
		return e, nil
	}
	fd, err := newSocket(c.Family, unix.SOCK_STREAM, c.Options)
	if err != nil {
		return nil, err
	}
	e.listen = fd
	if err := unix.Bind(fd, c.Addr); err != nil {
		return nil, errors.Join(os.NewSyscallError("bind", err), e.Close())
	}
	if err := unix.Listen(fd, 4); err != nil {
		return nil, errors.Join(os.NewSyscallError("listen", err), e.Close())
	}
	return e, nil
}

// newSocket opens a socket with its options.
func newSocket(family, kind int, options func(fd int) error) (int, error) {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	if err := options(fd); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// Info says what is measured.
func (e *Stream) Info() load.Info { return load.Info{Driver: e.c.Name} }

// Close stops listening.
func (e *Stream) Close() error {
	if e.listen < 0 {
		return nil
	}
	fd := e.listen
	e.listen = -1
	return unix.Close(fd)
}

// Run does one job on a connection of its own.
func (e *Stream) Run(ctx context.Context, j load.Job) (load.Result, error) {
	c, err := e.connect(ctx)
	if err != nil {
		return load.Result{}, err
	}
	return runStream(ctx, c, j)
}

// connect makes the job's connection, within the time that ctx leaves.
func (e *Stream) connect(ctx context.Context) (conn, error) {
	fd, err := e.socket(ctx)
	if err != nil {
		return nil, err
	}
	switch e.c.Wait {
	case Spin:
		return spinning(fd), unix.SetNonblock(fd, true)
	case Block:
		return newBlocking(fd), nil
	}
	f := os.NewFile(uintptr(fd), e.c.Name)
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	return goConn{c}, nil
}

// socket connects or accepts. The ends do not begin at the same moment, but end 1
// has listened since it was opened.
func (e *Stream) socket(ctx context.Context) (int, error) {
	if e.c.End == 0 {
		fd, err := newSocket(e.c.Family, unix.SOCK_STREAM, e.c.Options)
		if err != nil {
			return -1, err
		}
		if err := unix.Connect(fd, e.c.Addr); err != nil {
			unix.Close(fd)
			return -1, os.NewSyscallError("connect", err)
		}
		return fd, nil
	}
	for ctx.Err() == nil {
		poll := []unix.PollFd{{Fd: int32(e.listen), Events: unix.POLLIN}}
		if n, err := unix.Poll(poll, 100); n == 0 || err == unix.EINTR {
			continue
		}
		fd, _, err := unix.Accept4(e.listen, unix.SOCK_CLOEXEC)
		if err != nil {
			return -1, os.NewSyscallError("accept", err)
		}
		return fd, e.c.Options(fd)
	}
	return -1, errors.New("nobody has connected")
}
