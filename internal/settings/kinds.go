// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"net"
	"net/netip"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/utipc/utipc/frame"
)

// A kind is what a text may be.
type kind struct {
	allowed string // in words
	is      func(s string) bool
}

var (
	ifName = regexp.MustCompile(`^[^\s/:]{1,15}$`)
	device = regexp.MustCompile(`^[^\s/:]{1,127}$`)
	unixID = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,31}\$?$|^[0-9]{1,10}$`)
)

// kinds are those of the tag of that name.
var kinds = map[string]kind{
	"address": {"1.1.1, or hexadecimal as 1001001", func(s string) bool {
		a, err := frame.ParseNodeAddr(s)
		return err == nil && a != 0
	}},
	"identity": {"up to 16 characters, or 32 hexadecimal digits", func(s string) bool {
		_, err := frame.ParseIdentity(s)
		return err == nil
	}},
	"device": {"an interface's name, or an alternative one", device.MatchString},
	"name":   {"a name of up to 15 characters without spaces", ifName.MatchString},
	"path":   {"an absolute path of printable characters", isPath},
	"mode":   {"octal digits up to 0777", nil},
	"group":  {"a group's name or number", unixID.MatchString},
	"who":    {"users, after @ groups, or * for everybody", isWho},
	"endpoint": {"IP addresses of hosts, with or without a port", func(s string) bool {
		a, ok := Endpoint(s)
		return ok && !a.Addr().IsMulticast() && !a.Addr().IsUnspecified()
	}},
	"group address": {"a multicast IP address, with or without a port", func(s string) bool {
		a, ok := Endpoint(s)
		return ok && a.Addr().IsMulticast()
	}},
	"network": {"a network of IPv4, as 10.99.0.0/16", func(s string) bool {
		p, err := netip.ParsePrefix(s)
		return err == nil && p.Addr().Is4() && p.Bits() > 0 && p.Masked() == p
	}},
	"IPv4 address": {"an address of IPv4", func(s string) bool {
		a, err := netip.ParseAddr(s)
		return err == nil && a.Is4()
	}},
	"listen": {"ADDRESS:PORT, as 127.0.0.1:9118 or [::1]:9118", isListen},
}

func isPath(s string) bool {
	return filepath.IsAbs(s) && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

func isWho(s string) bool { return s == "*" || unixID.MatchString(strings.TrimPrefix(s, "@")) }

func isListen(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	if _, bad := netip.ParseAddr(host); bad != nil && host != "localhost" {
		return false
	}
	return err == nil
}

// Endpoint reads an IP address with or without a port, which is 0 then.
func Endpoint(s string) (netip.AddrPort, bool) {
	if a, err := netip.ParseAddrPort(s); err == nil {
		return a, true
	}
	ip, err := netip.ParseAddr(s)
	return netip.AddrPortFrom(ip, 0), err == nil
}

// Local reports whether what listens there is reached from this host alone. The text is
// of the kind "listen".
func Local(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
