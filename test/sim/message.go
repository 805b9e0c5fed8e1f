// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"

	"github.com/utipc/utipc/frame"
)

// A place is where a message is.
type place uint8

const (
	onLink    place = iota // accepted; hop says which link
	forwarded              // looked up again, on its way to a link
	inPort                 // waits to be read
	backPort               // returned; waits to be read by its sender
	finished               // read, or dropped as the rules allow
)

// A message is one that an engine accepted. Its bytes follow from its number:
// the number first, as far as it fits, then a pattern of it.
type message struct {
	id         uint32
	size       int
	from       frame.SocketAddr
	returnable bool
	imp        frame.Importance
	at         place
	holder     *life // whose port it is in, or who looked it up again
	hop        *hop
	vague      bool // one of several of which cannot be told what became of which
	sentOn     bool // it was looked up again: others of its sender may overtake it
	endings    int  // of holder's contacts, when it was looked up again
	reads      int
	cast       *spread // it is a multicast
}

// A hop is a message's stay on one link.
type hop struct {
	m        *message
	epoch    *epoch
	net      int              // of the link; -1 while it is not known
	imp      frame.Importance // on that link
	back     bool             // on its way back
	maybe    bool             // it may not have got there
	consumed bool
}

// fill writes the first len(b) bytes of the message, which begins with its number.
func (m *message) fill(b []byte) {
	x := m.seed()
	var word [8]byte
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(word[:], m.word(i, &x))
		copy(b[i:], word[:])
	}
}

func (m *message) seed() uint64 { return uint64(m.id)*0x9e3779b97f4a7c15 + 1 }

// word returns the eight bytes at i.
func (m *message) word(i int, x *uint64) uint64 {
	*x ^= *x >> 29
	*x *= 0xbf58476d1ce4e5b9
	if i == 0 {
		return *x<<32 | uint64(m.id)
	}
	return *x
}

// is reports whether data is the message, or of a returned one its beginning.
func (m *message) is(data []byte, back bool) bool {
	n := m.size
	if back {
		n = min(n, frame.MaxReturned)
	}
	if len(data) != n {
		return false
	}
	x := m.seed()
	for i := 0; i < n; i += 8 {
		v := m.word(i, &x)
		if n-i >= 8 {
			if binary.LittleEndian.Uint64(data[i:]) != v {
				return false
			}
			continue
		}
		for j := range n - i {
			if data[i+j] != byte(v>>(8*j)) {
				return false
			}
		}
	}
	return true
}
