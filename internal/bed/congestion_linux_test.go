// SPDX-License-Identifier: Apache-2.0

package bed_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/bed"
)

// congestion is what a connection uses.
func congestion(t *testing.T, c net.Conn) (name string) {
	t.Helper()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			name, err = unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(name, "\x00")
}

// Connections that are made and those that are taken use what the route says, which is
// not what the machine does. (A kernel without modules has reno at least.)
//
// Proves: bench.loads
func TestSetCongestion(t *testing.T) {
	b := makeBed(t, bed.Options{})
	addrs := []netip.Addr{netip.MustParseAddr("10.71.9.1"), netip.MustParseAddr("10.71.9.2")}
	for end, a := range addrs {
		n := b.Namespace(end)
		if err := n.SetAddress(b.Name(end), a); err != nil {
			t.Fatal(err)
		}
		if err := n.SetCongestion(b.Name(end), a, "reno"); err != nil {
			t.Fatal(err)
		}
		if err := n.SetCongestion(b.Name(end), a, "no such thing"); err == nil {
			t.Error("an algorithm there is not: got no error")
		}
	}
	var l net.Listener
	var asked, taken net.Conn
	inside(t, b, 1, func() {
		var err error
		if l, err = net.Listen("tcp4", addrs[1].String()+":0"); err != nil {
			t.Error(err)
		}
	})
	if t.Failed() {
		return
	}
	defer l.Close()
	inside(t, b, 0, func() {
		var err error
		if asked, err = net.Dial("tcp4", l.Addr().String()); err != nil {
			t.Error(err)
		}
	})
	if t.Failed() {
		return
	}
	defer asked.Close()
	taken, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for what, c := range map[string]net.Conn{"made": asked, "taken": taken} {
		if got := congestion(t, c); got != "reno" {
			t.Errorf("%s: got %q, want reno", what, got)
		}
	}
}
