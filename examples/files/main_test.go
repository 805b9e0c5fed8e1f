// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/stacktest"
)

// A file arrives although the server's node crashes and comes back in the middle; and nothing but what is below the folder is sent.
//
// Mutation it catches: receive asks for the file from its beginning; get ends with a broken connection.
//
// Proves: stacktest.examples
func TestFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		want := make([]byte, 3<<20)
		rand.NewChaCha8([32]byte{}).Read(want)
		if err := os.WriteFile(filepath.Join(dir, "big"), want, 0o644); err != nil {
			t.Fatal(err)
		}
		c := stacktest.NewCluster(t, 2)
		c.All().Delay(time.Millisecond) // so that the file takes time
		ended := make(chan error, 3)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { ended <- serve(ctx, c.Node(0), dir) }()
		to := filepath.Join(t.TempDir(), "copy")
		got := make(chan error, 1)
		go func() { got <- get(t.Context(), c.Node(1), "big", to) }()
		for { // until a part is there
			<-time.After(time.Millisecond)
			if info, err := os.Stat(to); err == nil && info.Size() > 0 {
				if info.Size() == int64(len(want)) {
					t.Fatal("the file came before the crash")
				}
				break
			}
		}
		c.Crash(0)
		<-ended
		restarted := c.Restart(0)
		go func() { ended <- serve(ctx, restarted, dir) }()
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(to); err != nil || !bytes.Equal(b, want) {
			t.Errorf("got %d bytes, want %d, the same ones; %v", len(b), len(want), err)
		}
		if err := get(t.Context(), c.Node(1), "../big", filepath.Join(t.TempDir(), "copy")); err == nil {
			t.Error("the server has sent a file that is not below its folder")
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the server ended with %v", err)
		}
	})
}
