// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/stack"
)

// attached is the node n as a program sees it that has attached to its daemon.
func attached(t *testing.T, n *stack.Node) *stack.Node {
	t.Helper()
	s, err := daemon.New(n, daemon.Config{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := attach.Listen(path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		s.Shutdown(ctx, "the test is over")
		<-served
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	far, err := stack.Attach(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close(context.Background()) })
	return far
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
