// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

func TestIdentity(t *testing.T) {
	mac := func(b ...byte) frame.Identity { return frame.MACIdentity(frame.MAC(b)) }
	text := func(s string) (id frame.Identity) { copy(id[:], s); return id }
	for _, c := range []struct {
		name string
		id   frame.Identity
		hash frame.NodeAddr
		text string
		link string // with the address abc
	}{
		{"MAC", mac(0x52, 0x54, 0x00, 0xaa, 0x00, 0x01), 0x525500aa, "525400aa0001", "525400aa0001"},
		{"MAC that ends in zeros", mac(0x52, 0x54, 0xa5, 0xc0, 0xed, 0x00), 0x52540000 ^ 0xa5c0 ^ 0xed000000, "5254a5c0ed", "5254a5c0ed"},
		{"half a byte lost", mac(0x52, 0x54, 0xa5, 0, 0, 0x50), 0x5254a500 ^ 0x00500000, "5254a500005", "5254a500005"},
		{"node-alpha", text("node-alpha"), 0x2b6f0815, "node-alpha", "node-alpha"},
		{"node-beta", text("node-beta"), 0x220d0111, "node-beta", "node-beta"},
		{"sixteen characters", text("A-Z.a:z_0@123456"), 0, "A-Z.a:z_0@123456", "A-Z.a:z_0@123456"},
		{"a space", text("a b"), 0x61206200, "612062", "612062"},
		{"full hexadecimal", text(strings.Repeat("\x80", 16)), 0x80808080, strings.Repeat("80", 15) + "8", "abc"},
		{"seventeen digits", text("\x01\x02\x03\x04\x05\x06\x07\x08\x10"), 0x01020304 ^ 0x05060708 ^ 0x10000000, "01020304050607081", "abc"},
		{"text behind a zero", text("ab\x00cd"), 0x61620063 ^ 0x64000000, "ab", "ab"},
		{"words that cancel", text("abcdabcdabcdabcd"), 0x61626364, "abcdabcdabcdabcd", "abcdabcdabcdabcd"},
		{"none", frame.Identity{}, 0, "", "abc"},
		{"of an address", frame.AddrIdentity(0x01001001), 0x31303031 ^ 0x30303100, "1001001", "1001001"},
	} {
		if c.name == "sixteen characters" {
			c.hash = 0x412d5a2e ^ 0x613a7a5f ^ 0x30403132 ^ 0x33343536
		}
		if got := c.id.Hash(); got != c.hash {
			t.Errorf("%s: got hash %v, want %v", c.name, got, c.hash)
		}
		if got := c.id.String(); got != c.text {
			t.Errorf("%s: got %q, want %q", c.name, got, c.text)
		}
		if got := c.id.LinkText(0xabc); got != c.link {
			t.Errorf("%s: got link text %q, want %q", c.name, got, c.link)
		}
	}
}

func TestParseIdentity(t *testing.T) {
	for s, want := range map[string]frame.Identity{
		"node-alpha":                       {'n', 'o', 'd', 'e', '-', 'a', 'l', 'p', 'h', 'a'},
		"525400aa0001":                     {'5', '2', '5', '4', '0', '0', 'a', 'a', '0', '0', '0', '1'}, // text: too short for digits
		"525400AA000100000000000000000000": {0x52, 0x54, 0, 0xaa, 0, 1},
		"0123456789abcdef":                 {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'},
	} {
		if got, err := frame.ParseIdentity(s); err != nil || got != want {
			t.Errorf("%q: got %x, %v, want %x", s, got, err, want)
		}
	}
	for _, s := range []string{"", "seventeen-letters", "a b", "a/b", "é", "a\x00", "525400aa00010000000000000000000", "525400aa0001000000000000000000000", strings.Repeat("g", 32), strings.Repeat("0", 32)} {
		if got, err := frame.ParseIdentity(s); !errors.Is(err, frame.ErrAddress) || got != (frame.Identity{}) {
			t.Errorf("%q: got %v, %v, want %v", s, got, err, frame.ErrAddress)
		}
	}
}

func TestAddrIdentity(t *testing.T) {
	if got, want := frame.AddrIdentity(0x01001001), (frame.Identity{0x31, 0x30, 0x30, 0x31, 0x30, 0x30, 0x31}); got != want {
		t.Errorf("got %x, want %x", got, want)
	}
}
