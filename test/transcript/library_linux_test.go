// SPDX-License-Identifier: Apache-2.0

package transcript

import (
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
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/interop"
	"github.com/utipc/utipc/test/interop/rig"
)

// library returns the path of the library to preload, which UTIPC_TRANSCRIPT_LIB names.
func library(t *testing.T) string {
	t.Helper()
	path := os.Getenv("UTIPC_TRANSCRIPT_LIB")
	if path == "" {
		t.Skip("UTIPC_TRANSCRIPT_LIB does not name a library to preload")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
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

// openNode opens a node on a cable, and returns the other end.
func openNode(t *testing.T) (*stack.Node, rig.Link) {
	t.Helper()
	cable, link, err := interop.NewCable([6]byte{2, 0, 0, 0, 0, 1}, [6]byte{2, 0, 0, 0, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { link.Close() })
	n, err := stack.Open(t.Context(), stack.Config{Address: 0x1001001, Bearers: []stack.Bearer{cable}, Tolerance: 30 * time.Second})
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
	return n, link
}

// Over the library the program prints what it prints on a kernel, but for kinds that are listed.
func TestLibrary(t *testing.T) {
	lib := library(t)
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	n, _ := openNode(t)
	h := preloaded("the library", build(t, false), lib, serve(t, n))
	text, err := h.run(ctx, os.Getenv("UTIPC_TRANSCRIPT_SECTIONS"))
	if err != nil {
		t.Error(err)
	}
	keep(t, "node.txt", text)
	check(t, h.name, "node.txt", text, LibraryKinds)
}

// Over the library, with a kernel as the other node, the two parts print what they print on two
// kernels, whichever is the client.
func TestLibraryBesideKernel(t *testing.T) {
	lib := library(t)
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	n, link := openNode(t)
	image := rig.RequireKernel(t, rig.UML)
	g, err := rig.Start(ctx, image, rig.Options{
		Name: "kernel", Address: "1.1.2", Links: []rig.Link{link}, Enable: true, Tolerance: 30 * time.Second, Files: map[string]string{guestTarget: build(t, true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	hosts := [2]host{preloaded("the library", build(t, false), lib, serve(t, n)), guest("a kernel", g)}
	for i := range hosts {
		client, server := hosts[i], hosts[1-i]
		clients, servers := twoNodes(ctx, t, client, server)
		where := fmt.Sprintf("client at %s, server at %s", client.name, server.name)
		keep(t, fmt.Sprintf("client%d.txt", i), clients)
		keep(t, fmt.Sprintf("server%d.txt", i), servers)
		check(t, where, "client.txt", clients, LibraryKinds)
		check(t, where, "server.txt", servers, LibraryKinds)
	}
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
