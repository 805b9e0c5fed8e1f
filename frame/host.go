// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// hostSuffix ends the host form of an address. It is no top-level domain of the DNS.
const hostSuffix = ".tipc"

// Host returns the address as a host name, for URLs and whatever else takes HOST or
// HOST:PORT: "TYPE-INSTANCE.tipc", or "TYPE-INSTANCE.NODE.tipc" with a lookup node.
// ParseAddr reads it.
func (a Service) Host() string {
	s := strconv.FormatUint(uint64(a.Type), 10) + "-" + strconv.FormatUint(uint64(a.Instance), 10)
	if a.Node != 0 {
		s += "." + a.Node.String()
	}
	return s + hostSuffix
}

// Host returns the address as a host name, "TYPE-LOWER-UPPER.tipc"; see Service.Host.
func (a Range) Host() string {
	return fmt.Sprintf("%d-%d-%d%s", a.Type, a.Lower, a.Upper, hostSuffix)
}

// Host returns the address as a host name, "PORT.NODE.tipc", the port in decimal, the
// node in hexadecimal; see Service.Host.
func (a SocketAddr) Host() string {
	return strconv.FormatUint(uint64(a.Port), 10) + "." + a.Node.String() + hostSuffix
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
