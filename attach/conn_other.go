// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package attach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"runtime"
	"syscall"
	"time"
)

var errNotSupported = fmt.Errorf("attach: not supported on %s: the daemon needs Linux: %w", runtime.GOOS, errors.ErrUnsupported)

// A Conn is one end of a connection between a program and the daemon. There are none
// on this system: nothing makes one.
type Conn struct{ _ byte }

// A Listener takes connections of programs. There are none on this system.
type Listener struct{ _ byte }

// A Buffer has the data of a record that ReadPooled has read.
type Buffer struct{ Data []byte }

// NewConn fails.
func NewConn(fd int) (*Conn, error) { return nil, errNotSupported }

// Pair fails.
func Pair() (*Conn, int, error) { return nil, -1, errNotSupported }

// Listen fails.
func Listen(path string, mode fs.FileMode, gid int) (*Listener, error) {
	return nil, errNotSupported
}

// Dial fails.
func Dial(ctx context.Context, path string) (*Conn, error) { return nil, errNotSupported }

// Alive returns false.
func Alive(ctx context.Context, path string) bool { return false }

// The methods fail.

func (c *Conn) Read(h *Header, b []byte) (n int, err error)    { return 0, errors.ErrUnsupported }
func (c *Conn) TryRead(h *Header, b []byte) (n int, err error) { return 0, errors.ErrUnsupported }
func (c *Conn) ReadFD(h *Header, b []byte) (n, fd int, err error) {
	return 0, -1, errors.ErrUnsupported
}

func (c *Conn) ReadPooled(h *Header) (*Buffer, error) { return nil, errors.ErrUnsupported }

func (c *Conn) TryReadPooled(h *Header) (*Buffer, error)        { return nil, errors.ErrUnsupported }
func (c *Conn) Write(h *Header, data []byte) error              { return errors.ErrUnsupported }
func (c *Conn) WriteLast(h *Header, data []byte) error          { return errors.ErrUnsupported }
func (c *Conn) TryWrite(h *Header, data []byte) error           { return errors.ErrUnsupported }
func (c *Conn) WriteFD(h *Header, data []byte, fd int) error    { return errors.ErrUnsupported }
func (c *Conn) TryWriteFD(h *Header, data []byte, fd int) error { return errors.ErrUnsupported }
func (c *Conn) Refused() uint64                                 { return 0 }
func (c *Conn) SetReadDeadline(t time.Time) error               { return errors.ErrUnsupported }
func (c *Conn) SetWriteDeadline(t time.Time) error              { return errors.ErrUnsupported }
func (c *Conn) SetDeadline(t time.Time) error                   { return errors.ErrUnsupported }
func (c *Conn) Close() error                                    { return errors.ErrUnsupported }
func (c *Conn) CloseRead() error                                { return errors.ErrUnsupported }
func (c *Conn) SyscallConn() (syscall.RawConn, error)           { return nil, errors.ErrUnsupported }

func (c *Conn) Credentials() (Credentials, error) { return Credentials{}, errors.ErrUnsupported }

func (c *Conn) Process() (*Process, error)        { return nil, errors.ErrUnsupported }
func (c *Conn) Inode() (uint64, error)            { return 0, errors.ErrUnsupported }
func (b *Buffer) Release()                        {}
func (l *Listener) Accept() (*Conn, error)        { return nil, errors.ErrUnsupported }
func (l *Listener) Addr() net.Addr                { return nil }
func (l *Listener) SetDeadline(t time.Time) error { return errors.ErrUnsupported }
func (l *Listener) Close() error                  { return errors.ErrUnsupported }

// A Process is a process at the other end of a connection. There are none on this system.
type Process struct{ _ byte }

func (p *Process) Ended() bool  { return false }
func (p *Process) Close() error { return errors.ErrUnsupported }

// A Ring is memory that two processes share. There are none on this system.
type Ring struct{ _ byte }

func MakeRing(size int) (r *Ring, fd int, err error)      { return nil, -1, errors.ErrUnsupported }
func MapRing(fd, size int) (*Ring, error)                 { return nil, errors.ErrUnsupported }
func (r *Ring) Close()                                    {}
func (c *Conn) ServeRing(h *Header) (refused, err error)  { return nil, errors.ErrUnsupported }
func (c *Conn) RefuseRing(h *Header, refused error) error { return errors.ErrUnsupported }
func (c *Conn) TakeRing(h *Header, fd int) error          { return errors.ErrUnsupported }
func (c *Conn) SetSpin(d time.Duration)                   {}
func (c *Conn) HasRing() bool                             { return false }
func (c *Conn) Watch(op Op) error                         { return errors.ErrUnsupported }
func (c *Conn) PeerClosed() bool                          { return true }
