// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"bytes"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/utipc/utipc/frame"
)

// SaltLen is the length of the salt behind each AES key, in bytes.
const SaltLen = 4

// MaxKeyLen is the length of the longest key with its salt, in bytes.
const MaxKeyLen = 32 + SaltLen

// A Key is an AES key with its salt, and whose it is. Nothing prints or encodes
// the material: only Append gives it out.
//
// The material stands behind a function, so that no printer that meets a Key inside
// of another value comes to it either.
// Source: docs/spec/09-security.md §1.1.
type Key struct{ m *material }

type material struct {
	mode frame.KeyMode
	n    uint8                   // bytes used: 20, 28 or 36; 0 once wiped
	at   func() *[MaxKeyLen]byte // fmt follows pointers to pointers when a verb does not fit
}

func newMaterial(mode frame.KeyMode, b []byte) *material {
	bytes := new([MaxKeyLen]byte)
	copy(bytes[:], b)
	return &material{mode, uint8(len(b)), func() *[MaxKeyLen]byte { return bytes }}
}

// bytes are key and salt.
func (m *material) bytes() []byte { return m.at()[:m.n] }

// NewKey makes a key from 20, 28 or 36 bytes, the last 4 of which are the salt. The
// bytes are copied; wiping the caller's is the caller's. Errors: ErrKey.
func NewKey(mode frame.KeyMode, b []byte) (*Key, error) {
	if mode != frame.ClusterKey && mode != frame.NodeKey || !keyLen(len(b)) {
		return nil, ErrKey
	}
	return &Key{newMaterial(mode, b)}, nil
}

func keyLen(n int) bool { return n == 20 || n == 28 || n == 36 }

// ParseKey reads a key as tipc(8) takes it: 0x and hexadecimal digits, two a byte,
// else the characters themselves; 20, 28 or 36 bytes with the salt. The error never
// has the text in it. Errors: ErrKey. Source: docs/spec/10-management.md §1.
func ParseKey(mode frame.KeyMode, text string) (*Key, error) {
	var b [MaxKeyLen]byte
	defer clear(b[:])
	n := len(text)
	if digits, ok := strings.CutPrefix(text, "0x"); ok {
		if len(digits)%2 != 0 {
			return nil, fmt.Errorf("%w: an odd number of digits behind 0x", ErrKey)
		}
		if n = len(digits) / 2; n > len(b) {
			return nil, notAKey(n)
		}
		if _, err := hex.Decode(b[:], []byte(digits)); err != nil {
			return nil, fmt.Errorf("%w: not hexadecimal behind 0x", ErrKey)
		}
	} else {
		if n > len(b) {
			return nil, notAKey(n)
		}
		copy(b[:], text)
	}
	if !keyLen(n) {
		return nil, notAKey(n)
	}
	return NewKey(mode, b[:n])
}

// notAKey says of a text that it has n bytes, which no key has.
func notAKey(n int) error { return fmt.Errorf("%w; this one has %d", ErrKey, n) }

// Mode says whose the key is.
func (k Key) Mode() frame.KeyMode { return k.m.mode }

// Len is the number of bytes with the salt: 20, 28 or 36; 0 once wiped, and of the zero Key.
func (k Key) Len() int {
	if k.m == nil {
		return 0
	}
	return int(k.m.n)
}

// Append adds key and salt to b. It is the one way out, for key messages.
func (k Key) Append(b []byte) []byte { return append(b, k.m.bytes()...) }

// Equal reports whether both have the same material, in a time that does not
// depend on it. Modes do not matter.
func (k Key) Equal(o *Key) bool {
	return subtle.ConstantTimeCompare(k.m.bytes(), o.m.bytes()) == 1
}

// Clone returns a key of its own with the same material.
func (k Key) Clone() *Key { return &Key{newMaterial(k.m.mode, k.m.bytes())} }

// Wipe zeroes the material. The key is of no further use.
func (k Key) Wipe() {
	clear(k.m.at()[:])
	k.m.n = 0
}

// bits is the length of the AES key, in bits.
func (k Key) bits() int { return max(0, int(k.m.n)-SaltLen) * 8 }

// String says what kind of key it is and nothing of the material.
func (k Key) String() string {
	switch {
	case k.m == nil:
		return "no key"
	case k.m.n == 0:
		return "wiped key"
	case k.m.mode == frame.NodeKey:
		return "aes-" + strconv.Itoa(k.bits()) + " node key"
	}
	return "aes-" + strconv.Itoa(k.bits()) + " cluster key"
}

// GoString is String: %#v shows no more.
func (k Key) GoString() string { return "seal.Key(" + k.String() + ")" }

// Format prints String for every verb.
func (k Key) Format(f fmt.State, _ rune) { f.Write([]byte(k.String())) }

// MarshalText returns String: text, JSON and XML show no more.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// MarshalBinary returns String: gob keeps no more.
func (k Key) MarshalBinary() ([]byte, error) { return []byte(k.String()), nil }

// keyOf makes a key of a key message's bytes, which frame.ParseKey has checked.
func keyOf(m frame.KeyMessage) (*Key, error) {
	b := m.Key()
	if len(bytes.Trim(b, "\x00")) == 0 {
		return nil, ErrKey // a sender whose random numbers failed
	}
	return NewKey(m.Mode(), b)
}
