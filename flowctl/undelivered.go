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
	moved     bool             // all of those were queued:
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
	switch {
	case b == nil:
		l.letGoBegun()
	case frame.UserOf(b.Bytes()[frame.EthernetLen:]) == frame.UserFragment:
		l.letGoFragment(b)
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
	if l.undelivered == nil {
		l.undelivered = new(undelivered)
	}
	l.undelivered.begun = b
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
	if l.undelivered == nil {
		l.undelivered = new(undelivered)
	}
	u := l.undelivered
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
