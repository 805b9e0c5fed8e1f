// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// attachedTests makes every node that the tests open one that is attached to a daemon of
// its own, in front of the node that they asked for: test/attach runs them so.
var attachedTests = os.Getenv("UTIPC_TEST_ATTACHED") != ""

// attachedIfSo is n, or with attachedTests a node attached to a daemon of n.
func attachedIfSo(t testing.TB, n *stack.Node) *stack.Node {
	t.Helper()
	if !attachedTests {
		return n
	}
	c := stack.AttachConfig{SyncErrors: os.Getenv("UTIPC_TEST_ATTACHED") == "sync"}
	if os.Getenv("UTIPC_TEST_ATTACHED") == "ring" {
		c.Ring = stack.RingAlways
	}
	a, _ := attachTo(t, n, c)
	return a
}

// A host is a daemon in this process.
type host struct {
	node   *stack.Node
	srv    *daemon.Server
	path   string
	served chan error
}

// serveOn makes a daemon of n, that listens at path.
func serveOn(t testing.TB, n *stack.Node, path string, cfg daemon.Config) *host {
	t.Helper()
	h := &host{node: n, path: path, served: make(chan error, 1)}
	var err error
	if h.srv, err = daemon.New(n, cfg); err != nil {
		t.Fatal(err)
	}
	l, err := attach.Listen(path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	go func() { h.served <- h.srv.Serve(l) }()
	return h
}

// stop ends the daemon; its node goes on.
func (h *host) stop(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	if err := h.srv.Shutdown(ctx, "the test is over"); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	<-h.served
}

// attachTo attaches to a daemon that is made for it.
func attachTo(t testing.TB, n *stack.Node, cfg stack.AttachConfig) (*stack.Node, *host) {
	t.Helper()
	h := serveOn(t, n, filepath.Join(t.TempDir(), "utipc.sock"), daemon.Config{})
	t.Cleanup(func() { h.stop(t) })
	a, err := cfg.Attach(within(t), h.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(within(t)); err != nil {
			t.Errorf("close an attached node: %v", err)
		}
	})
	return a, h
}

func TestAttachedEcho(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	n, _ := attachTo(t, a, stack.AttachConfig{})
	m, _ := attachTo(t, b, stack.AttachConfig{})
	if n.Addr() != a.Addr() || n.Identity() != a.Identity() {
		t.Errorf("got %v %v, want %v %v", n.Addr(), n.Identity(), a.Addr(), a.Identity())
	}
	echo(t, listen(t, m, echoService))
	if err := n.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	c := listen(t, n, nil)
	buf := make([]byte, 100)
	for range 100 {
		if _, err := c.WriteTo([]byte("hello"), echoService); err != nil {
			t.Fatal(err)
		}
		if k, _, err := c.ReadFrom(buf); err != nil || string(buf[:k]) != "hello" {
			t.Fatalf("got %q, %v", buf[:k], err)
		}
	}
	if k, _, err := n.Call(within(t), echoService, []byte("call"), buf); err != nil || string(buf[:k]) != "call" {
		t.Fatalf("got %q, %v", buf[:k], err)
	}
}

// Proves: daemon.api
func TestAttachedStreams(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	n, _ := attachTo(t, a, stack.AttachConfig{})
	w, err := n.Admin().Watch(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	c, err := n.Admin().Capture(within(t), admin.CaptureConfig{})
	if err != nil {
		t.Fatal(err)
	}
	echo(t, listen(t, b, echoService))
	if err := n.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 10)
	if _, _, err := n.Call(within(t), echoService, []byte("seen?"), buf); err != nil {
		t.Fatal(err)
	}
	for seen := map[bool]bool{}; !seen[true] || !seen[false]; {
		f, err := c.Next(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if f.Bearer != "eth0" || f.Time.IsZero() || f.Length < len(f.Data) {
			t.Fatalf("got %+v", f)
		}
		if bytes.Contains(f.Data, []byte("seen?")) {
			seen[f.Out] = true
		}
	}
	c.Close()
	if _, err := c.Next(within(t)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want %v", err, net.ErrClosed)
	}
	if err := a.Admin().DisableBearer(within(t), "eth0"); err != nil {
		t.Fatal(err)
	}
	for {
		ev, err := w.Next(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind == admin.BearerDisabled && ev.Bearer == "eth0" {
			break
		}
	}
	if _, err := n.Admin().Capture(within(t), admin.CaptureConfig{Bearers: []string{"none"}}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("got %v, want %v", err, syscall.EINVAL)
	}
}
