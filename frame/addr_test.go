// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

var addrTexts = []string{"18888:17", "18888:17@1001002", "18888:17@1.1.2", "18888:0-4294967295", "<1001002:2857250047>", "<0:0>", "0:0"}

func checkAddr(t *testing.T, a net.Addr) {
	t.Helper()
	if got, err := frame.ParseAddr(a.String()); err != nil || got != a {
		t.Errorf("%q: got %v, %v, want %#v", a, got, err, a)
	}
}

// Proves: wire.addresses
func TestParseAddr(t *testing.T) {
	for _, c := range []struct {
		text string
		want net.Addr
		out  string // empty: as text
	}{
		{"18888:17", frame.Service{Type: 18888, Instance: 17}, ""},
		{"18888:17@1001002", frame.Service{Type: 18888, Instance: 17, Node: 0x01001002}, ""},
		{"18888:17@1.1.2", frame.Service{Type: 18888, Instance: 17, Node: 0x01001002}, "18888:17@1001002"},
		{"18888:17@01001002", frame.Service{Type: 18888, Instance: 17, Node: 0x01001002}, "18888:17@1001002"},
		{"18888:5-9", frame.Range{Type: 18888, Lower: 5, Upper: 9}, ""},
		{"18888:5-5", frame.Range{Type: 18888, Lower: 5, Upper: 5}, ""},
		{"4294967295:0-4294967295", frame.Range{Type: 4294967295, Upper: 4294967295}, ""},
		{"<1001002:2857250047>", frame.SocketAddr{Port: 2857250047, Node: 0x01001002}, ""},
		{"<0:0>", frame.SocketAddr{}, ""},
	} {
		got, err := frame.ParseAddr(c.text)
		if err != nil || got != c.want {
			t.Errorf("%q: got %#v, %v, want %#v", c.text, got, err, c.want)
			continue
		}
		if c.out == "" {
			c.out = c.text
		}
		if got.String() != c.out || got.Network() != "tipc" {
			t.Errorf("%q: got %q on %q, want %q on tipc", c.text, got, got.Network(), c.out)
		}
		checkAddr(t, got)
	}
}

// Proves: wire.addresses
func TestParseAddrRefuses(t *testing.T) {
	for _, s := range []string{
		"", ":", "1", "1:", ":1", "1:2:3", "1:2-", "1:-2", "1:3-2", "1:2-3-4", "1:2-3@4", "1:2@", "1:2@0", "1:2@x", "1:2@1.1",
		"1:2@1.1.1.1", "1:2@256.1.1", "1:2@1.4096.1", "1:2@1.1.4096", "1:2@01.1.1", "1:2@1..1", "1:2@100000000", "4294967296:1", "1:4294967296",
		"-1:1", "+1:1", "0x1:1", " 1:1", "1:1 ", "1_0:1", "<1:2", "1:2>", "<1>", "<:1>", "<1:>", "<1.1.1:2>", "<1:2>>", "<1:-2>", "<1:4294967296>", "<>",
	} {
		if a, err := frame.ParseAddr(s); !errors.Is(err, frame.ErrAddress) || a != nil {
			t.Errorf("%q: got %v, %v, want %v", s, a, err, frame.ErrAddress)
		} else if !strings.Contains(err.Error(), `"`+s+`"`) {
			t.Errorf("%q: got %q, want the text in it", s, err)
		}
	}
}

func TestNodeAddr(t *testing.T) {
	for _, c := range []struct {
		text string
		want frame.NodeAddr
		out  string
	}{
		{"0", 0, "0"},
		{"1001001", 0x01001001, "1001001"},
		{"01001001", 0x01001001, "1001001"},
		{"1.1.1", 0x01001001, "1001001"},
		{"255.4095.4095", 0xffffffff, "ffffffff"},
		{"0.0.0", 0, "0"},
		{"DEADbeef", 0xdeadbeef, "deadbeef"},
	} {
		got, err := frame.ParseNodeAddr(c.text)
		if err != nil || got != c.want || got.String() != c.out {
			t.Errorf("%q: got %v, %v, want %v", c.text, got, err, c.out)
		}
	}
}

func TestOverlaps(t *testing.T) {
	a := frame.Range{Type: 1, Lower: 10, Upper: 20}
	for _, c := range []struct {
		b    frame.Range
		want bool
	}{
		{frame.Range{Type: 1, Lower: 0, Upper: 9}, false},
		{frame.Range{Type: 1, Lower: 0, Upper: 10}, true},
		{frame.Range{Type: 1, Lower: 12, Upper: 13}, true},
		{frame.Range{Type: 1, Lower: 0, Upper: 99}, true},
		{frame.Range{Type: 1, Lower: 20, Upper: 99}, true},
		{frame.Range{Type: 1, Lower: 21, Upper: 99}, false},
		{frame.Range{Type: 2, Lower: 10, Upper: 20}, false},
	} {
		if got := a.Overlaps(c.b); got != c.want || c.b.Overlaps(a) != c.want {
			t.Errorf("%v, %v: got %v and %v, want %v", a, c.b, got, c.b.Overlaps(a), c.want)
		}
	}
	s := frame.Service{Type: 1, Instance: 15, Node: 4}
	if got, want := s.Range(), (frame.Range{Type: 1, Lower: 15, Upper: 15}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
