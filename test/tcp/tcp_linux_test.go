// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/preload"
	"github.com/utipc/utipc/xdp"
)

func TestMain(m *testing.M) { preload.Main(m) }

// timeout is for all that a test waits for.
const timeout = 5 * time.Minute

// A host has a node, and programs in a namespace of their own, where the kernel has no way to any address but its own
// loopback: what goes to another one went by the node.
type host struct {
	*preload.Bed
	ns      *netns.NS
	address string
	lane    bool   // its programs look before they sleep
	kernel  string // its address of the kernel's TCP on the veth pair, once withKernel has been called
	end     string // of the pair
}

// kernels is what addresses of the kernel's TCP begin with.
const kernels = "10.98.0."

// withKernel gives a host an address of the kernel's, to compare with.
func (h *host) withKernel() {
	h.kernel = kernels + strings.TrimPrefix(h.address, "10.99.0.")
	h.ns.Run("ip", "address", "add", h.kernel+"/24", "dev", h.end)
}

// single makes one alone.
func single(t testing.TB) *host {
	t.Helper()
	preload.NeedCompiler(t)
	netns.Require(t)
	return newHost(t, netns.New(t), must.Get(hub.New(hub.Config{}).Port("eth0", [6]byte{2, 0, 0, 0, 0, 1})), 1)
}

// two makes two of them, on a veth pair.
func two(t testing.TB) (all [2]*host) {
	t.Helper()
	return twoBy(t, nil)
}

// twoBy is two by a driver.
func twoBy(t testing.TB, cfg *xdp.Config) (all [2]*host) {
	t.Helper()
	preload.NeedCompiler(t)
	netns.Require(t)
	a, b := netns.New(t), netns.New(t)
	netns.Veth(t, a, b, ends[0], ends[1], mtu)
	for i, ns := range [...]*netns.NS{a, b} {
		var dev stack.Bearer
		var err error
		ns.Do(func() { dev, err = xdp.Open(ends[i], cfg) })
		if err != nil {
			t.Fatal(err)
		}
		all[i] = newHost(t, ns, dev, byte(i+1))
		all[i].end = ends[i]
	}
	return all
}

const mtu = 1500

// ends are those of the veth pair.
var ends = [2]string{"left", "right"}

func newHost(t testing.TB, ns *netns.NS, dev stack.Bearer, k byte) *host {
	t.Helper()
	ns.Run("ip", "link", "set", "lo", "up")
	return &host{Bed: preload.NewTCPBedOn(t, dev, k), ns: ns, address: fmt.Sprintf("10.99.0.%d", k)}
}

// command is a program of the host, with the library.
func (h *host) command(ctx context.Context, t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	with := must.Get(preload.Here.Command(ctx, h.Bed, name, args...))
	in := h.ns.Command(with.Args[0], with.Args[1:]...)
	cmd := exec.CommandContext(ctx, in.Path, in.Args[1:]...)
	cmd.Env, cmd.ExtraFiles, cmd.SysProcAttr = with.Env, in.ExtraFiles, in.SysProcAttr
	if h.lane {
		cmd.Env = append(cmd.Env, "UTIPC_LANE=1")
	}
	return cmd
}

// sides are the two ends of the tests here: on one node, where they are direct, and on two.
func sides(t *testing.T, test func(t *testing.T, server, client *host)) {
	t.Run("one", func(t *testing.T) {
		h := single(t)
		test(t, h, h)
	})
	t.Run("two", func(t *testing.T) {
		h := two(t)
		test(t, h[0], h[1])
	})
}

// A program in C has of TCP sockets what TCP has: addresses, half closes, resets, refusals, connections that are
// made ahead of accept, options that read back. Of connections that are closed as soon as they are accepted there are as many as
// the program makes.
//
// Mutations it catches: connect of a socket whose connection has ended makes another one; getpeername fails as soon as the
// other end is closed; a process with a filter of system calls makes others than its own; a
// program that is passed a connection does not look whether it is one.
//
// Proves: tcp.programs
func TestConversations(t *testing.T) {
	sides(t, func(t *testing.T, server, client *host) {
		converse(t, server, client, preload.Here.Compile(t, "conversations.c"))
	})
}

// converse runs a program with "serve" on one host, which says its port, and with "use" on another. Each is to find that all is well.
func converse(t *testing.T, server, client *host, program string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	serve := server.command(ctx, t, program, "serve", server.address)
	out := must.Get(serve.StdoutPipe())
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	port, err := r.ReadString('\n')
	if err != nil || !isPort(port) {
		cancel()
		rest, _ := io.ReadAll(r)
		t.Fatalf("the server says %q, %v\n%s", port, err, rest)
	}
	said, err := client.command(ctx, t, program, "use", server.address, strings.TrimSpace(port)).CombinedOutput()
	if err != nil || string(said) != "all is well\n" {
		t.Errorf("the client: %v\n%s", err, said)
		cancel()
	}
	rest, _ := io.ReadAll(r)
	if err := serve.Wait(); err != nil || string(rest) != "all is well\n" {
		t.Errorf("the server: %v\n%s", err, rest)
	}
}

func isPort(line string) bool {
	var port int
	n, err := fmt.Sscanf(line, "%d\n", &port)
	return n == 1 && err == nil
}

// Without a daemon, connect to the prefix fails at once, and nothing goes to the kernel; to other addresses it is the kernel's.
//
// Mutations it catches: ask_prefix reports no prefix where no daemon answers; replace leaves errno as ask has it.
func TestNoDaemon(t *testing.T) {
	h := single(t)
	h.withInterface(t)
	const program = "import socket\nfor a in '10.99.0.1', '10.99.0.7', '127.0.0.1': print(socket.socket().connect_ex((a, 1)))"
	cmd := h.command(t.Context(), t, "/usr/bin/python3", "-c", program)
	cmd.Env = append(cmd.Env, "UTIPC_SOCKET="+h.Path+"0")
	out := must.Get(cmd.Output())
	want := fmt.Sprintf("%d\n%d\n%d\n", syscall.ENETUNREACH, syscall.ENETUNREACH, syscall.ECONNREFUSED)
	if string(out) != want {
		t.Errorf("%q, want %q", out, want)
	}
}
