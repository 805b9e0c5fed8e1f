// SPDX-License-Identifier: Apache-2.0

package flowctl

import "github.com/utipc/utipc/frame"

// SynchBegin holds a link that has just come up back, until another one to the same
// node has delivered what was sent before. Source: docs/spec/02-link.md §2.2.
func (l *Link) SynchBegin() {
	if l.state == Established {
		l.state = Synching
	}
}

// SynchEnd ends that.
func (l *Link) SynchEnd() {
	if l.state == Synching {
		l.state = Established
	}
}

// IsSynching reports whether the link is held back.
func (l *Link) IsSynching() bool { return l.state == Synching }

// FailoverBegin keeps a link that is down from coming up, until another one to the
// same node has delivered what this one still had.
func (l *Link) FailoverBegin() {
	if l.state == Down || l.state == Establishing {
		l.state = FailingOver
	}
}

// FailoverEnd ends that.
func (l *Link) FailoverEnd() {
	if l.state == FailingOver {
		l.state = Down
	}
}

// Expected is the number of the packet the link expects.
func (l *Link) Expected() frame.Seq { return l.rcvNxt }

// First is the number of a session's first packet.
func (l *Link) First() frame.Seq { return max(l.cfg.FirstSeq, 1) }

// PeerBearer is the link's bearer as the peer numbers it.
func (l *Link) PeerBearer() uint8 { return l.peerBearer }

// SetHeader makes the link go to another station.
func (l *Link) SetHeader(h [frame.EthernetLen]byte) { l.header = h }
