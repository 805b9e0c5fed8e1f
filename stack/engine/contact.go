// SPDX-License-Identifier: Apache-2.0

package engine

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=Contact -linecomment

// A Contact is where two nodes stand with each other. After contact was lost both
// must have dropped what they knew of each other before it is made again.
//
//	               own link up                peer's link seen up
//	┌──────────┐ ───────────────► ┌──────────┐ ────────────────► ┌───────┐
//	│ down,    │                  │ up,      │                   │ up,   │
//	│ down     │ ◄─────────────── │ coming   │                   │ up    │
//	└─▲──────▲─┘   own link lost  └──────────┘                   └─┬───┬─┘
//	  │      │                                                     │   │
//	  │      └──── peer seen down ──── down, leaving ◄─ own lost ──┘   │
//	  └─────────── own link lost ───── leaving, down ◄─ peer lost ─────┘
//
// A new node begins in "down, leaving". Source:
// docs/spec/03-discovery-and-node.md §4.
type Contact uint8

const (
	DownLeaving Contact = iota // down, peer leaving
	DownDown                   // down, peer down
	UpComing                   // up, peer coming
	UpUp                       // up, peer up
	LeavingDown                // leaving, peer down
)

type contactEvent uint8

const (
	selfEstablished contactEvent = iota // our link is up
	selfLost                            // our link went down
	peerEstablished                     // the peer's link is seen up
	peerLost                            // the peer is seen down
)

// after returns where an event leads; where nothing is drawn, nothing changes.
func (c Contact) after(ev contactEvent) Contact {
	switch {
	case c == DownDown && ev == selfEstablished:
		return UpComing
	case c == UpComing && ev == peerEstablished:
		return UpUp
	case c == UpComing && ev == selfLost, c == LeavingDown && ev == selfLost:
		return DownDown
	case c == UpUp && ev == selfLost:
		return DownLeaving
	case c == UpUp && ev == peerLost:
		return LeavingDown
	case c == DownLeaving && ev == peerLost:
		return DownDown
	}
	return c
}

// admit decides whether a packet may reach the link. linkUp: the packet shows the
// peer's link to be up. nodeUp: it shows the peer to take this node for up.
// Source: docs/spec/03-discovery-and-node.md §4.3.
func (n *node) admit(linkUp, nodeUp bool) bool {
	switch n.contact {
	case UpComing:
		if linkUp && n.link.IsUp() {
			n.contact = n.contact.after(peerEstablished)
		}
	case DownLeaving:
		if nodeUp {
			return false
		}
		n.contact = n.contact.after(peerLost)
	case LeavingDown:
		return false
	}
	return true
}
