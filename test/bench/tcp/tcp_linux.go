// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/bench/load"
)

// congestion is the congestion control of every connection: the kernel's default
// differs from host to host.
const congestion = "cubic"

// port is where end 1 listens.
const port = 7100

// largest is how many bytes are read or written in one call, at most.
const largest = 64 << 10

// A Config says which end this is.
type Config struct {
	End  int    // 1 listens
	Addr string // end 1's IPv4 address
	Wait Wait
}

// An End is one end of connections.
type End struct {
	c      Config
	addr   unix.SockaddrInet4
	listen int // -1 at end 0
}

var _ load.Load = (*End)(nil)

// Open listens, at end 1.
func Open(c Config) (*End, error) {
	e := &End{c: c, listen: -1, addr: unix.SockaddrInet4{Port: port}}
	ip := net.ParseIP(c.Addr).To4()
	if ip == nil {
		return nil, fmt.Errorf("%q is no IPv4 address", c.Addr)
	}
	copy(e.addr.Addr[:], ip)
	if c.End == 0 {
		return e, nil
	}
	fd, err := newSocket()
	if err != nil {
		return nil, err
	}
	e.listen = fd
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	if err := unix.Bind(fd, &e.addr); err != nil {
		return nil, errors.Join(os.NewSyscallError("bind", err), e.Close())
	}
	if err := unix.Listen(fd, 4); err != nil {
		return nil, errors.Join(os.NewSyscallError("listen", err), e.Close())
	}
	return e, nil
}

// newSocket opens a socket as all of them are.
func newSocket() (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	if err := options(fd); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func options(fd int) error {
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return os.NewSyscallError("setsockopt TCP_NODELAY", err)
	}
	err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, congestion)
	return os.NewSyscallError("setsockopt TCP_CONGESTION "+congestion, err)
}

// Info says what is measured.
func (e *End) Info() load.Info { return load.Info{Driver: "TCP, " + string(e.c.Wait)} }

// Close stops listening.
func (e *End) Close() error {
	if e.listen < 0 {
		return nil
	}
	fd := e.listen
	e.listen = -1
	return unix.Close(fd)
}

// Run does one job on a connection of its own.
func (e *End) Run(ctx context.Context, j load.Job) (load.Result, error) {
	c, err := e.connect(ctx)
	if err != nil {
		return load.Result{}, err
	}
	defer c.Close()
	defer load.OnStop(ctx, c.Shutdown)()
	stop := load.StopOn(ctx)
	defer stop.Release()
	switch j.Kind {
	case load.Ping:
		return ping(stop, c, j)
	case load.Pong:
		return pong(c, j)
	case load.Send:
		return send(c, j)
	case load.Receive:
		return receive(c, j)
	}
	return load.Result{}, fmt.Errorf("TCP cannot %q", j.Kind)
}

// A conn is a connection, however its calls wait. Read and Write move some bytes;
// Read returns 0 at the end of the stream.
type conn interface {
	Read(b []byte) (int, error)
	Write(b []byte) (int, error)
	Shutdown() // makes waiting calls return
	Close() error
}

// connect makes the job's connection, within the time that ctx leaves.
func (e *End) connect(ctx context.Context) (conn, error) {
	fd, err := e.socket(ctx)
	if err != nil {
		return nil, err
	}
	switch e.c.Wait {
	case Spin:
		return spinning(fd), unix.SetNonblock(fd, true)
	case Block:
		return blocking(fd), nil
	}
	f := os.NewFile(uintptr(fd), "tcp")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	return goConn{c.(*net.TCPConn)}, nil
}

// socket connects or accepts. The ends do not begin at the same moment, but end 1
// has listened since it was opened.
func (e *End) socket(ctx context.Context) (int, error) {
	if e.c.End == 0 {
		fd, err := newSocket()
		if err != nil {
			return -1, err
		}
		if err := unix.Connect(fd, &e.addr); err != nil {
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
		return fd, options(fd)
	}
	return -1, errors.New("nobody has connected")
}
