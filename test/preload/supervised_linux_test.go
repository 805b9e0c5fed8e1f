// SPDX-License-Identifier: Apache-2.0

package preload

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/utipc/utipc/internal/must"
)

// A static program finds several messages in a call, ancillary data, requests of ioctl(2) and pointers that are
// not its own as a kernel has them. Mutations it catches: several does not store lengths, or returns the error of a
// later message; receiveSeveral looks at no timeout, at MSG_WAITFORONE or at no event; put does not cut; deliver, receiveData or
// receiveEnd puts nothing; sendCall passes ancillary data on; mapped is always true; ioctl leaves FIONREAD to the kernel.
//
// Proves: plain.supervised
func TestSupervisedProgram(t *testing.T) {
	program := compile(t, "supervised.c", "-static")
	b := newBed(t)
	if out, err := b.UtipcRun(within(t), "seccomp", program); err != nil || out != "all is well\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// The same program finds the same with the library. Mutations it catches: header_readable looks at no part, gather
// copies by memcpy, readable looks at the first page alone, answerable is always true: the program ends by a signal;
// recvmmsg looks at no timeout, or at no event.
//
// Proves: plain.programs
func TestSeveralWithLibrary(t *testing.T) {
	program := compile(t, "supervised.c")
	if out := newBed(t).Run(t, program, "library"); out != "all is well\n" {
		t.Error(out)
	}
}

// Calls that wait take the supervisor no threads, and nothing once the processes that made them were
// killed. Mutations it catches: wait polls in its own thread; sweep and watchThread do nothing; release does not
// close the process.
//
// Proves: plain.supervised
func TestSupervisedCallsThatWait(t *testing.T) {
	const calls, mostThreads = 300, 100
	program := compile(t, "blocked.c", "-static")
	b := newBed(t)
	self, err := utipc()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(within(t), self, "run", "--how", "seccomp", "--socket", b.Path, "--", program, fmt.Sprint(calls))
	cmd.Stderr = os.Stderr
	in := must.Get(cmd.StdinPipe())
	out := bufio.NewReader(must.Get(cmd.StdoutPipe()))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := func(want string) {
		t.Helper()
		if line, err := out.ReadString('\n'); line != want+"\n" || err != nil {
			t.Fatalf("the program says %q, %v, want %q", line, err, want)
		}
	}
	goOn := func() { _, _ = io.WriteString(in, "go on\n") }
	count := func(of string) int {
		return len(must.Get(os.ReadDir(fmt.Sprintf("/proc/%d/%s", cmd.Process.Pid, of))))
	}
	until := func(enough func(descriptors int) bool) {
		t.Helper()
		for ctx := within(t); ; { // calls begin and end after the program has gone on
			n := count("fd")
			if enough(n) {
				return
			}
			if ctx.Err() != nil {
				t.Fatalf("the supervisor has %d descriptors", n)
			}
		}
	}
	said("open")
	before := count("fd")
	goOn()
	said("begun")
	until(func(n int) bool { return n >= before+2*calls }) // the socket and the process
	if n := count("task"); n > mostThreads {
		t.Errorf("the supervisor has %d threads while %d calls wait", n, calls)
	}
	goOn()
	said("killed")
	until(func(n int) bool { return n <= before })
	goOn()
	said("served")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
