// SPDX-License-Identifier: Apache-2.0

package genetlink

import (
	"encoding/binary"

	"github.com/utipc/utipc/internal/netlink"
)

// Attributes are what a message consists of.
type attributes []byte

func (a *attributes) bytes(typ uint16, v []byte) { *a = netlink.AppendAttribute(*a, typ, v) }

func (a *attributes) number(typ uint16, v uint32) {
	a.bytes(typ, binary.NativeEndian.AppendUint32(nil, v))
}

// count is a number of which the low 32 bits travel.
func (a *attributes) count(typ uint16, v uint64) { a.number(typ, uint32(v)) }

func (a *attributes) text(typ uint16, s string) { a.bytes(typ, append([]byte(s), 0)) }

// flag is an attribute that says something by being there.
func (a *attributes) flag(typ uint16, is bool) {
	if is {
		a.bytes(typ, nil)
	}
}

// nest is an attribute that has others in it.
func (a *attributes) nest(typ uint16, fill func(a *attributes)) {
	at := len(*a)
	a.bytes(typ, nil)
	fill(a)
	binary.NativeEndian.PutUint16((*a)[at:], uint16(len(*a)-at))
}

// number returns the 32-bit value of an attribute, and whether it is there. One that is shorter is
// not.
func number(attrs []byte, typ uint16) (v uint32, ok bool) {
	b := netlink.Attribute(attrs, typ)
	if len(b) < 4 {
		return 0, false
	}
	return binary.NativeEndian.Uint32(b), true
}

// has reports whether an attribute is there, which may be empty.
func has(attrs []byte, typ uint16) bool { return netlink.Attribute(attrs, typ) != nil }
