// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"io"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// A conn is a connection, however its calls wait. Read and Write move some bytes;
// Read returns 0 at the end of the stream.
type conn interface {
	Read(b []byte) (int, error)
	Write(b []byte) (int, error)
	Shutdown() // makes waiting calls return
	Close() error
}

// A spinning connection calls the kernel until it has or takes something. The calls
// cannot sleep, so they go around the scheduler, which is faster.
type spinning int

func (c spinning) Read(b []byte) (int, error) {
	for {
		n, errno := rawRead(int(c), b)
		switch errno {
		case 0:
			return n, nil
		case unix.EAGAIN, unix.EINTR:
		default:
			return 0, os.NewSyscallError("read", errno)
		}
	}
}

func (c spinning) Write(b []byte) (int, error) {
	for {
		n, errno := rawWrite(int(c), b)
		switch errno {
		case 0:
			return n, nil
		case unix.EAGAIN, unix.EINTR:
		default:
			return 0, os.NewSyscallError("write", errno)
		}
	}
}

func (c spinning) Shutdown()    { unix.Shutdown(int(c), unix.SHUT_RDWR) }
func (c spinning) Close() error { return unix.Close(int(c)) }

// A blocking connection sleeps in the kernel; the number is its descriptor.
type blocking int

func (c blocking) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(int(c), b)
		if err != unix.EINTR {
			return n, err
		}
	}
}

func (c blocking) Write(b []byte) (int, error) {
	for {
		n, err := unix.Write(int(c), b)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// newBlocking sees to it that the runtime has a second processor: with one alone it takes
// that away from each call that sleeps, and a stream has 0.8 of what iperf3 has.
func newBlocking(fd int) blocking {
	if runtime.GOMAXPROCS(0) < 2 {
		runtime.GOMAXPROCS(2)
	}
	return blocking(fd)
}

func (c blocking) Shutdown()    { unix.Shutdown(int(c), unix.SHUT_RDWR) }
func (c blocking) Close() error { return unix.Close(int(c)) }

// A goConn is a connection of package net.
type goConn struct{ net.Conn }

func (c goConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == io.EOF {
		return 0, nil
	}
	return n, err
}

func (c goConn) Shutdown() {
	h := c.Conn.(halves)
	h.CloseRead()
	h.CloseWrite()
}

// halves are those of a connection of package net.
type halves interface {
	CloseRead() error
	CloseWrite() error
}
