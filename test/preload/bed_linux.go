// SPDX-License-Identifier: Apache-2.0

package preload

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/daemon/plain"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/tier"
)

const timeout = 5 * time.Minute

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	t.Cleanup(cancel)
	return ctx
}

// NeedCompiler skips the test where there is no C compiler, and under go test -short.
func NeedCompiler(t testing.TB) {
	t.Helper()
	Here.Need(t)
}

// built is where the library is built.
var built string

// Folder is one that is removed after the package's tests.
func Folder() string { return built }

// Python is the path of a Python that has CPython's own tests of TIPC.
func Python(t testing.TB) string {
	t.Helper()
	const has = "import test.test_socket, socket, sys; socket.AF_TIPC; print(sys.executable)"
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if out, err := exec.Command(python, "-c", has).Output(); err == nil {
			return strings.TrimSpace(string(out))
		}
	}
	tier.Missing(t, "no Python has the module test.test_socket: install libpython3-testsuite")
	return ""
}

// PythonTests are the arguments of a Python that runs CPython's own tests of TIPC.
var PythonTests = []string{"-m", "unittest", "-v", "test.test_socket.TIPCTest", "test.test_socket.TIPCThreadableTest"}

// CheckPython checks what PythonTests printed: that all were run, and passed.
func CheckPython(t testing.TB, out string) {
	t.Helper()
	if !strings.Contains(out, "testRDM") || !strings.Contains(out, "testStream") || !strings.Contains(out, "OK") || strings.Contains(out, "skipped") {
		t.Error(out)
	}
}

// Main is what TestMain calls of a package with a [Bed].
func Main(m *testing.M) {
	var err error
	if built, err = os.MkdirTemp("", "utipc-preload"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(built)
	os.Exit(code)
}

// A Bed is a daemon on a node of its own.
type Bed struct {
	Path string // of the daemon's socket
	Node *stack.Node

	srv *daemon.Server
	env []string // of its programs, beside what all have
}

// NewBed makes one on a network, as the node 1.1.k.
func NewBed(t testing.TB, network *hub.Hub, k byte) *Bed {
	t.Helper()
	port, err := network.Port("eth0", frame.MAC{2, 0, 0, 0, 0, k})
	if err != nil {
		t.Fatal(err)
	}
	return NewBedOn(t, port, k)
}

// NewBedOn makes one on a device, which the node closes, as the node 1.1.k. At the end of the test
// nothing may be left of what programs had.
func NewBedOn(t testing.TB, device stack.Bearer, k byte) *Bed {
	t.Helper()
	return newBedOn(t, device, k, daemon.Config{})
}

// Prefix is the prefix of TCP that beds of NewTCPBedOn have; the address of bed k is 10.99.0.k.
const Prefix = "10.99.0.0/16"

// NewTCPBedOn makes a bed whose programs have TCP sockets of Prefix.
func NewTCPBedOn(t testing.TB, device stack.Bearer, k byte) *Bed {
	t.Helper()
	tcp := plain.TCP{Prefix: netip.MustParsePrefix(Prefix), Address: netip.AddrFrom4([4]byte{10, 99, 0, k})}
	b := newBedOn(t, device, k, daemon.Config{TCP: tcp})
	b.env = []string{"UTIPC_TCP=" + Prefix}
	return b
}

func newBedOn(t testing.TB, device stack.Bearer, k byte, cfg daemon.Config) *Bed {
	t.Helper()
	n, err := stack.Open(within(t), stack.Config{Bearers: []stack.Bearer{device}, Address: 0x1001000 + stack.NodeAddr(k), Tolerance: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close(within(t)) })
	b := &Bed{Path: filepath.Join(t.TempDir(), "s"), Node: n}
	if b.srv, err = daemon.New(n, cfg); err != nil {
		t.Fatal(err)
	}
	l, err := attach.Listen(b.Path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- b.srv.Serve(l) }()
	t.Cleanup(func() {
		b.Shutdown(t)
		<-served
		if c := b.srv.Counters(); c.Connections != 0 || c.Clients != 0 || c.Names != 0 || c.QueuedBytes != 0 {
			t.Errorf("left behind: %+v", c)
		}
	})
	return b
}

// Shutdown ends the daemon; again it does nothing.
func (b *Bed) Shutdown(t testing.TB) {
	t.Helper()
	if err := b.srv.Shutdown(within(t), "the test is over"); err != nil {
		t.Error(err)
	}
}

// Counters are the daemon's.
func (b *Bed) Counters() daemon.Counters { return b.srv.Counters() }

// Records is how many records, each a request of a program, have come to the daemon.
func (b *Bed) Records() uint64 { return b.srv.Counters().Records }

// Run runs a program with the library, and returns what it prints. One that fails fails the test.
func (b *Bed) Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	cmd, err := Here.Command(within(t), b, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// utipc builds the command, and returns its path.
var utipc = sync.OnceValues(func() (string, error) {
	file := filepath.Join(built, "utipc")
	out, err := exec.Command("go", "build", "-o", file, "../../cmd/utipc").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return file, nil
})

// UtipcRun runs a program by utipc run --how, and returns what it prints.
func (b *Bed) UtipcRun(ctx context.Context, how string, command ...string) (string, error) {
	lib, err := library()
	if err != nil {
		return "", err
	}
	self, err := utipc()
	if err != nil {
		return "", err
	}
	words := append([]string{"run", "--how", how, "--library", lib, "--socket", b.Path, "--"}, command...)
	out, err := exec.CommandContext(ctx, self, words...).CombinedOutput()
	return string(out), err
}
