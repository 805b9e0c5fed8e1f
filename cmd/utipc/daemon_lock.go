// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A daemonLock is one daemon's right to a socket: the lock of a file beside it, which
// goes with the process, however that ends. Who has it knows that a socket that is there
// is a stale one.
type daemonLock struct{ file *os.File }

// A busyError says that another daemon serves.
type busyError struct {
	socket string
	pid    int // 0: it has not said
}

func (e *busyError) Error() string {
	who := "another daemon"
	if e.pid > 0 {
		who = fmt.Sprintf("another daemon, pid %d,", e.pid)
	}
	return fmt.Sprintf("%s serves %s: stop that one, or give this one a --socket of its own", who, e.socket)
}

// lockSocket takes the lock of the socket at path, and makes the socket's directory if
// that is missing. Errors: *busyError; the system's.
func lockSocket(path string) (*daemonLock, error) {
	if err := makeDir(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("%w: make the directory (as root: install -d -o $USER %s), or choose another --socket", err, filepath.Dir(path))
	}
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, socketRemedy(err))
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		b, _ := io.ReadAll(io.LimitReader(f, 32))
		pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
		return nil, &busyError{path, max(pid, 0)}
	}
	f.Chmod(0o600) // who can read it can lock it, and so keep the daemon from its next start; if not ours, as it is
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%w; %s", err, socketRemedy(err))
	}
	return &daemonLock{f}, nil
}

// socketRemedy says what helps against an error of the socket's file, or its lock's.
func socketRemedy(err error) string {
	switch {
	case errors.Is(err, unix.EROFS), errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return "make room there, or give the daemon a --socket elsewhere"
	}
	return "the directory must be the daemon's own"
}

// makeDir makes the directory of a socket, unless it is there, open to all whatever the
// umask: who may attach is said by the socket.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	return err
}

// release gives the lock up. The file stays: another may wait with it open.
func (l *daemonLock) release() error { return errors.Join(l.file.Truncate(0), l.file.Close()) }
