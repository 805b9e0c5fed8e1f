// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/tier"
)

// Lists are fetched when another program has let go of their lock, by the real apt-get with
// no sources. A shim in front of it says how each of its runs ended.
//
// Mutation it catches: tool that calls once and returns.
func TestAptWaitsForLock(t *testing.T) {
	aptGet, err := exec.LookPath("apt-get")
	if err != nil {
		tier.Missing(t, errNoApt)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	for _, d := range []string{"own/lists", "bin", "etc/apt.conf.d", "etc/preferences.d", "etc/sources.list.d"} {
		check(os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	check(os.WriteFile(filepath.Join(dir, "etc/sources.list"), nil, 0o644))
	check(os.WriteFile(filepath.Join(dir, "apt.conf"), fmt.Appendf(nil, "Dir::Etc \"%s/etc\";\n", dir), 0o644))
	ended := filepath.Join(dir, "ended")
	check(syscall.Mkfifo(ended, 0o600))
	shim := fmt.Sprintf("#!/bin/sh\n%s \"$@\"\nstatus=$?\necho $status >%s\nexit $status\n", aptGet, ended)
	check(os.WriteFile(filepath.Join(dir, "bin/apt-get"), []byte(shim), 0o755))
	t.Setenv("PATH", filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	t.Setenv("APT_CONFIG", filepath.Join(dir, "apt.conf"))

	lock, err := os.OpenFile(filepath.Join(dir, "own/lists/lock"), os.O_CREATE|os.O_RDWR, 0o640)
	check(err)
	defer lock.Close()
	check(unix.FcntlFlock(lock.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}))
	a, err := newApt(filepath.Join(dir, "own"))
	check(err)
	fetched := make(chan error, 1)
	go func() {
		_, err := a.ownLists(t.Context(), true)
		fetched <- err
	}()
	events, err := os.OpenFile(ended, os.O_RDWR, 0) // both ways: it never ends
	check(err)
	defer events.Close()
	runs := bufio.NewReader(events)
	if status, err := runs.ReadString('\n'); err != nil || status != "100\n" {
		t.Fatalf("beside the lock apt-get ended with %q, %v", status, err)
	}
	check(lock.Close())
	check(<-fetched)
}
