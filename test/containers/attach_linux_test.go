// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/test/netns"
)

// TestStaticBinary: the binary needs no file beside it. It runs in a root where there is
// nothing else.
//
// Proves: tools.containers
func TestStaticBinary(t *testing.T) {
	require(t)
	root := image(t)
	f, err := elf.Open(filepath.Join(root, "utipc"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("got a segment %v, want a static binary", p.Type)
		}
	}
	ctx := within(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"version"}, "utipc "},
		{[]string{"-h"}, "TIPC in user space"},
		{[]string{"daemon", "--print-config"}, "utipc.sock"},
		{[]string{"doctor", "--json"}, `"host"`},
	} {
		out, _ := output(t, nil, container{}.command(ctx, t, c.args...))
		if !strings.Contains(out, c.want) {
			t.Errorf("%q: got %q, want %q in it", c.args, out, c.want)
		}
	}
	text, err := os.ReadFile("../../packaging/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\nFROM scratch\n") || !strings.Contains(string(text), "CGO_ENABLED=0") {
		t.Error("packaging/Dockerfile is not from scratch with a static binary")
	}
}

// daemon starts the daemon in its own namespace with a socket that these may open, and
// returns the socket's directory.
func daemon(t *testing.T, mode string, group int) (dir string) {
	t.Helper()
	image(t)
	dir, err := os.MkdirTemp(built.dir, "run-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	os.Chmod(dir, 0o755)
	ns := netns.New(t)
	ns.Run("ip", "link", "set", "dev", "lo", "up")
	cmd := ns.Command(filepath.Join(built.dir, "utipc"), "daemon", "--udp", "127.0.0.1:6118,127.0.0.1:6119", "--address", "1.1.1",
		"--socket", filepath.Join(dir, "utipc.sock"), "--socket-mode", mode, "--socket-group", fmt.Sprint(group))
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		cmd.Process.Signal(unix.SIGTERM)
		<-ended
		if b, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("the daemon's log:\n%s", b)
		}
		log.Close()
	})
	waitFor(t, ended, func() bool { return attach.Alive(t.Context(), filepath.Join(dir, "utipc.sock")) })
	return dir
}

// TestClientsInContainers: two programs in containers of their own, without any network
// interface, reach each other through the host's daemon. Each has its own mount,
// network, PID and user namespaces, and nothing in common with the host but the
// directory of the socket.
//
// Proves: tools.containers
func TestClientsInContainers(t *testing.T) {
	require(t)
	for _, c := range []struct {
		name  string
		ids   int // of root in the container
		mode  string
		group int // of the socket
		fails string
	}{
		{name: "root of the host", ids: 0, mode: "0660"},
		{name: "mapped, socket for all", ids: 100000, mode: "0666"},
		{name: "mapped, socket of the mapped group", ids: 100000, mode: "0660", group: 100000},
		{name: "mapped, socket of another group", ids: 100000, mode: "0660", group: 100001, fails: "permission denied"},
		{name: "mapped, socket of root alone", ids: 100000, mode: "0600", fails: "permission denied"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			ctx := within(t)
			dir := daemon(t, c.mode, c.group)
			box := container{ids: c.ids, socket: dir}
			echo := serve(t, nil, box.command(ctx, t, "echo", "18888:17"))
			if c.fails != "" {
				if echo.first != "" || !strings.Contains(echo.said(), c.fails) {
					t.Errorf("got %q, %q, want %q", echo.first, echo.said(), c.fails)
				}
				return
			}
			if !strings.Contains(echo.first, "18888:17") {
				t.Fatalf("echo: got %q, %q", echo.first, echo.said())
			}
			out, status := output(t, nil, box.command(ctx, t, "ping", "--count", "5", "--interval", "0", "--timeout", waiting, "18888:17"))
			wantPing(t, c.name, out, status)
			// The same name, from a program that is the daemon's neighbour on the host.
			out, status = output(t, nil, container{socket: dir}.command(ctx, t, "ping", "--count", "5", "--interval", "0", "--timeout", waiting, "18888:17"))
			wantPing(t, c.name+", from the host", out, status)
			// A container that dies takes its names along.
			echo.cmd.Process.Kill()
			echo.stop()
			waitFor(t, nil, func() bool {
				out, status = output(t, nil, box.command(ctx, t, "ping", "--count", "1", "--timeout", "100ms", "18888:17"))
				return status != 0 && strings.Contains(out, "nobody has bound 18888:17")
			})
		})
	}
}
