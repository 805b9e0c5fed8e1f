// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A peer that sends to a socket that is not there, wants everything back and acknowledges
// none of it, gets what half the backlog holds. The rest is dropped and counted, and the
// link lasts, with room for names. Found with a kernel that outran a full socket.
func TestReturnedLeaveRoom(t *testing.T) {
	p := scriptedPeerOn(t, newArena(t, netdev.ArenaConfig{Small: 4096})).up()
	defer p.done()
	l := p.byAddr[popAddr].slots[0]
	const many = 3000
	payload := string(make([]byte, 1000))
	for range many {
		msg := p.next(data(3333, nil, payload))
		frame.StampAcks(msg, l.First()-1, 0)
		p.hear(msg)
	}
	returned, lost := p.Counters().Returned, p.Counters().Drops[DropLimit]
	limit := l.Limit(frame.System)
	if !l.IsUp() || returned < uint64(limit/2) || returned+lost != many || l.Vacant(frame.System) < limit/2-1 {
		t.Errorf("up %v, %d returned, %d lost, room for %d of %d", l.IsUp(), returned, lost, l.Vacant(frame.System), limit)
	}
}
