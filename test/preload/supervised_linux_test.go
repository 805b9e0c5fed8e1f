// SPDX-License-Identifier: Apache-2.0

package preload

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/must"
)

// A static program finds several messages in a call, ancillary data, requests of ioctl(2) and pointers that are
// not its own as a kernel has them. Mutations it catches: several does not store lengths, or returns the error of a
// later message; receiveSeveral looks at no timeout, at MSG_WAITFORONE or at no event; put does not cut; deliver, receiveData or
// receiveEnd puts nothing; sendCall passes ancillary data on; mapped is always true; ioctl leaves FIONREAD to the kernel;
// askOn does not wait for the end of a connection that brought a descriptor.
//
// Proves: plain.supervised
func TestSupervisedProgram(t *testing.T) {
	program := Here.Compile(t, "supervised.c", "-static")
	b := newBed(t)
	if out, err := b.UtipcRun(within(t), "seccomp", program); err != nil || out != "all is well\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// The same program finds the same with the library, also where process_vm_readv(2) is denied. Mutations it catches:
// header_readable looks at no part, gather copies by memcpy, or does without a look where it is denied; readable looks at the
// first page alone, answerable is always true: the program ends by a signal; recvmmsg looks at no timeout, or at no event;
// ask_on does not call await_end.
//
// Proves: plain.programs
func TestSeveralWithLibrary(t *testing.T) {
	program := Here.Compile(t, "supervised.c")
	b := newBed(t)
	for _, how := range []string{"library", "denied"} {
		if out := b.Run(t, program, how); out != "all is well\n" {
			t.Errorf("%s: %s", how, out)
		}
	}
}

// Calls that wait take the supervisor no threads, and nothing once the processes that made them were
// killed. Mutations it catches: wait polls in its own thread; sweep and watchThread do nothing; release does not
// close the process.
//
// Proves: plain.supervised
func TestSupervisedCallsThatWait(t *testing.T) {
	const calls, mostThreads = 300, 10
	program := Here.Compile(t, "blocked.c", "-static")
	b := newBed(t)
	self, err := utipc()
	if err != nil {
		t.Fatal(err)
	}
	ctx := within(t)
	cmd := exec.CommandContext(ctx, self, "run", "--how", "seccomp", "--socket", b.Path, "--", program, fmt.Sprint(calls))
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
	of := func(what string) []os.DirEntry {
		return must.Get(os.ReadDir(fmt.Sprintf("/proc/%d/%s", cmd.Process.Pid, what)))
	}
	descriptors := func() int { return len(of("fd")) }
	until := func(what string, count func() int, enough func(n int) bool) {
		t.Helper()
		look := time.NewTicker(time.Millisecond)
		defer look.Stop()
		for ; ; <-look.C { // calls begin and end after the program has gone on
			n := count()
			if ctx.Err() != nil {
				t.Fatalf("the supervisor has %d %s", n, what)
			}
			if enough(n) {
				return
			}
		}
	}
	said("open")
	before := descriptors()
	goOn()
	said("begun")
	until("descriptors", descriptors, func(n int) bool { return n >= before+2*calls }) // the socket and the process
	until("threads in calls of their own", func() (n int) {
		for _, task := range of("task") {
			if !idle(fmt.Sprintf("/proc/%d/task/%s/syscall", cmd.Process.Pid, task.Name())) {
				n++
			}
		}
		return n
	}, func(n int) bool { return n <= mostThreads })
	goOn()
	said("killed")
	until("descriptors", descriptors, func(n int) bool { return n <= before })
	goOn()
	said("served")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// idle reports whether a thread of a Go program is one that has nothing to do, by its file syscall: the runtime
// keeps those, in futex(2). A thread that has ended is idle, too.
func idle(file string) bool {
	var number int
	text, err := os.ReadFile(file)
	if err != nil {
		return true
	}
	_, err = fmt.Sscan(string(text), &number)
	return err == nil && number == unix.SYS_FUTEX
}
