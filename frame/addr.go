// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// A NodeAddr is a node's 32-bit address; 0 stands for the own node, or none.
type NodeAddr uint32

// String returns the address in hexadecimal without leading zeros, as tipc(8)
// prints it.
func (a NodeAddr) String() string { return strconv.FormatUint(uint64(a), 16) }

// ParseNodeAddr reads a node address in hexadecimal, or in the older notation
// of three decimal numbers, "1.1.2".
func ParseNodeAddr(s string) (NodeAddr, error) {
	if strings.Count(s, ".") == 2 {
		var z, c, n uint32
		if k, err := fmt.Sscanf(s, "%d.%d.%d", &z, &c, &n); err != nil || k != 3 ||
			z > 0xff || c > 0xfff || n > 0xfff || fmt.Sprintf("%d.%d.%d", z, c, n) != s {
			return 0, addrError(s)
		}
		return NodeAddr(z<<24 | c<<12 | n), nil
	}
	v, err := strconv.ParseUint(s, 16, 32)
	if err != nil {
		return 0, addrError(s)
	}
	return NodeAddr(v), nil
}

// ErrAddress means a text that is no TIPC address.
var ErrAddress = errors.New("frame: not a TIPC address")

func addrError(s string) error {
	return fmt.Errorf("%w: %q (want TYPE:INSTANCE, e.g. 18888:17, or 18888-17.tipc)", ErrAddress, s)
}

// A Service is a service address: whoever has bound a range of this type with
// this instance in it may answer.
type Service struct {
	Type     uint32
	Instance uint32
	Node     NodeAddr // where to look it up; 0 means anywhere
}

// A Range is a service range, both ends included: as a destination it means
// every socket bound to a part of it.
type Range struct {
	Type  uint32
	Lower uint32
	Upper uint32 // at least Lower
}

// A SocketAddr is the address of one socket.
type SocketAddr struct {
	Port uint32
	Node NodeAddr
}

var (
	_ net.Addr = Service{}
	_ net.Addr = Range{}
	_ net.Addr = SocketAddr{}
)

// Network returns "tipc".
func (Service) Network() string { return "tipc" }

// Network returns "tipc".
func (Range) Network() string { return "tipc" }

// Network returns "tipc", of whatever kind the socket is.
func (SocketAddr) Network() string { return "tipc" }

// String returns "TYPE:INSTANCE", with "@NODE" behind it for a lookup node.
func (a Service) String() string {
	s := strconv.FormatUint(uint64(a.Type), 10) + ":" + strconv.FormatUint(uint64(a.Instance), 10)
	if a.Node != 0 {
		s += "@" + a.Node.String()
	}
	return s
}

// String returns "TYPE:LOWER-UPPER".
func (a Range) String() string {
	return fmt.Sprintf("%d:%d-%d", a.Type, a.Lower, a.Upper)
}

// String returns "<NODE:PORT>", the node in hexadecimal, the port in decimal.
func (a SocketAddr) String() string {
	return "<" + a.Node.String() + ":" + strconv.FormatUint(uint64(a.Port), 10) + ">"
}

// Overlaps reports whether a and b have an instance in common.
func (a Range) Overlaps(b Range) bool {
	return a.Type == b.Type && a.Lower <= b.Upper && b.Lower <= a.Upper
}

// Range returns the range of this one instance.
func (a Service) Range() Range { return Range{a.Type, a.Instance, a.Instance} }

// ParseAddr reads the text form of a Service, a Range or a SocketAddr, or its host form,
// and returns one of these. For every valid a, ParseAddr(a.String()) == a and
// ParseAddr(a.Host()) == a. Errors: ErrAddress.
func ParseAddr(s string) (net.Addr, error) {
	if a, ok, err := parseHost(s); ok {
		return a, err
	}
	if in, ok := strings.CutPrefix(s, "<"); ok {
		in, ok = strings.CutSuffix(in, ">")
		node, port, ok2 := strings.Cut(in, ":")
		n, err := strconv.ParseUint(node, 16, 32)
		p, err2 := number(port)
		if !ok || !ok2 || err != nil || err2 != nil {
			return nil, addrError(s)
		}
		return SocketAddr{Port: p, Node: NodeAddr(n)}, nil
	}
	typ, rest, ok := strings.Cut(s, ":")
	t, err := number(typ)
	if !ok || err != nil {
		return nil, addrError(s)
	}
	if lo, hi, ok := strings.Cut(rest, "-"); ok {
		l, err := number(lo)
		u, err2 := number(hi)
		if err != nil || err2 != nil || l > u {
			return nil, addrError(s)
		}
		return Range{t, l, u}, nil
	}
	inst, node, at := strings.Cut(rest, "@")
	i, err := number(inst)
	if err != nil {
		return nil, addrError(s)
	}
	var n NodeAddr
	if at {
		if n, err = ParseNodeAddr(node); err != nil || n == 0 {
			return nil, addrError(s)
		}
	}
	return Service{t, i, n}, nil
}

func number(s string) (uint32, error) {
	v, err := strconv.ParseUint(s, 10, 32)
	return uint32(v), err
}

// parseHost reads what Host returns; ok is false of what does not end like one. Upper and
// lower case are the same, as in all names of hosts. Errors: ErrAddress.
func parseHost(s string) (a net.Addr, ok bool, err error) {
	at := len(s) - len(hostSuffix)
	if at < 0 || !strings.EqualFold(s[at:], hostSuffix) {
		return nil, false, nil
	}
	name, node, scoped := strings.Cut(s[:at], ".")
	var n uint64
	if scoped {
		if n, err = strconv.ParseUint(node, 16, 32); err != nil {
			return nil, true, addrError(s)
		}
	}
	var v [3]uint32
	parts := strings.Split(name, "-")
	for i, p := range parts {
		if i == len(v) {
			return nil, true, addrError(s)
		}
		if v[i], err = number(p); err != nil {
			return nil, true, addrError(s)
		}
	}
	switch {
	case len(parts) == 1 && scoped:
		return SocketAddr{Port: v[0], Node: NodeAddr(n)}, true, nil
	case len(parts) == 2 && scoped == (n != 0):
		return Service{v[0], v[1], NodeAddr(n)}, true, nil
	case len(parts) == 3 && !scoped && v[1] <= v[2]:
		return Range{v[0], v[1], v[2]}, true, nil
	}
	return nil, true, addrError(s)
}
