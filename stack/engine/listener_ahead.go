// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// A Listener with Ahead answers a request as it comes, as the backlog of TCP does. The connection
// waits in the Listener until it is accepted: its peer writes as far as the window goes, may
// close, or be lost, and whoever accepts it finds it so. What is established is not given up for
// the requests of other nodes, so one node may take the whole backlog.
//
//	request ──► established, waits ──(Accept)──► its owner's
//	   │                │
//	   │                └──(Close of the Listener)──► reset
//	   └──(Backlog of them wait)──► returned with "overload"

// acceptAhead makes a connection of a request, and keeps it.
func (l *Listener) acceptAhead(now time.Duration, n *node, f *frame.PayloadFields, data []byte) {
	c := l.connectNow(now, n, f, data)
	if c == nil {
		return
	}
	c.origin = l
	l.ahead = append(l.ahead, c)
	l.port.stats.queuedOne(len(data), len(l.ahead), 0)
	l.port.e.conns.tellListener(l)
	c.begin(now, f, data)
}

// takeAhead returns the connection that has waited longest.
func (l *Listener) takeAhead() *Conn {
	c := l.ahead[0]
	l.ahead[0] = nil
	l.ahead = l.ahead[1:]
	if len(l.ahead) == 0 {
		l.ahead = nil
	}
	c.origin = nil
	return c
}
