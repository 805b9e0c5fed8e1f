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
)

// maxPath is the length of the longest name of a UNIX socket, in bytes.
const maxPath = 107

// A Listener takes connections of programs.
type Listener struct {
	ul   *net.UnixListener
	path string // to be removed; empty: not ours
	info fs.FileInfo
}

// Listen makes the socket path, with mode its rights and gid its group unless that is
// negative. A file that is there already, as a daemon that was killed leaves one, is
// replaced: whoever calls this has made sure that nobody listens there, see Alive. A
// path that begins with '@' is a name without a file, open to all of the network
// namespace. Errors: those of the system.
func Listen(path string, mode fs.FileMode, gid int) (*Listener, error) {
	if strings.HasPrefix(path, "@") {
		ul, err := net.ListenUnix("unixpacket", &net.UnixAddr{Net: "unixpacket", Name: path})
		if err != nil {
			return nil, err
		}
		return &Listener{ul: ul}, nil
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
	ul, err := net.ListenUnix("unixpacket", &net.UnixAddr{Net: "unixpacket", Name: fresh})
	if err != nil {
		return nil, err
	}
	ul.SetUnlinkOnClose(false)
	l := &Listener{ul: ul, path: path}
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
		ul.Close()
		os.Remove(fresh)
		return nil, err
	}
	return l, nil
}

// NewListener makes a Listener of one of package net, "unixpacket", as a service manager
// may have passed it. It removes no file.
func NewListener(ul *net.UnixListener) *Listener {
	ul.SetUnlinkOnClose(false)
	return &Listener{ul: ul}
}

// Accept waits for a connection. Errors: net.ErrClosed, os.ErrDeadlineExceeded, and those
// of the system that pass, as too many open files.
func (l *Listener) Accept() (*Conn, error) {
	uc, err := l.ul.AcceptUnix()
	if err != nil {
		return nil, err
	}
	return FromUnix(uc)
}

// Addr is the socket's name.
func (l *Listener) Addr() net.Addr {
	if l.path != "" {
		return &net.UnixAddr{Net: "unixpacket", Name: l.path}
	}
	return l.ul.Addr()
}

// SetDeadline sets the time at which Accept ends with os.ErrDeadlineExceeded; zero
// means never.
func (l *Listener) SetDeadline(t time.Time) error { return l.ul.SetDeadline(t) }

// Close ends listening and removes the socket's file, if that is its own still.
func (l *Listener) Close() error {
	err := l.ul.Close()
	if l.path != "" && err == nil {
		if fi, e := os.Lstat(l.path); e == nil && os.SameFile(fi, l.info) {
			err = os.Remove(l.path)
		}
	}
	return err
}

// Dial connects to the daemon at path and says nothing yet. Errors: the context's, and
// those of the system: syscall.ENOENT and ECONNREFUSED where no daemon is, EACCES where
// one may not connect.
func Dial(ctx context.Context, path string) (*Conn, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, "unixpacket", path)
	if err != nil {
		return nil, err
	}
	return FromUnix(nc.(*net.UnixConn))
}

// Alive reports whether somebody listens at path.
func Alive(ctx context.Context, path string) bool {
	c, err := Dial(ctx, path)
	if err == nil {
		c.Close()
	}
	return err == nil || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EAGAIN)
}
