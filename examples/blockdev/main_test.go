// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stacktest"
	"github.com/utipc/utipc/test/tier"
)

func Example() {
	main()
	// Output:
	// 1024 blocks written and read back, the disk was on 2 nodes
}

// The example leaves nothing open, in virtual time, where the move falls among the writes.
//
// Mutations it catches: release does not end connections; access does not ask again; what is answered
// while the disk is on its way stays at the old host.
//
// Proves: stacktest.examples
func TestInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := blockdev(t.Context(), stacktest.NewCluster(t, 3).Nodes()); err != nil {
			t.Error(err)
		}
	})
}

// two hosts, the disk at the first, and a server's side of it.
func two(t *testing.T, c *stacktest.Cluster) (first, second *host, r *remote) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	first, err := newHost(t.Context(), c.Node(1), 1, make([]byte, diskSize))
	must(err)
	second, err = newHost(t.Context(), c.Node(2), 2, nil)
	must(err)
	r, err = newRemote(t.Context(), c.Node(0))
	must(err)
	return first, second, r
}

// The node that had the disk ends without a word after the move: what was written is there.
//
// Mutation it catches: move returns before the new host serves.
func TestOldHostCrashes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := stacktest.NewCluster(t, 3)
		first, second, r := two(t, c)
		if err := r.access(true, block(5), 5*blockSize); err != nil {
			t.Fatal(err)
		}
		if err := first.move(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		c.Crash(1)
		first.close()
		got := make([]byte, blockSize)
		if err := r.access(false, got, 5*blockSize); err != nil || !bytes.Equal(got, block(5)) {
			t.Errorf("got %q…, %v", got[:16], err)
		}
		r.close()
		second.close()
	})
}

// The new host ends without a word while the disk is on its way: it stays where it was.
//
// Mutation it catches: move does not serve again after an error.
func TestNewHostCrashes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := stacktest.NewCluster(t, 3)
		first, second, r := two(t, c)
		if err := r.access(true, block(5), 5*blockSize); err != nil {
			t.Fatal(err)
		}
		second.close()
		ln, err := c.Node(2).Listen(t.Context(), "tipc", stack.Service{Type: hostType, Instance: 2})
		if err != nil {
			t.Fatal(err)
		}
		moved := make(chan error)
		go func() { moved <- first.move(t.Context(), 2) }()
		if _, err := ln.Accept(); err != nil {
			t.Fatal(err)
		}
		c.Crash(2) // it has read nothing
		if err := <-moved; err == nil {
			t.Error("it has moved to a node that is gone")
		}
		got := make([]byte, blockSize)
		if err := r.access(false, got, 5*blockSize); err != nil || !bytes.Equal(got, block(5)) {
			t.Errorf("got %q…, %v", got[:16], err)
		}
		r.close()
		first.close()
	})
}

// A client of others writes a disk and reads it back, which moves meanwhile.
//
// Mutations it catches: an option that is not known is answered as if it were; an answer has
// another handle; a read answers what was there before the move.
func TestNbdcopy(t *testing.T) {
	if _, err := exec.LookPath("nbdcopy"); err != nil {
		tier.Missing(t, "no nbdcopy (Debian: libnbd-bin):", err)
	}
	c := stacktest.NewCluster(t, 3)
	first, second, r := two(t, c)
	defer second.close()
	defer first.close()
	defer r.close()
	dir := t.TempDir()
	ln, err := net.Listen("unix", filepath.Join(dir, "nbd"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	served := make(chan error, 2)
	go func() {
		for range 2 {
			c, err := ln.Accept()
			if err == nil {
				err = serveNBD(c, r)
				c.Close()
			}
			served <- err
		}
	}()
	var want []byte
	for i := range int64(diskSize / blockSize) {
		want = append(want, block(i)...)
	}
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, want, 0o600); err != nil {
		t.Fatal(err)
	}
	moved := make(chan error, 1)
	uri := "nbd+unix:///?socket=" + filepath.Join(dir, "nbd")
	for i, args := range [][]string{{in, uri}, {uri, out}} {
		if i == 0 {
			go func() { moved <- first.move(t.Context(), 2) }()
		}
		if said, err := exec.CommandContext(t.Context(), "nbdcopy", args...).CombinedOutput(); err != nil {
			t.Fatalf("nbdcopy %v: %v: %s", args, err, said)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
	if err := <-moved; err != nil {
		t.Error(err)
	}
	got, err := os.ReadFile(out)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes came back, %v, not the %d that were written", len(got), err, len(want))
	}
}
