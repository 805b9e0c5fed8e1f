// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"errors"
	"net"
	"net/url"
	"testing"

	"github.com/utipc/utipc/frame"
)

// hosted is an address that has a host form.
type hosted interface {
	net.Addr
	Host() string
}

// Mutations it catches: Service.Host without the node; Range.Host without the upper bound;
// SocketAddr.Host with the node in decimal; parseHost that compares the suffix exactly.
//
// Proves: wire.addresses
func TestHost(t *testing.T) {
	for _, c := range []struct {
		addr hosted
		host string
	}{
		{frame.Service{Type: 18888, Instance: 17}, "18888-17.tipc"},
		{frame.Service{Type: 18888, Instance: 17, Node: 0x1001002}, "18888-17.1001002.tipc"},
		{frame.Service{Type: 4294967295, Instance: 4294967295, Node: 0xffffffff}, "4294967295-4294967295.ffffffff.tipc"},
		{frame.Service{}, "0-0.tipc"},
		{frame.Range{Type: 18888, Upper: 99}, "18888-0-99.tipc"},
		{frame.SocketAddr{Port: 134550589, Node: 0x1001002}, "134550589.1001002.tipc"},
		{frame.SocketAddr{}, "0.0.tipc"},
	} {
		if got := c.addr.Host(); got != c.host {
			t.Errorf("%v: got %q, want %q", c.addr, got, c.host)
		}
		for _, s := range []string{c.host, c.host[:len(c.host)-4] + "TIPC"} {
			if got, err := frame.ParseAddr(s); err != nil || got != net.Addr(c.addr) {
				t.Errorf("%q: got %#v, %v, want %#v", s, got, err, c.addr)
			}
		}
		u, err := url.Parse("http://" + c.host + ":80/a")
		if err != nil || u.Hostname() != c.host || u.Port() != "80" {
			t.Errorf("%q: got %v, %v of net/url", c.host, u, err)
		}
		if h, p, err := net.SplitHostPort(c.host + ":80"); err != nil || h != c.host || p != "80" {
			t.Errorf("%q: got %q, %q, %v of net.SplitHostPort", c.host, h, p, err)
		}
	}
}

// Mutations it catches: parseHost that does not look at scoped for a range; that takes a
// node of 0; that takes an inverted range.
//
// Proves: wire.addresses
func TestParseHostRefuses(t *testing.T) {
	for _, s := range []string{
		".tipc", "tipc", "1.tipc", "1-2", "1-2.3", "1-2.0.tipc", "1-2.x.tipc", "1-2.3.4.tipc", "1-2..tipc", "1-3-2.tipc", "1-2-3.4.tipc",
		"1-2-3-4.tipc", "-1.tipc", "1-.tipc", "1-2.tipc:80", "1:2.tipc", "4294967296-1.tipc", "1-2.100000000.tipc", "x-1.tipc", "1-2.tipc.",
	} {
		if a, err := frame.ParseAddr(s); !errors.Is(err, frame.ErrAddress) || a != nil {
			t.Errorf("%q: got %v, %v, want %v", s, a, err, frame.ErrAddress)
		}
	}
}
