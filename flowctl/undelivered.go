// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// Packets that the peer has acknowledged and cannot deliver before others have come are lost with
// those. They are kept until then, so that Unsettled names all that is lost.
type undelivered struct {
	begun     *netdev.Buffer   // the first packet of a message whose last is not let go of; nil: none
	inherited []*netdev.Buffer // of a failed link; the others come in the tunnel
	tunnelled []*netdev.Buffer // packets of the tunnel whose message, or packet in pieces, goes on behind
	moved     bool             // all of the inherited were queued:
	upTo      frame.Seq        // once all packets before this are acknowledged, the peer has them
}

// all yields all packets.
func (u *undelivered) all(yield func(*netdev.Buffer) bool) {
	if u == nil {
		return
	}
	for _, b := range u.inherited {
		if !yield(b) {
			return
		}
	}
	for _, b := range u.tunnelled {
		if !yield(b) {
			return
		}
	}
	if u.begun != nil {
		yield(u.begun)
	}
}

// drop lets go of all.
func (u *undelivered) drop() {
	for b := range u.all {
		b.Release()
	}
}

// letGo lets go of a packet that the peer has, and all before it; nil: it was let go of before.
// Of a message in several packets the first is kept until the last is let go of: it alone says whose
// message that is, and how long.
func (l *Link) letGo(b *netdev.Buffer) {
	if b == nil {
		return
	}
	switch frame.UserOf(b.Bytes()[frame.EthernetLen:]) {
	case frame.UserFragment:
		l.letGoFragment(b)
	case frame.UserTunnel:
		l.letGoTunnelled(b)
	default:
		b.Recycle()
	}
}

// letGoFragment is letGo of a fragment.
func (l *Link) letGoFragment(b *netdev.Buffer) {
	m, _ := frame.Parse(b.Bytes()[frame.EthernetLen:])
	f, err := frame.ParseFragment(m)
	first := err == nil && f.Type() == frame.FirstFragment
	if first || err != nil || f.Type() == frame.LastFragment {
		l.letGoBegun()
	}
	if !first {
		b.Recycle()
		return
	}
	l.needUndelivered().begun = b
}

// letGoTunnelled is letGo of a packet of a tunnel. Those that carry a message in part are kept until
// the last of them is let go of.
func (l *Link) letGoTunnelled(b *netdev.Buffer) {
	t, ok := failoverOf(b)
	if !ok {
		b.Recycle()
		return
	}
	u := l.needUndelivered()
	u.tunnelled = append(u.tunnelled, b)
	no, of, pieces := t.Piece()
	if pieces && no < of {
		return
	}
	if first := len(u.tunnelled) - of; pieces && first >= 0 {
		t, ok = failoverOf(u.tunnelled[first])
	}
	if ok && !ends(t.Data()) {
		return
	}
	for _, b := range u.tunnelled {
		b.Recycle()
	}
	u.tunnelled = nil
}

// failoverOf is the tunnel message of a failover in a packet, if there is one.
func failoverOf(b *netdev.Buffer) (t frame.Tunnel, ok bool) {
	m, err := frame.Parse(b.Bytes()[frame.EthernetLen:])
	if err == nil {
		t, err = frame.ParseTunnel(m)
	}
	return t, err == nil && t.Type() == frame.TunnelFailover
}

// ends reports whether the packet that begins so is the last of its message.
func ends(packet []byte) bool {
	m, _, err := frame.ParseHead(packet)
	if err != nil || m.User() != frame.UserFragment {
		return true
	}
	f, err := frame.ParseFragment(m)
	return err != nil || f.Type() == frame.LastFragment
}

// needUndelivered makes room for what is kept.
func (l *Link) needUndelivered() *undelivered {
	if l.undelivered == nil {
		l.undelivered = new(undelivered)
	}
	return l.undelivered
}

// letGoBegun lets go of the first packet of a message.
func (l *Link) letGoBegun() {
	if u := l.undelivered; u != nil && u.begun != nil {
		u.begun.Recycle()
		u.begun = nil
	}
}

// inherit takes over what a failed link has kept.
func (l *Link) inherit(failed *Link) {
	u := l.needUndelivered()
	u.moved = false
	for b := range failed.undelivered.all {
		u.inherited = append(u.inherited, b)
	}
	failed.undelivered = nil
}

// letGoInherited lets go of what was inherited once the peer can deliver it.
func (l *Link) letGoInherited() {
	u := l.undelivered
	if len(u.inherited) == 0 || l.Moving() > 0 {
		return
	}
	if !u.moved {
		u.moved, u.upTo = true, l.sndNxt+frame.Seq(l.backlog.Len())
	}
	if oldest := l.sndNxt - frame.Seq(l.transmit.Len()); !oldest.Before(u.upTo) {
		for _, b := range u.inherited {
			b.Recycle()
		}
		u.inherited = nil
	}
}
