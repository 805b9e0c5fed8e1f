// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
// Mutations it catches: access does not ask again; the old host still answers while the disk is on
// its way.
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
		if second.contents() == nil {
			t.Error("the disk has moved, and nobody serves it yet")
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

// others is a disk that clients of others reach by a UNIX socket, and that begins to move with the
// first of so many. uri is how they name it; ended is called when all have left.
func others(t *testing.T, clients int) (uri string, ended func()) {
	t.Helper()
	c := stacktest.NewCluster(t, 3)
	first, second, r := two(t, c)
	path := filepath.Join(t.TempDir(), "nbd")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	served, moved := make(chan error, clients), make(chan error, 1)
	go func() {
		for i := range clients {
			c, err := ln.Accept()
			if i == 0 {
				go func() { moved <- first.move(t.Context(), 2) }()
			}
			if err == nil {
				err = serveNBD(c, r)
				c.Close()
			}
			served <- err
		}
	}()
	return "nbd+unix:///?socket=" + path, func() {
		t.Helper()
		for range clients {
			if err := <-served; err != nil {
				t.Error(err)
			}
		}
		if err := <-moved; err != nil {
			t.Error(err)
		}
		if !r.met[c.Node(2).Addr()] {
			t.Error("no client has found the disk where it moved")
		}
		r.close()
		first.close()
		second.close()
		ln.Close()
	}
}

// command runs a program of others.
func command(t *testing.T, pkg, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		tier.Missing(t, "no", name, "(Debian:", pkg+"):", err)
	}
	said, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v: %s", name, args, err, said)
	}
	return string(said)
}

// nbdcopy writes a disk and reads it back, which moves meanwhile.
//
// Mutations it catches: an option that is not known is answered as if it were; an answer has
// another handle; a read is answered without the data.
func TestNbdcopy(t *testing.T) {
	command(t, "libnbd-bin", "nbdcopy", "--version")
	uri, ended := others(t, 2)
	var want []byte
	for i := range int64(diskSize / blockSize) {
		want = append(want, block(i)...)
	}
	in, out := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(in, want, 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, "libnbd-bin", "nbdcopy", in, uri)
	command(t, "libnbd-bin", "nbdcopy", uri, out)
	ended()
	got, err := os.ReadFile(out)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes came back, %v, not the %d that were written", len(got), err, len(want))
	}
}

// QEMU writes a pattern to each part of the disk, which moves meanwhile, and compares.
//
// Mutation it catches: a flush is an error.
func TestQEMU(t *testing.T) {
	command(t, "qemu-utils", "qemu-io", "--version")
	uri, ended := others(t, 1)
	args := []string{"-f", "raw", uri}
	const parts, part = 64, diskSize / 64
	for i := range parts {
		args = append(args, "-c", fmt.Sprintf("write -P %d %d %d", i+1, i*part, part))
	}
	args = append(args, "-c", "flush")
	for i := range parts {
		args = append(args, "-c", fmt.Sprintf("read -P %d %d %d", i+1, i*part, part))
	}
	said := command(t, "qemu-utils", "qemu-io", args...)
	ended()
	if strings.Contains(said, "failed") || strings.Count(said, "read ") != parts || strings.Count(said, "wrote ") != parts {
		t.Errorf("qemu-io: %s", said)
	}
}
