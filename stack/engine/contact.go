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
// A new node begins in "down, leaving". While both are up, a link that joins another
// leads to "synchronising" and back, one of two that fails to "failing over" and
// back; contact is lost from there as from "up, up". Source:
// docs/spec/03-discovery-and-node.md §4.
type Contact uint8

const (
	DownLeaving Contact = iota // down, peer leaving
	DownDown                   // down, peer down
	UpComing                   // up, peer coming
	UpUp                       // up, peer up
	LeavingDown                // leaving, peer down
	Synching                   // synchronising two links
	FailingOver                // failing over to another link
)

type contactEvent uint8

const (
	selfEstablished contactEvent = iota // our link is up
	selfLost                            // our link went down
	peerEstablished                     // the peer's link is seen up
	peerLost                            // the peer is seen down
	synchBegin
	synchEnd
	failoverBegin
	failoverEnd
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
	case c.both() && ev == selfLost:
		return DownLeaving
	case c.both() && ev == peerLost:
		return LeavingDown
	case c == UpUp && ev == synchBegin:
		return Synching
	case (c == UpUp || c == Synching) && ev == failoverBegin:
		return FailingOver
	case c == Synching && ev == synchEnd, c == FailingOver && ev == failoverEnd:
		return UpUp
	case c == DownLeaving && ev == peerLost:
		return DownDown
	}
	return c
}

// both reports whether each end takes the other for up.
func (c Contact) both() bool { return c == UpUp || c == Synching || c == FailingOver }
