// SPDX-License-Identifier: Apache-2.0

package bed

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// A Namespace is a network namespace without a name. It ends when it is closed and
// nothing that was opened or started inside is left. Safe for concurrent use, but
// for Close.
type Namespace struct {
	fd int // keeps the namespace alive; -1 once closed
}

// NewNamespace makes an empty one: no interface but a loopback that is down.
// Without the privilege CAP_SYS_ADMIN the error is an os.ErrPermission.
func NewNamespace() (*Namespace, error) {
	fd := -1
	err := elsewhere(unshare, func() (err error) {
		fd, err = current()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("a new network namespace (root can make one): %w", err)
	}
	return &Namespace{fd}, nil
}

func unshare() error { return os.NewSyscallError("unshare", unix.Unshare(unix.CLONE_NEWNET)) }

// Close lets go of the namespace. It may be called again.
func (n *Namespace) Close() {
	if n.fd >= 0 {
		unix.Close(n.fd)
		n.fd = -1
	}
}

// Do runs f in the calling goroutine, on a thread that is inside the namespace,
// and returns to the namespace the thread came from, also when f panics or ends
// its goroutine. Sockets that f opens stay inside, whoever uses them later. What f
// starts with go runs outside. Do may be nested. The error is f's, or says that
// the thread could not enter.
func (n *Namespace) Do(f func() error) error { return elsewhere(n.enter, f) }

func (n *Namespace) enter() error {
	return os.NewSyscallError("setns", unix.Setns(n.fd, unix.CLONE_NEWNET))
}

// Start starts cmd inside the namespace: a child begins where its parent's thread
// is. Waiting for it is the caller's, from anywhere.
func (n *Namespace) Start(cmd *exec.Cmd) error { return n.Do(cmd.Start) }

// Path names the namespace for other programs of the same user, such as nsenter
// or "ip link set dev X netns <path>", until Close.
func (n *Namespace) Path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), n.fd) }

// elsewhere locks the thread, lets enter change its namespace, and runs f there.
// A thread that cannot go back stays locked, so that it ends with its goroutine.
func elsewhere(enter, f func() error) error {
	runtime.LockOSThread()
	home, err := current()
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer func() {
		if unix.Setns(home, unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread()
		}
		unix.Close(home)
	}()
	if err := enter(); err != nil {
		return err
	}
	return f()
}

// current returns a descriptor of the namespace the calling thread is in.
func current() (int, error) {
	const path = "/proc/thread-self/ns/net"
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}
