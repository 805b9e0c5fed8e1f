// SPDX-License-Identifier: Apache-2.0

package flowctl

import "github.com/utipc/utipc/frame"

// A Watch is the monitor of a bearer's peers, as their links see it: in a large cluster
// a node supervises some of them, and is told of the others by records in STATEs.
// Source: docs/spec/03-discovery-and-node.md §8.
type Watch interface {
	// Judge says what the timer of the link to a peer is to do, once an interval.
	Judge(peer frame.NodeAddr) Duty
	// RecordLen is the length of the record for a peer, in bytes, at most room; 0: none.
	RecordLen(peer frame.NodeAddr, room int) int
	// AppendRecord adds it to b, for the same room.
	AppendRecord(b []byte, peer frame.NodeAddr, room int) []byte
	// Receive takes what stood behind the Gap ACK record in a peer's STATE.
	Receive(peer frame.NodeAddr, record []byte)
}

// A Duty is what the timer of a link has to do.
type Duty struct {
	Count bool // the peer's silence: it is this node's to supervise
	Probe bool // now, whatever else
	Reset bool // take the link down, unless the peer was heard: it was reported lost, and did not answer
}

// judge is the duty towards the link's peer. Silence counts too while packets wait for
// acknowledgement: nobody notices sooner than their sender that they get none.
// Source: docs/spec/02-link.md §3.
func (l *Link) judge() Duty {
	if l.cfg.Watch == nil {
		return Duty{Count: true}
	}
	v := l.cfg.Watch.Judge(l.peer)
	v.Count = v.Count || l.transmit.Len() > 0
	return v
}

// watched is the length of the monitor's record behind a STATE with a Gap ACK record of
// n bytes, and the room it has.
func (l *Link) watched(n int) (record, room int) {
	if l.cfg.Watch == nil {
		return 0, 0
	}
	room = l.MTU() - frame.IntLen - n
	return l.cfg.Watch.RecordLen(l.peer, room), room
}
