// SPDX-License-Identifier: Apache-2.0

package netns

import (
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Patience is how long WaitCarrier waits before it fails the test.
const Patience = 10 * time.Second

// pairs counts the pairs made, so that every interface gets an index of its own.
// Left alone, the first interface of each namespace would be number 2 on both
// sides, and the kernel, which knows a veth by its peer's number being another,
// would tell of carrier a second later.
var pairs atomic.Int32

// Veth makes a pair of Ethernet interfaces, nameA in a and nameB in b, which may
// be one namespace. Both have the MTU, in bytes, are up and have carrier when it
// returns. No address is ever configured on them, so the kernel sends nothing of
// its own. They vanish with their namespaces.
func Veth(tb testing.TB, a, b *NS, nameA, nameB string, mtu int) {
	tb.Helper()
	size := strconv.Itoa(mtu)
	index := 1000 + 2*int(pairs.Add(1))
	a.Run("ip", "link", "add", nameA, "index", strconv.Itoa(index), "mtu", size, "type", "veth",
		"peer", "name", nameB, "index", strconv.Itoa(index+1), "mtu", size, "netns", b.Path())
	for _, end := range []struct {
		ns   *NS
		name string
	}{{a, nameA}, {b, nameB}} {
		// Refused by a kernel without IPv6, which is as quiet.
		_ = end.ns.Command("ip", "link", "set", "dev", end.name, "addrgenmode", "none").Run()
		end.ns.Run("ip", "link", "set", "dev", end.name, "up")
	}
	a.WaitCarrier(nameA, true)
	b.WaitCarrier(nameB, true)
}

// WaitCarrier returns when the interface is up and has carrier, or, with false,
// when it has not. It sleeps until the kernel tells of a change, and fails the
// test after Patience.
func (ns *NS) WaitCarrier(name string, want bool) {
	ns.tb.Helper()
	var err error
	ns.Do(func() { err = waitCarrier(name, want) })
	if err != nil {
		ns.tb.Fatalf("in %s: waiting for carrier=%v on %s: %v", ns.Name, want, name, err)
	}
}

func waitCarrier(name string, want bool) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: unix.RTMGRP_LINK}); err != nil {
		return err
	}
	// Subscribed first, then looked: no change falls between.
	for end := time.Now().Add(Patience); ; {
		ifi, err := net.InterfaceByName(name)
		if err != nil {
			return err
		}
		if (ifi.Flags&net.FlagRunning != 0) == want {
			return nil
		}
		left := time.Until(end)
		if left <= 0 {
			return unix.ETIMEDOUT
		}
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, int(left.Milliseconds())+1); err != nil && err != unix.EINTR {
			return err
		}
		// What it says does not matter, only that something changed.
		var event [8192]byte
		for {
			if _, _, err := unix.Recvfrom(fd, event[:], unix.MSG_DONTWAIT); err != nil {
				break
			}
		}
	}
}
