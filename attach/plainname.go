// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/utipc/utipc/frame"
)

// A PlainName is what the abstract name of one end of a plain socket says, see docs/reference/attach.md, "Plain
// sockets". An end without a name is the daemon's, of a socket that is not connected.
//
//	@utipc1/KIND/PORTNODE/COOKIE/SERVICE/CHECK
//
// KIND is a digit, SOCK_STREAM and so on; PORTNODE the TIPC address of the program at this
// end, COOKIE its SO_COOKIE, SERVICE the type and the instance that the connection was set up
// with, or "-", and CHECK says which daemon made the name. All but KIND are in
// hexadecimal digits, of a fixed number.
type PlainName struct {
	Kind    Kind
	Addr    frame.SocketAddr
	Cookie  uint64
	Service frame.Service
	Named   bool // Service counts
}

const plainPrefix = "@utipc1/"

// Text returns the name without its CHECK.
func (n *PlainName) Text() string {
	service := "-"
	if n.Named {
		service = fmt.Sprintf("%08x%08x", n.Service.Type, n.Service.Instance)
	}
	return fmt.Sprintf("%s%d/%08x%08x/%016x/%s/", plainPrefix, n.Kind, n.Addr.Port, uint32(n.Addr.Node), n.Cookie, service)
}

// ParsePlainName reads a name, and splits it into the text that a daemon signs and its CHECK, which
// is not examined. ok is false for any other name.
func ParsePlainName(s string) (n PlainName, text, check string, ok bool) {
	const fields, wide = 6, 16 // of a name; the digits of 64 bits
	f := strings.Split(s, "/")
	if !strings.HasPrefix(s, plainPrefix) || len(f) != fields || len(f[1]) != 1 {
		return n, "", "", false
	}
	ok = true
	word := func(digits string) uint64 {
		v, err := strconv.ParseUint(digits, wide, 64)
		ok = ok && err == nil && len(digits) == wide
		return v
	}
	kind, err := strconv.ParseUint(f[1], 10, 8)
	addr, cookie := word(f[2]), word(f[3])
	n = PlainName{Kind: Kind(kind), Addr: frame.SocketAddr{Port: uint32(addr >> 32), Node: frame.NodeAddr(uint32(addr))}, Cookie: cookie}
	if f[4] != "-" {
		service := word(f[4])
		n.Service, n.Named = frame.Service{Type: uint32(service >> 32), Instance: uint32(service)}, true
	}
	if err != nil || !ok {
		return PlainName{}, "", "", false
	}
	return n, s[:len(s)-len(f[5])], f[5], true
}
