// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"fmt"
	"slices"
)

// unusable says why no node can use the interface, with any driver; nil when one
// can. A missing carrier is no reason: it may come later.
// Source: docs/spec/03-discovery-and-node.md §7.
func (l Link) unusable() error {
	refuse := func(why error, advice string, args ...any) error {
		return &InterfaceError{l.Name, why, fmt.Sprintf(advice, args...)}
	}
	switch {
	case l.Owner != "":
		return &OwnedError{l.Name, l.Owner}
	case l.KernelBearer:
		return &KernelError{l.Name}
	case l.Loopback:
		return refuse(ErrLoopback, "use the in-memory hub between nodes of one program, "+
			"or a veth pair (ip link add tipc0 type veth peer name tipc1)")
	case !l.Ethernet:
		return refuse(ErrNotEthernet, "use a bearer on an Ethernet interface")
	case l.Master != "":
		return refuse(ErrPort, "%[1]s%[2]s takes the frames that arrive: use %[1]s, or free it: ip link set dev %[3]s nomaster",
			l.Master, l.masterKind(), l.Name)
	case l.MTU < MinMTU:
		return refuse(ErrMTU, "it is %d: raise it: ip link set dev %s mtu 1500", l.MTU, l.Name)
	case !l.Up:
		return refuse(ErrDown, "bring it up: ip link set dev %s up", l.Name)
	}
	return nil
}

// masterKind is the kind of the master in brackets.
func (l Link) masterKind() string {
	if l.MasterKind == "" {
		return ""
	}
	return " (" + l.MasterKind + ")"
}

// awaitsProgram reports whether the best way is refused because of another program
// alone.
func (p Plan) awaitsProgram(l Link) bool {
	if p.Unusable != nil {
		return false
	}
	for _, w := range l.order(p.config) {
		if slices.Contains(p.Methods, w) {
			return false
		}
		for _, r := range p.Refused {
			if r.Method == w && errors.Is(r.Err, ErrProgram) {
				return true
			}
		}
	}
	return false
}
