// SPDX-License-Identifier: Apache-2.0

package netlink_test

import (
	"encoding/binary"
	"errors"
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/netlink"
)

// What is built is read back, and what is cut anywhere is read as far as it goes.
//
// Mutations it catches: Next without Cut, or without the padding between two messages; Attribute
// without its bounds, without the padding, or with the flags of the type.
func TestBuiltAndCut(t *testing.T) {
	body := netlink.AppendAttribute(nil, 1|unix.NLA_F_NESTED, netlink.AppendAttribute(nil, 7, []byte("abcde")))
	body = netlink.AppendAttribute(body, 2, []byte("odd\x00"))
	body = netlink.AppendAttribute(body, 3, binary.NativeEndian.AppendUint32(nil, 1500))
	whole := netlink.AppendRequest(nil, 99, unix.NLM_F_ACK, append(body, 0)) // its length is odd
	two := netlink.AppendRequest(append(whole, make([]byte, netlink.Align(len(whole))-len(whole))...), 98, 0, nil)
	m, rest, ok := netlink.Next(two)
	if !ok || m.Type != 99 || m.Cut || len(m.Body) != len(body)+1 {
		t.Fatalf("got %+v, %v", m, ok)
	}
	if m, rest, ok := netlink.Next(rest); !ok || m.Type != 98 || len(m.Body) != 0 || len(rest) != 0 {
		t.Errorf("the second: got %+v, %v", m, ok)
	}
	if v := netlink.Attribute(netlink.Attribute(m.Body, 1), 7); string(v) != "abcde" {
		t.Errorf("nested: got %q", v)
	}
	if s, n := netlink.Text(m.Body, 2), netlink.Number(m.Body, 3); s != "odd" || n != 1500 {
		t.Errorf("got %q, %d", s, n)
	}
	if v, n := netlink.Attribute(m.Body, 4), netlink.Number(m.Body, 4); v != nil || n != 0 {
		t.Errorf("an attribute that is not there: got %q, %d", v, n)
	}
	for i := range whole {
		m, rest, ok := netlink.Next(whole[:i])
		if ok != (i >= unix.NLMSG_HDRLEN) || ok && !m.Cut || len(rest) != 0 {
			t.Errorf("cut to %d bytes: got %+v, %v", i, m, ok)
		}
		netlink.Text(m.Body, 2)
		netlink.Number(m.Body, 3)
	}
	for _, n := range []uint16{0, 3} { // an attribute shorter than its header has no end
		if v := netlink.Attribute(binary.NativeEndian.AppendUint16(nil, n), 0); v != nil {
			t.Errorf("length %d: got %q", n, v)
		}
	}
}

// The kernel's refusal is an error, its answer a message.
//
// Mutation it catches: Route that takes a refusal for an answer.
func TestRoute(t *testing.T) {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(index int) (netlink.Message, error) {
		body := make([]byte, unix.SizeofIfInfomsg)
		binary.NativeEndian.PutUint32(body[4:], uint32(index))
		return netlink.Route(unix.RTM_GETLINK, 0, body)
	}
	m, err := ask(lo.Index)
	if err != nil || m.Type != unix.RTM_NEWLINK || netlink.Text(m.Body[unix.SizeofIfInfomsg:], unix.IFLA_IFNAME) != "lo" {
		t.Errorf("lo: got type %d, %v", m.Type, err)
	}
	if _, err := ask(1<<30 + 7); !errors.Is(err, unix.ENODEV) {
		t.Errorf("no such interface: got %v, want %v", err, unix.ENODEV)
	}
}
