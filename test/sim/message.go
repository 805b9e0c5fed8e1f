// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/utipc/utipc/frame"

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
	endings    int  // of holder's sessions, when it was looked up again
	reads      int
}

// A hop is a message's stay on one link.
type hop struct {
	m        *message
	rec      *session
	imp      frame.Importance // on that link
	back     bool             // on its way back
	maybe    bool             // it may not have got there
	consumed bool
}

// fill writes the first len(b) bytes of the message.
func (m *message) fill(b []byte) {
	x := uint64(m.id)*0x9e3779b97f4a7c15 + 1
	for i := range b {
		if i < 4 {
			b[i] = byte(m.id >> (8 * i))
			continue
		}
		if i&7 == 4 {
			x ^= x >> 29
			x *= 0xbf58476d1ce4e5b9
		}
		b[i] = byte(x >> (8 * (i & 7)))
	}
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
	var want [2048]byte
	m.fill(want[:n])
	return string(want[:n]) == string(data)
}
