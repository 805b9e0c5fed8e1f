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

// A daemon whose socket is removed while its folder takes no file says so once, with a remedy, serves
// those that are attached, answers the service manager, and makes the socket when it can.
//
// Mutations: keepSocket says it at each beat; it leaves out the remedy.
func TestFolderTakesNoSocketWhileItServes(t *testing.T) {
	netns.Require(t)
	for what, c := range map[string]struct {
		said    string
		spoil   func(dir, socket string) error
		restore func(dir string)
	}{
		"full": {
			said: "no space left on device",
			spoil: func(dir, socket string) error {
				for n, err := 0, error(nil); err == nil; n++ {
					err = os.WriteFile(filepath.Join(dir, fmt.Sprint("other", n)), nil, 0o600)
				}
				return os.Rename(socket, socket+".gone") // which makes no room
			},
			restore: func(dir string) {
				for n := range 8 {
					os.Remove(filepath.Join(dir, fmt.Sprint("other", n)))
				}
			},
		},
		"read-only": {
			said:    "read-only file system",
			spoil:   func(dir, _ string) error { return unix.Mount("none", dir, "tmpfs", unix.MS_RDONLY, "") },
			restore: func(dir string) { unix.Unmount(dir, unix.MNT_DETACH) },
		},
	} {
		t.Run(what, func(t *testing.T) {
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
			if err := c.spoil(dir, socket); err != nil {
				t.Fatal(err)
			}
			s.logged(`socket not made again.*` + c.said + `.*remedy="make room there`)
			for range 3 {
				s.told("WATCHDOG=1")
			}
			if got := strings.Count(s.said(), "socket not made again"); got != 1 {
				t.Errorf("said %d times, want 1", got)
			}
			if _, err := n.Admin().Bearers(t.Context()); err != nil {
				t.Errorf("who is attached: %v", err)
			}
			c.restore(dir)
			s.logged(`socket made again`)
			if !protocol.Alive(t.Context(), socket) {
				t.Error("nobody listens")
			}
			s.cmd.Process.Signal(syscall.SIGTERM)
			if status := s.ends(); status != cmdline.Done {
				t.Errorf("stopped with status %d", status)
			}
		})
	}
}
