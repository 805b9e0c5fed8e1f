// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/test/netns"
)

// hold binds a socket to queue 0, as another program would, when it is free.
func hold(t *testing.T, ns *netns.NS, name string) *socket {
	t.Helper()
	var s *socket
	var index int
	var err error
	ns.Do(func() {
		var i *net.Interface
		if i, err = net.InterfaceByName(name); err == nil {
			index = i.Index
			s, err = openSocket(0)
		}
	})
	if err == nil {
		err = s.prepare(64, 64, 0)
	}
	if err == nil {
		err = registerMemory(s.fd, netdev.NewArena(netdev.ArenaConfig{Small: 16}).Memory())
	}
	if err == nil {
		err = patiently(Timeouts{}.timeouts().queue, func() error {
			return unix.Bind(s.fd, &unix.SockaddrXDP{Flags: unix.XDP_COPY, Ifindex: uint32(index)})
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A queue that somebody has is waited for, and no longer than that.
//
// Mutations it catches: Attach, or the trial of OpenXSK, that does not wait for a queue.
//
// Proves: device.open
func TestXSKBusyQueue(t *testing.T) {
	netns.Require(t)
	ns := netns.New(t)
	netns.Veth(t, ns, ns, "left", "right", 1500)
	openLeft := func(timeouts Timeouts) (x *XSK, err error) {
		ns.Do(func() { x, err = timeouts.OpenXSK("left", nil) })
		if err == nil {
			t.Cleanup(func() { x.Close() })
		}
		return x, err
	}
	holder := hold(t, ns, "left")
	var owned *OwnedError
	const soon = 100 * time.Millisecond
	if _, err := openLeft(Timeouts{Queue: soon}); !errors.As(err, &owned) || owned.Interface != "left" || !strings.Contains(owned.Owner, "queue 0") {
		t.Errorf("held: got %v, want an OwnedError", err)
	}
	// Let go of while another opens, or attaches.
	defer time.AfterFunc(soon, holder.close).Stop()
	x, err := openLeft(Timeouts{})
	if err != nil {
		t.Fatalf("let go of: %v", err)
	}
	holder = hold(t, ns, "left")
	defer time.AfterFunc(soon, holder.close).Stop()
	arena := netdev.NewArena(netdev.ArenaConfig{Small: 64})
	if err := x.Attach(arena, nil); err != nil {
		t.Fatalf("let go of while it attaches: %v", err)
	}
	x.Close()

	// Taken between opening and attaching, for good.
	if x, err = openLeft(Timeouts{}); err != nil {
		t.Fatal(err)
	}
	x.config.timeouts.queue = soon
	defer hold(t, ns, "left").close()
	for range 2 {
		if err := x.Attach(arena, nil); !errors.As(err, &owned) {
			t.Errorf("Attach to a taken queue: got %v, want an OwnedError", err)
		}
	}
	if got, want := arena.Free(), arena.Total(); got != want {
		t.Errorf("not attached: got %d chunks free, want %d", got, want)
	}
}
