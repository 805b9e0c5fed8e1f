// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
)

// Who holds a connection whose process has ended is found by /proc.
// Mutation: unixPeer returns the socket's own number.
func TestHolders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := attach.Listen(path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := attach.Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	inode, err := s.Inode()
	if err != nil {
		t.Fatal(err)
	}
	held := func(inode uint64) string {
		gone := daemon.Client{Ended: true, Inodes: []uint64{inode}}
		return endedClient(&gone, holders([]daemon.Client{gone}))
	}
	peer, err := c.Inode()
	if err != nil {
		t.Fatal(err)
	}
	attached, err := unixPeer(uint32(inode))
	if err != nil || uint64(attached) != peer {
		t.Fatalf("got the socket %d at the other end, want %d: %v", attached, peer, err)
	}
	if got, want := held(inode), fmt.Sprintf(" (ended; its connections are held by %d ", os.Getpid()); !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := held(1); got != " (ended; who holds its connections is not known)" {
		t.Errorf("of a socket that is not there: got %q", got)
	}
}
