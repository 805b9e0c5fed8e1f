// SPDX-License-Identifier: Apache-2.0

package netns

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// An NS is a network namespace that belongs to one test.
type NS struct {
	Name string // for messages: "utipc-<pid>-<count>"
	tb   testing.TB
	fd   int // keeps the namespace alive; -1 once the test has ended
}

var count atomic.Uint64

// New makes an empty namespace: no interface but a loopback that is down. It is
// given up when the test ends, however it ends. Without the privilege the test
// fails; call Require first.
func New(tb testing.TB) *NS {
	tb.Helper()
	fd, err := create()
	if err != nil {
		tb.Fatalf("netns: a new namespace: %v", err)
	}
	ns := &NS{
		Name: fmt.Sprintf("utipc-%d-%d", os.Getpid(), count.Add(1)),
		tb:   tb,
		fd:   fd,
	}
	tb.Cleanup(func() {
		unix.Close(ns.fd)
		ns.fd = -1
	})
	return ns
}

// create returns a descriptor of a new namespace.
func create() (fd int, err error) {
	err = elsewhere(func() error { return unix.Unshare(unix.CLONE_NEWNET) }, func() {
		fd, err = current()
	})
	return fd, err
}

// Do runs f in the calling goroutine, on a thread that is inside the namespace,
// and returns to the namespace the thread came from, also when f panics or ends
// the test. Sockets that f opens stay inside, whoever uses them later. What f
// starts with go runs outside. Do may be nested. It panics when the thread
// cannot enter.
func (ns *NS) Do(f func()) {
	if err := elsewhere(func() error { return unix.Setns(ns.fd, unix.CLONE_NEWNET) }, f); err != nil {
		panic(fmt.Sprintf("netns: entering %s: %v", ns.Name, err))
	}
}

// elsewhere locks the thread, lets enter change its namespace, and runs f there.
// A thread that cannot go back stays locked, so that it ends with its goroutine.
func elsewhere(enter func() error, f func()) error {
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
	f()
	return nil
}

// current returns a descriptor of the namespace the calling thread is in.
func current() (int, error) {
	return unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
}

// Path names the namespace for other programs of the same user, such as nsenter
// or "ip link set dev X netns <path>", until the test ends.
func (ns *NS) Path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), ns.fd) }

// Command is exec.Command for a program that runs inside the namespace, as root.
// It is to be started before the test ends. To run one as somebody else, start
// an ordinary command inside Do: a child begins in its parent thread's namespace.
func (ns *NS) Command(name string, args ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"--net=" + ns.Path(), "--", name}, args...)...)
}

// Run runs a program inside the namespace to its end and returns its standard
// output. The test fails, with what the program said, when its status is not 0.
func (ns *NS) Run(name string, args ...string) string {
	ns.tb.Helper()
	var out, say strings.Builder
	cmd := ns.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &out, &say
	if err := cmd.Run(); err != nil {
		ns.tb.Fatalf("in %s: %s %s: %v: %s", ns.Name, name, strings.Join(args, " "), err, say.String())
	}
	return out.String()
}
