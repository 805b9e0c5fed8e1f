// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/sock"
)

// maxPath is the length of the longest name of a UNIX socket, in bytes.
const maxPath = 107

// A Listener takes connections of programs.
type Listener struct {
	f    *os.File
	raw  syscall.RawConn
	name string      // of the socket
	info fs.FileInfo // of its file, to be removed; nil: there is none
}

// Listen makes the socket path, with mode its rights and gid its group unless that is
// negative. A file that is there already, as a daemon that was killed leaves one, is
// replaced: whoever calls this has made sure that nobody listens there, see Alive. A
// path that begins with '@' is a name without a file, open to all of the network
// namespace. Errors: those of the system.
func Listen(path string, mode fs.FileMode, gid int) (*Listener, error) {
	if strings.HasPrefix(path, "@") {
		return listen(path, path)
	}
	if len(path) > maxPath {
		return nil, &fs.PathError{Op: "listen", Path: path, Err: errors.New("is longer than the name of a socket may be, 107 bytes")}
	}
	if fi, err := os.Lstat(path); err == nil && fi.Mode().Type() != fs.ModeSocket {
		return nil, &fs.PathError{Op: "listen", Path: path, Err: errors.New("is there, and no socket")}
	}
	// It is made under another name, so that nobody can connect before the rights are as
	// they should be, and takes the place of an old one at once.
	fresh := filepath.Join(filepath.Dir(path), "."+strconv.Itoa(os.Getpid()))
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := listen(fresh, path)
	if err != nil {
		os.Remove(fresh) // it may have been made
		return nil, err
	}
	if gid >= 0 {
		err = os.Chown(fresh, -1, gid)
	}
	if err == nil {
		err = os.Chmod(fresh, mode)
	}
	if err == nil {
		l.info, err = os.Lstat(fresh)
	}
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		l.f.Close()
		os.Remove(fresh)
		return nil, err
	}
	return l, nil
}

// listen listens at a name, as one that is called so from then on.
func listen(at, name string) (*Listener, error) {
	ul, err := net.ListenUnix("unixpacket", &net.UnixAddr{Net: "unixpacket", Name: at})
	if err != nil {
		return nil, err
	}
	defer ul.Close()
	ul.SetUnlinkOnClose(false)
	f, err := ul.File() // of package net's there is no RawConn to accept with
	if err != nil {
		return nil, err
	}
	raw, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Listener{f: f, raw: raw, name: name}, nil
}

// Accept waits for a connection. Errors: net.ErrClosed, os.ErrDeadlineExceeded, and those
// of the system that pass, as too many open files.
func (l *Listener) Accept() (*Conn, error) {
	in, err := sock.NewSet() // before, so that a program that finds no descriptor waits, and is not turned away
	if err != nil {
		return nil, err
	}
	var fd int
	var failed error
	err = sock.Error(l.raw.Read(func(own uintptr) bool {
		for {
			fd, _, failed = unix.Accept4(int(own), unix.SOCK_CLOEXEC)
			if failed != unix.EINTR && failed != unix.ECONNABORTED {
				return failed != unix.EAGAIN
			}
		}
	}))
	if err == nil && failed != nil {
		err = &net.OpError{Op: "accept", Net: "unixpacket", Addr: l.Addr(), Err: os.NewSyscallError("accept4", failed)}
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	return newConn(fd, in)
}

// Addr is the socket's name.
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Net: "unixpacket", Name: l.name} }

// SetDeadline sets the time at which Accept ends with os.ErrDeadlineExceeded; zero
// means never.
func (l *Listener) SetDeadline(t time.Time) error { return sock.Error(l.f.SetReadDeadline(t)) }

// Close ends listening and removes the socket's file, if that is its own still.
func (l *Listener) Close() error {
	err := sock.Error(l.f.Close())
	if l.info != nil && err == nil {
		if fi, e := os.Lstat(l.name); e == nil && os.SameFile(fi, l.info) {
			err = os.Remove(l.name)
		}
	}
	return err
}

// Dial connects to the daemon at path and says nothing yet. Errors: the context's, and
// those of the system: syscall.ENOENT and ECONNREFUSED where no daemon is, EACCES where
// one may not connect.
func Dial(ctx context.Context, path string) (*Conn, error) {
	fail := func(err error) (*Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "unixpacket", Addr: &net.UnixAddr{Net: "unixpacket", Name: path}, Err: err}
	}
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return fail(os.NewSyscallError("socket", err))
	}
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err != nil { // at once: it is on this host
		unix.Close(fd)
		return fail(os.NewSyscallError("connect", err))
	}
	c, err := NewConn(fd)
	if err != nil {
		return fail(err)
	}
	return c, nil
}

// Alive reports whether somebody listens at path.
func Alive(ctx context.Context, path string) bool {
	c, err := Dial(ctx, path)
	if err == nil {
		c.Close()
	}
	return err == nil || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EAGAIN)
}
