// SPDX-License-Identifier: Apache-2.0

package netns

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/utipc/utipc/internal/bed"
)

// An NS is a network namespace that belongs to one test.
type NS struct {
	Name string // for messages: "utipc-<pid>-<count>"
	tb   testing.TB
	in   *bed.Namespace
}

var count atomic.Uint64

// New makes an empty namespace: no interface but a loopback that is down. It is
// given up when the test ends, however it ends. Without the privilege the test
// fails; call Require first.
func New(tb testing.TB) *NS {
	tb.Helper()
	in, err := bed.NewNamespace()
	if err != nil {
		tb.Fatalf("netns: %v", err)
	}
	tb.Cleanup(in.Close)
	return &NS{
		Name: fmt.Sprintf("utipc-%d-%d", os.Getpid(), count.Add(1)),
		tb:   tb,
		in:   in,
	}
}

// Do runs f in the calling goroutine, on a thread that is inside the namespace,
// and returns to the namespace the thread came from, also when f panics or ends
// the test. Sockets that f opens stay inside, whoever uses them later. What f
// starts with go runs outside. Do may be nested. It panics when the thread
// cannot enter.
func (ns *NS) Do(f func()) {
	if err := ns.in.Do(func() error { f(); return nil }); err != nil {
		panic(fmt.Sprintf("netns: entering %s: %v", ns.Name, err))
	}
}

// Path names the namespace for other programs of the same user, such as nsenter
// or "ip link set dev X netns <path>", until the test ends.
func (ns *NS) Path() string { return ns.in.Path() }

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
