// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/netns"
)

// joinTaps makes a TAP interface in each of two namespaces and carries frames from one to the
// other, as an emulator does between its guests, until the test ends.
func joinTaps(t *testing.T, a *netns.NS, nameA string, b *netns.NS, nameB string) {
	t.Helper()
	x, y := openTap(t, a, nameA), openTap(t, b, nameB)
	done := make(chan struct{}, 2)
	for _, way := range [][2]*os.File{{x, y}, {y, x}} {
		go func() {
			defer func() { done <- struct{}{} }()
			for frame := make([]byte, 1<<16); ; {
				n, err := way[0].Read(frame)
				if err != nil {
					return
				}
				way[1].Write(frame[:n]) // what an interface that is down refuses is lost
			}
		}()
	}
	t.Cleanup(func() {
		x.Close()
		y.Close()
		<-done
		<-done
	})
}

// openTap makes a TAP interface that is up.
func openTap(t *testing.T, ns *netns.NS, name string) *os.File {
	t.Helper()
	fd := -1
	var err error
	ns.Do(func() { fd, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0) })
	if err != nil {
		t.Fatal(err)
	}
	req, err := unix.NewIfreq(name)
	if err != nil {
		t.Fatal(err)
	}
	req.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, req); err != nil {
		unix.Close(fd)
		t.Fatal("TUNSETIFF:", err)
	}
	ns.Run("ip", "link", "set", "dev", name, "up")
	return os.NewFile(uintptr(fd), name)
}
