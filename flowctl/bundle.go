// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A bundler joins messages that wait for the window to one packet: each goes into
// the last packet of its importance that waits, where it fits; one of importance
// System only where that is the last of all. A packet that has its number, or that
// was never in the backlog, is left alone.
// Source: docs/spec/01-wire.md §6; docs/spec/02-link.md §6.2.
type bundler struct {
	open [inTunnel + 1]*netdev.Buffer // the last waiting packet of each importance, if more may come into it
}

// bundleable says which messages may share a packet.
func bundleable(u frame.User) bool {
	return u != frame.UserFragment && u != frame.UserTunnel && u != frame.UserBroadcast && u != frame.UserBundler &&
		u != frame.UserCrypto // a key is copied to as few places as may be
}

// enter notes that b is the last packet of its importance to wait.
func (u *bundler) enter(b *netdev.Buffer, imp frame.Importance) {
	u.open[imp] = nil
	if bundleable(frame.UserOf(b.Bytes()[frame.EthernetLen:])) {
		u.open[imp] = b
	}
}

// leave notes that b waits no longer.
func (u *bundler) leave(b *netdev.Buffer, imp frame.Importance) {
	if u.open[imp] == b {
		u.open[imp] = nil
	}
}

// PacketLimit is the size of the largest packet to build, in bytes: room is left for
// a header should it have to take another link, and for Config.Margin.
func (l *Link) PacketLimit() int { return l.MTU() - frame.IntLen - l.cfg.Margin }

// Room makes room for a message of n bytes in a packet that waits, and returns it:
// the caller writes the whole message there, which is sent then. It returns nil
// when none waits that it may join; then the message needs a packet of its own.
func (l *Link) Room(n int, imp frame.Importance) []byte {
	q := l.backlog
	if q == nil {
		return nil
	}
	b := q.open[imp]
	if b == nil || q.waiting[imp] >= l.Limit(imp) {
		return nil
	}
	if imp == frame.System && q.At(q.Len()-1).b != b {
		return nil // what ends a connection must not overtake the data before it
	}
	size := b.Len() - frame.EthernetLen
	first := frame.UserOf(b.Bytes()[frame.EthernetLen:]) != frame.UserBundler
	if first {
		size += frame.IntLen
	}
	pad := -size & 3
	if size += pad + n; size > l.PacketLimit() || b.Tailroom() < pad+n {
		return nil
	}
	if first {
		l.wrap(b, imp)
		l.SentBundles++
		l.SentBundled++
	}
	clear(b.Extend(pad))
	room := b.Extend(n)
	frame.CountIn(b.Bytes()[frame.EthernetLen:])
	l.SentBundled++
	return room
}

// wrap puts the one message of a packet into a bundle, where it lies.
func (l *Link) wrap(b *netdev.Buffer, imp frame.Importance) {
	b.Prepend(frame.IntLen)
	copy(b.Bytes(), l.header[:])
	f := frame.BundleFields{
		Common: frame.Common{Prev: l.cfg.Self}, Count: 1, Importance: imp,
		Orig: l.cfg.Self, Dest: l.peer,
	}
	msg := b.Bytes()[frame.EthernetLen:]
	f.Put(msg, len(msg)-frame.IntLen)
}
