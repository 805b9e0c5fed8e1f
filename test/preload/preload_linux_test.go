// SPDX-License-Identifier: Apache-2.0

package preload

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/utipc/utipc/stack/carrier/hub"
)

func TestMain(m *testing.M) { Main(m) }

func newBed(t *testing.T) *Bed { return NewBed(t, hub.New(hub.Config{}), 1) }

// A program in C finds connections, readiness, errnos, fork, dup and the end of connections as
// a kernel has them, and messages with their addresses and those that come back. It prints what
// is otherwise. Mutations: ended does not say how a connection ended; connect raises no barrier;
// message_receive does not look whether a message came back, or whether it is a member's; waiting_call is
// syscall alone; as_ended, of_epoll or ended_writable
// changes nothing; newRefusal keeps no data; shut_report, shut_readable or shut_events adds nothing.
//
// Proves: plain.programs
func TestProgramInC(t *testing.T) {
	NeedCompiler(t)
	program := filepath.Join(t.TempDir(), "sockets")
	if out, err := exec.Command("cc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program, "testdata/sockets.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out := newBed(t).Run(t, program); out != "all is well\n" {
		t.Error(out)
	}
}

// CPython's own tests of TIPC pass, with any Python that has it. Mutation: open does
// not list the module.
//
// Proves: plain.programs
func TestPython(t *testing.T) {
	NeedCompiler(t)
	CheckPython(t, newBed(t).Run(t, Python(t), PythonTests...))
}
