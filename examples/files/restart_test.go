// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/nodes"
)

func TestMain(m *testing.M) { nodes.Main(m) }

// A file arrives although the daemon that client and server are attached to is killed in the middle. It is too long to arrive before,
// and is cut to what has come and a little more while there is no daemon.
//
// Mutation it catches: get ends with a broken connection.
//
// Proves: daemon.dies
func TestFilesOutliveTheDaemon(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "utipc.sock"), t.TempDir()
	big, to := filepath.Join(dir, "big"), filepath.Join(t.TempDir(), "copy")
	if err := errors.Join(os.WriteFile(big, nil, 0o644), os.Truncate(big, 1<<40)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	kill := nodes.StartDaemon(t, path)
	ended, got := make(chan error, 1), make(chan error, 1)
	attached := func() *stack.Node {
		n, err := stack.Attach(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	server, client := attached(), attached()
	defer server.Close(ctx)
	defer client.Close(ctx)
	serving, stop := context.WithCancel(ctx)
	go func() { ended <- serve(serving, server, dir) }()
	go func() { got <- get(ctx, client, "big", to) }()
	var size int64
	for size == 0 && ctx.Err() == nil { // until a part is there
		<-time.After(time.Millisecond)
		if info, err := os.Stat(to); err == nil {
			size = info.Size()
		}
	}
	kill()
	info, err := os.Stat(to)
	if err != nil {
		t.Fatal(err)
	}
	size = info.Size() + 10<<20 // the client may still read what the kernel has for it
	if err := os.Truncate(big, size); err != nil {
		t.Fatal(err)
	}
	nodes.StartDaemon(t, path)
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(to); err != nil || info.Size() != size {
		t.Errorf("got %d bytes, want %d; %v", info.Size(), size, err)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the server ended with %v", err)
	}
}
