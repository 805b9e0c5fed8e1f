// SPDX-License-Identifier: Apache-2.0

// Package preload runs programs that know AF_TIPC of the kernel, and nothing of us, with the
// preload library.
package preload

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/tier"
)

const timeout = 5 * time.Minute

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	t.Cleanup(cancel)
	return ctx
}

// needCompiler skips the test where there is no C compiler, and under go test -short.
func needCompiler(t *testing.T) {
	t.Helper()
	tier.SkipShort(t, "a C compiler")
	if _, err := exec.LookPath("cc"); err != nil {
		tier.Missing(t, "there is no C compiler (cc): install gcc and libc6-dev")
	}
}

// built is where the library is built.
var built string

// library builds the library, and returns its path.
var library = sync.OnceValues(func() (string, error) {
	file := filepath.Join(built, "libutipc.so")
	out, err := exec.Command("../../preload/build", file).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("preload/build: %w\n%s", err, out)
	}
	return file, nil
})

func TestMain(m *testing.M) {
	var err error
	if built, err = os.MkdirTemp("", "utipc-preload"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(built)
	os.Exit(code)
}

// A bed is a daemon on a node of its own.
type bed struct {
	path string
	srv  *daemon.Server
}

func newBed(t *testing.T) *bed {
	t.Helper()
	port, err := hub.New(hub.Config{}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	n, err := stack.Open(within(t), stack.Config{Bearers: []stack.Bearer{port}, Address: 0x1001001})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close(within(t)) })
	b := &bed{path: filepath.Join(t.TempDir(), "s")}
	if b.srv, err = daemon.New(n, daemon.Config{}); err != nil {
		t.Fatal(err)
	}
	l, err := attach.Listen(b.path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- b.srv.Serve(l) }()
	t.Cleanup(func() {
		if err := b.srv.Shutdown(within(t), "the test is over"); err != nil {
			t.Error(err)
		}
		<-served
		if c := b.srv.Counters(); c.Connections != 0 || c.Clients != 0 || c.Names != 0 || c.QueuedBytes != 0 {
			t.Errorf("left behind: %+v", c)
		}
	})
	return b
}

// run runs a program with the library, and returns what it prints. One that fails fails the test.
func (b *bed) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	lib, err := library()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(within(t), name, args...)
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+lib, "UTIPC_SOCKET="+b.path, "UTIPC_PRELOAD_DEBUG=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// A program in C finds connections, readiness, errnos, fork, dup and the end of connections as
// a kernel has them, and messages with their addresses and those that come back. It prints what
// is otherwise. Mutations: ended does not say how a connection ended; connect raises no barrier;
// message_receive does not look whether a message came back, or whether it is a member's; waiting_call is
// syscall alone; as_ended, of_epoll or ended_writable
// changes nothing; newRefusal keeps no data; shut_report, shut_readable or shut_events adds nothing.
//
// Proves: plain.programs
func TestProgramInC(t *testing.T) {
	needCompiler(t)
	program := filepath.Join(t.TempDir(), "sockets")
	if out, err := exec.Command("cc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program, "testdata/sockets.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out := newBed(t).run(t, program); out != "all is well\n" {
		t.Error(out)
	}
}

// CPython's own tests of TIPC pass, with any Python that has it. Mutation: open does
// not list the module.
//
// Proves: plain.programs
func TestPython(t *testing.T) {
	needCompiler(t)
	const has = "import test.test_socket, socket; socket.AF_TIPC"
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", has).Run() != nil {
			continue
		}
		out := newBed(t).run(t, python, "-m", "unittest", "-v", "test.test_socket.TIPCTest", "test.test_socket.TIPCThreadableTest")
		if !strings.Contains(out, "testRDM") || !strings.Contains(out, "testStream") || !strings.Contains(out, "OK") || strings.Contains(out, "skipped") {
			t.Error(out)
		}
		return
	}
	tier.Missing(t, "no Python has the module test.test_socket: install libpython3-testsuite")
}
