// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A backlog is the packets that wait for the window, and the senders that found it
// full. A link has one from the first of them until it falls idle; nil is empty.
type backlog struct {
	Queue[waiting]
	waiting [inTunnel + 1]int // packets by importance
	blockedSenders
	bundler
	moving *moving // packets of another link that have still to come in; or nil
}

// inTunnel is the importance of tunnel messages: what they carry was let in before, on
// another link, and takes no room from what is sent on this one.
const inTunnel = frame.System + 1

type waiting struct {
	b   *netdev.Buffer
	imp frame.Importance
}

// Len returns the number of packets.
func (q *backlog) Len() int {
	if q == nil {
		return 0
	}
	return q.Queue.Len()
}

// idle reports whether nothing waits, and nobody.
func (q *backlog) idle() bool { return q.Len() == 0 && q.turnedAway|q.invited == 0 && q.moving == nil }

// needBacklog returns the link's backlog.
func (l *Link) needBacklog() *backlog {
	if l.backlog == nil {
		l.backlog = &backlog{}
	}
	return l.backlog
}
