// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// library builds the library to preload, and returns its path.
func library(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "libutipc.so")
	if out, err := exec.CommandContext(t.Context(), "../../preload/build", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// equalSections are those that print over the library what they print on a kernel. The others are
// to follow: UTIPC_TRANSCRIPT_SECTIONS names others, and "all" is all.
const equalSections = "socket descriptor name socket-option ioctl bind nonblocking poll flow group process pointer pair refuse"

// only returns the sections of a transcript that are named.
func only(text, names string) string {
	var b strings.Builder
	_, lines := sections(text)
	for _, n := range strings.Fields(names) {
		fmt.Fprintf(&b, "== %s\n%s\n", n, strings.Join(lines[n], "\n"))
	}
	return b.String()
}

// serve makes a daemon of a node, and returns the path of its socket.
func serve(t *testing.T, n *stack.Node) string {
	t.Helper()
	srv, err := daemon.New(n, daemon.Config{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := attach.Listen(path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := srv.Shutdown(ctx, "the test is over"); err != nil {
			t.Error(err)
		}
		<-served
	})
	return path
}

// preloaded is a host whose program has the library, and a daemon at the socket.
func preloaded(name, program, library, socket string) host {
	return host{name, func(ctx context.Context, words string) (string, error) {
		cmd := exec.CommandContext(ctx, program, strings.Fields(words)...)
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+library, "UTIPC_SOCKET="+socket)
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			err = fmt.Errorf("transcript %s at %s: %w", words, name, err)
		}
		return string(out), err
	}}
}

// openNode opens a node that nobody else hears.
func openNode(t *testing.T) *stack.Node {
	t.Helper()
	port, err := hub.New(hub.Config{}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	n, err := stack.Open(t.Context(), stack.Config{Address: 0x1001001, Bearers: []stack.Bearer{port}, Tolerance: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := n.Close(ctx); err != nil && !errors.As(err, new(*stack.UnsentError)) {
			t.Error(err)
		}
	})
	return n
}

// Over the library the program prints what it prints on a kernel, but for kinds that are listed.
// Mutations: getsockname of the library answers another address type; shutdown does not call
// shut_unconnected; readable is always true.
//
// Proves: plain.programs
func TestLibrary(t *testing.T) {
	program := build(t, false)
	lib := library(t)
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	n := openNode(t)
	h := preloaded("the library", program, lib, serve(t, n))
	names, want := cmp.Or(os.Getenv("UTIPC_TRANSCRIPT_SECTIONS"), equalSections), recorded(t, "node.txt")
	if names == "all" {
		names = ""
	} else {
		want = only(want, names)
	}
	text, err := h.run(ctx, names)
	if err != nil {
		t.Error(err)
	}
	keep(t, "node.txt", text)
	checkBeside(t, h.name, "node.txt", want, text, LibraryKinds)
}

// keep writes a transcript to the folder that UTIPC_TRANSCRIPT_OUT names.
func keep(t *testing.T, name, text string) {
	t.Helper()
	if dir := os.Getenv("UTIPC_TRANSCRIPT_OUT"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
}
