// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/utipc/utipc/frame"

// amplify is how many bytes a station that never had a link here is sent for each that came from
// it, as in QUIC (RFC 9000, section 8). Once is too little: one frame lost on the way would
// leave two nodes that ask once a minute apart for so long.
const amplify = 3

// maxCredit bounds what a station may save up, in bytes.
const maxCredit = 2048

// A credit is what a station that has not shown yet that it is there may be sent, in bytes of
// TIPC: anybody can send in another's name. It ends with the first link that is up.
type credit struct {
	mac   frame.MAC
	bytes int
}

// earn notes that n bytes came from a station on a bearer, in the name of a node.
func (n *node) earn(bearer uint8, from frame.MAC, bytes int) {
	c := &n.credits[bearer]
	if c.mac != from {
		*c = credit{mac: from}
	}
	c.bytes = min(c.bytes+amplify*bytes, maxCredit)
}

// spend reports whether a station may be sent so many bytes, and notes that it is.
func (n *node) spend(bearer uint8, to frame.MAC, bytes int) bool {
	if l := n.links[bearer]; l != nil && l.reached && l.mac == to {
		return true
	}
	c := &n.credits[bearer]
	if c.mac != to || c.bytes < bytes {
		return false
	}
	c.bytes -= bytes
	return true
}
