// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	protocol "github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/netns"
)

// A daemon whose socket is removed while its folder is full says so once, serves those that are
// attached, answers the service manager, and makes the socket when there is room.
//
// Mutation: keepSocket says it at each beat.
func TestFolderIsFullWhileItServes(t *testing.T) {
	netns.Require(t)
	dir := t.TempDir()
	runtime.LockOSThread() // and never unlocked, so that the thread ends, and its mounts with it
	for _, err := range []error{
		unix.Unshare(unix.CLONE_NEWNS),
		unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""),
		unix.Mount("none", dir, "tmpfs", 0, "nr_inodes=8"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	socket := filepath.Join(dir, "utipc.sock")
	s := startDaemon(t, socket, aloneByUDP(t)...)
	n, err := stack.Attach(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close(t.Context())
	var full []string
	for err == nil {
		name := filepath.Join(dir, fmt.Sprint("other", len(full)))
		if err = os.WriteFile(name, nil, 0o600); err == nil {
			full = append(full, name)
		}
	}
	if err := os.Rename(socket, socket+".gone"); err != nil { // which makes no room
		t.Fatal(err)
	}
	s.logged(`socket not made again.*no space left on device`)
	for range 3 {
		s.told("WATCHDOG=1")
	}
	if got := strings.Count(s.said(), "socket not made again"); got != 1 {
		t.Errorf("said %d times, want 1", got)
	}
	if _, err := n.Admin().Bearers(t.Context()); err != nil {
		t.Errorf("who is attached: %v", err)
	}
	for _, name := range full {
		os.Remove(name)
	}
	s.logged(`socket made again`)
	if !protocol.Alive(t.Context(), socket) {
		t.Error("nobody listens")
	}
	s.cmd.Process.Signal(syscall.SIGTERM)
	if status := s.ends(); status != cmdline.Done {
		t.Errorf("stopped with status %d", status)
	}
}
