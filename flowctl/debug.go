// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A Look is what a Link has inside, for simulations, tests and dumps.
type Look struct {
	Session, PeerSession frame.Seq
	SndNxt, RcvNxt       frame.Seq
	Waiting              [frame.System + 1]int  // packets in the backlog, by importance
	Tunnelled            int                    // tunnel messages in the backlog
	TurnedAway           [frame.System + 1]bool // somebody was, since the last Room
	Deferred             int                    // packets that came early
	DeferredBytes        int
}

// Look returns what the link has inside.
func (l *Link) Look() Look {
	k := Look{
		Session: l.session, PeerSession: l.peerSession, SndNxt: l.sndNxt, RcvNxt: l.rcvNxt,
		Deferred: len(l.deferred()),
	}
	if k.Deferred > 0 {
		k.DeferredBytes = l.bytes
	}
	if q := l.backlog; q != nil {
		k.Waiting = [frame.System + 1]int(q.waiting[:])
		k.Tunnelled = q.waiting[inTunnel]
		for imp := range k.TurnedAway {
			k.TurnedAway[imp] = q.turnedAway&(1<<imp) != 0
		}
	}
	return k
}

// Buffers yields every Buffer the link holds, once for each hold.
func (l *Link) Buffers(yield func(*netdev.Buffer) bool) {
	for b := range l.Unsettled {
		if !yield(b) {
			return
		}
	}
	for i := range l.out.Len() {
		if !yield(*l.out.At(i)) {
			return
		}
	}
	l.deferral.buffers(yield)
}

// Buffers yields every Buffer the link holds, once for each hold.
func (b *BroadcastReceiver) Buffers(yield func(*netdev.Buffer) bool) { b.deferral.buffers(yield) }

func (d *deferral) buffers(yield func(*netdev.Buffer) bool) {
	for i := range d.deferred() {
		if p := &d.packets[i]; p.buf != nil && !yield(p.buf) {
			return
		}
	}
}
