// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// MaxFrame is room for the longest Ethernet frame of a Link with the default MTU.
const MaxFrame = 14 + 4 + 1500

// sendBuffer is what a socket may hold for a reader that is late, in bytes of
// the kernel's accounting: some 2300 for a frame of 1500.
const sendBuffer = 4 << 20

// A Link is the guest's end of a cable. It belongs to its maker, outlives the
// guest and may serve the next one: a guest that starts finds it empty.
type Link struct {
	MAC  net.HardwareAddr
	File *os.File // a unix socket of type SEQPACKET; each datagram is a frame
	MTU  int      // 0 means 1500
}

// Close closes the maker's copy of the guest's end.
func (l Link) Close() error { return l.File.Close() }

// drain throws away what waits for a guest that is no more.
func (l Link) drain() error {
	raw, err := l.File.SyscallConn()
	if err != nil {
		return err
	}
	b := make([]byte, 1)
	return raw.Control(func(fd uintptr) {
		for {
			if _, _, err := unix.Recvfrom(int(fd), b, unix.MSG_DONTWAIT); err != nil && err != unix.EINTR {
				return
			}
		}
	})
}

// A Wire is the test's end of a cable. One goroutine may read while others
// write.
type Wire struct {
	conn    *net.UnixConn
	raw     syscall.RawConn
	dropped atomic.Uint64
}

// NewLink makes a cable. mac is the guest's address.
func NewLink(mac net.HardwareAddr) (Link, *Wire, error) {
	guest, host, err := cable()
	if err != nil {
		return Link{}, nil, err
	}
	defer host.Close() // FileConn has a copy
	conn, err := net.FileConn(host)
	if err != nil {
		guest.Close()
		return Link{}, nil, err
	}
	w := &Wire{conn: conn.(*net.UnixConn)}
	if w.raw, err = w.conn.SyscallConn(); err != nil {
		guest.Close()
		conn.Close()
		return Link{}, nil, err
	}
	return Link{MAC: mac, File: guest}, w, nil
}

// NewPair makes a cable between two guests.
func NewPair(a, b net.HardwareAddr) (Link, Link, error) {
	x, y, err := cable()
	if err != nil {
		return Link{}, Link{}, err
	}
	return Link{MAC: a, File: x}, Link{MAC: b, File: y}, nil
}

// cable makes a pair of sockets. Not of type DGRAM: those hold no more than
// net.unix.max_dgram_qlen frames, often 10.
func cable() (a, b *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	for _, fd := range fds {
		// FORCE needs a privilege, the other is cut to what the machine allows.
		if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, sendBuffer) != nil {
			unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, sendBuffer)
		}
	}
	return os.NewFile(uintptr(fds[0]), "cable"), os.NewFile(uintptr(fds[1]), "cable"), nil
}

// ReadFrame waits for a frame from the guest and copies it to b; what does not
// fit is lost. Errors: net.ErrClosed after Close, os.ErrDeadlineExceeded.
func (w *Wire) ReadFrame(b []byte) (int, error) { return w.conn.Read(b) }

// WriteFrame sends a frame to the guest. It does not wait: when the guest is
// so late that the cable is full, or absent, the frame is dropped and counted,
// as a network would. Error: net.ErrClosed after Close.
func (w *Wire) WriteFrame(b []byte) error {
	var err error
	closed := w.raw.Write(func(fd uintptr) bool {
		for {
			if _, err = unix.SendmsgN(int(fd), b, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL); err != unix.EINTR {
				return true
			}
		}
	})
	switch {
	case closed != nil:
		return fmt.Errorf("rig: write frame: %w", net.ErrClosed)
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ENOBUFS), errors.Is(err, unix.EPIPE), errors.Is(err, unix.ECONNREFUSED):
		w.dropped.Add(1)
		return nil
	}
	return os.NewSyscallError("write frame", err)
}

// Dropped counts the frames that WriteFrame could not deliver.
func (w *Wire) Dropped() uint64 { return w.dropped.Load() }

// SetReadDeadline makes ReadFrame fail from then on; the zero time removes it.
func (w *Wire) SetReadDeadline(t time.Time) error { return w.conn.SetReadDeadline(t) }

// Close ends a ReadFrame that waits.
func (w *Wire) Close() error { return w.conn.Close() }
