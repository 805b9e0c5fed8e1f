// SPDX-License-Identifier: Apache-2.0

package preload

import (
	"errors"
	"os/exec"
	"regexp"
	"testing"

	"github.com/utipc/utipc/stack/carrier/hub"
)

func TestMain(m *testing.M) { Main(m) }

func newBed(t *testing.T) *Bed { return NewBed(t, hub.New(hub.Config{}), 1) }

// notEmulated are the lines of the program sockets that tell of what qemu-user 7.2 does not pass on: the options
// SO_SELECT_ERR_QUEUE, in which the library keeps that a socket was shut down without a connection, and
// SO_PEEK_OFF, by which it counts messages.
var notEmulated = regexp.MustCompile(`(?m)^line \d+: (?:` +
	`events\(s, -1\) & \(POLLIN \| POLLHUP\): 0, want 17|` +
	`by_epoll\(s\) & \(EPOLLIN \| EPOLLHUP\): 0, want 17|` +
	`by_select\(s\): 4, want 5|` +
	`option\(s, SOL_TIPC, TIPC_SOCK_RECVQ_DEPTH\): 0, want 1)\n`)

// A program in C finds connections, readiness, errnos, fork, dup and the end of connections as
// a kernel has them, and messages with their addresses and those that come back. It prints what
// is otherwise. Mutations: ended does not say how a connection ended; connect raises no barrier;
// message_receive does not look whether a message came back, or whether it is a member's; waiting_call is
// syscall alone; as_ended, of_epoll or ended_writable
// changes nothing; newRefusal keeps no data; shut_report, shut_readable or shut_events adds nothing.
// Of arm64 alone: of_epoll takes events for packed; hung_up calls ppoll by its number on amd64.
//
// Proves: plain.programs
func TestProgramInC(t *testing.T) {
	for _, m := range Machines() {
		t.Run(m.Name, func(t *testing.T) {
			program := m.Compile(t, "sockets.c")
			cmd, err := m.Command(within(t), newBed(t), program)
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.CombinedOutput()
			rest := string(out)
			if exit := (*exec.ExitError)(nil); m == Emulated && errors.As(err, &exit) && exit.ExitCode() == 1 {
				rest = notEmulated.ReplaceAllString(rest, "") + "all is well\n"
			} else if err != nil {
				t.Error(err)
			}
			if rest != "all is well\n" {
				t.Error(rest)
			}
		})
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
