// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// An Identity is a node's 128-bit identity. Its zero value means none.
// Source: docs/spec/01-wire.md §5.
type Identity [16]byte

// MACIdentity is the identity a node takes from its first bearer when none was
// configured: the address and ten zero bytes.
func MACIdentity(m MAC) (id Identity) {
	copy(id[:], m[:])
	return id
}

// AddrIdentity is the identity of a node that was given an address and no
// identity: the address's text.
func AddrIdentity(a NodeAddr) (id Identity) {
	copy(id[:], a.String())
	return id
}

// ParseIdentity reads an identity: 32 hexadecimal digits, not all 0, or at most 16
// characters of A-Z, a-z, 0-9 and ".:_-@". Errors: ErrAddress.
func ParseIdentity(s string) (id Identity, err error) {
	if len(s) == 32 {
		if _, err := hex.Decode(id[:], []byte(s)); err != nil || id == (Identity{}) {
			return Identity{}, addrError(s)
		}
		return id, nil
	}
	if s == "" || len(s) > 16 || strings.ContainsFunc(s, func(r rune) bool { return r > 127 || !plain(byte(r)) }) {
		return Identity{}, fmt.Errorf("%w: identity %q", ErrAddress, s)
	}
	copy(id[:], s)
	return id, nil
}

func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		strings.IndexByte(".:_-@", c) >= 0
}

// Hash is the address a node with this identity proposes for itself; never 0
// but for the zero identity.
func (id Identity) Hash() NodeAddr {
	var x, o uint32
	for i := 0; i < 16; i += 4 {
		w := binary.BigEndian.Uint32(id[i:])
		x, o = x^w, o|w
	}
	if x == 0 {
		x = o
	}
	return NodeAddr(x)
}

// String returns the text the kernel's tools show: the characters up to the first
// zero byte where all are such as ParseIdentity takes or zero, else the
// hexadecimal digits without trailing zeros.
func (id Identity) String() string {
	text := true
	for _, c := range id {
		text = text && (c == 0 || plain(c))
	}
	if text {
		s, _, _ := strings.Cut(string(id[:]), "\x00")
		return s
	}
	return strings.TrimRight(hex.EncodeToString(id[:]), "0")
}

// LinkText is the identity as it stands in a link's name; identities of more
// than 16 characters are replaced by the node's address.
func (id Identity) LinkText(a NodeAddr) string {
	if s := id.String(); s != "" && len(s) <= 16 {
		return s
	}
	return a.String()
}
