// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// attached is the node n as a program sees it that has attached to its daemon.
func attached(t *testing.T, n *stack.Node) *stack.Node {
	t.Helper()
	attached, _ := attachedUntil(t, n)
	return attached
}

// attachedUntil is attached, and end ends the daemon.
func attachedUntil(t *testing.T, n *stack.Node) (attached *stack.Node, end func()) {
	t.Helper()
	path, end := served(t, n)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	attached, err := stack.AttachConfig{NoReattach: true}.Attach(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { attached.Close(context.Background()) })
	return attached, end
}

// served starts a daemon for the node n, whose socket is at path, and end ends it.
func served(t *testing.T, n *stack.Node) (path string, end func()) {
	t.Helper()
	s, err := daemon.New(n, daemon.Config{})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "s")
	l, err := attach.Listen(path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	end = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		s.Shutdown(ctx, "the test is over")
		<-done
	})
	t.Cleanup(end)
	return path, end
}

// A firstWord is a writer that tells of what is written first.
type firstWord struct {
	once sync.Once
	news chan struct{}
}

func (h *firstWord) Write(b []byte) (int, error) {
	h.once.Do(func() { close(h.news) })
	return len(b), nil
}

// Commands that go on until they are interrupted end with an error when the daemon does.
func TestDaemonEnds(t *testing.T) {
	all := liveBed(t, 2)
	for _, c := range []struct {
		name string
		run  func(ctx context.Context, n *stack.Node, out io.Writer) error
	}{
		{"capture", func(ctx context.Context, n *stack.Node, out io.Writer) error {
			c := capturer{CaptureConfig: admin.CaptureConfig{Frames: 64}}
			return c.run(ctx, n, cmdline.Stdio{In: nil, Out: out, Err: io.Discard})
		}},
		{"map", func(ctx context.Context, n *stack.Node, out io.Writer) error {
			m := mapper{serve: "127.0.0.1:0", interval: time.Hour, wait: time.Second}
			return m.serveMap(ctx, n, out)
		}},
		{"top", func(ctx context.Context, n *stack.Node, out io.Writer) error {
			w := top{interval: 10 * time.Millisecond}
			return w.run(ctx, n, cmdline.Stdio{In: nil, Out: out, Err: io.Discard})
		}},
		{"watch", func(ctx context.Context, n *stack.Node, out io.Writer) error {
			var w watcher
			if err := w.check(nil); err != nil {
				return err
			}
			return w.run(ctx, n, out)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			attached, end := attachedUntil(t, all[0])
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			out, done := &firstWord{news: make(chan struct{})}, make(chan error, 1)
			go func() { done <- c.run(ctx, attached, out) }()
			select {
			case <-out.news:
			case err := <-done:
				t.Fatalf("it ended before the daemon: %v", err)
			}
			end()
			if err := <-done; !errors.As(err, new(*stack.GoneError)) {
				t.Errorf("it ended with %v, want that the daemon is gone", err)
			}
		})
	}
}

// onBoth runs f twice, with nodes of this process, and with the first of them attached.
func onBoth(t *testing.T, nodes int, f func(t *testing.T, all []*stack.Node)) {
	t.Run("embedded", func(t *testing.T) { f(t, liveBed(t, nodes)) })
	t.Run("attached", func(t *testing.T) {
		all := liveBed(t, nodes)
		all[0] = attached(t, all[0])
		f(t, all)
	})
}
