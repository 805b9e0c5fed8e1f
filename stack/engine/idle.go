// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// mostCompared is how many sockets are looked at for one that is idle, from that on which has the
// turn.
const mostCompared = 64

// leastBusy is, among the first mostCompared sockets that may take a message, the first that has
// least to do, as far as this node knows.
func (e *Engine) leastBusy(c naming.Choice) (best frame.SocketAddr) {
	least, k := -1, 0
	for s := range c.Sockets {
		if n := e.busy(s); least < 0 || n < least {
			best, least = s, n
		}
		if k++; least == 0 || k == mostCompared {
			break
		}
	}
	return best
}

// busy is how much a socket has to do: the requests that sockets of this node have sent to it and
// that are not answered; of a socket of this node also the messages that wait in its queue, and
// those that were read and not acknowledged. A request that is both counts once.
func (e *Engine) busy(s frame.SocketAddr) int {
	n := e.requests.underWay[s]
	if s.Node != e.addr {
		return n
	}
	p := e.ports[s.Port]
	if p == nil {
		return n
	}
	waits := p.queue.Len()
	if u := p.unacked; u != nil {
		waits += len(u.list) - u.acked
	}
	return max(n, waits)
}
