// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"encoding/binary"
	"fmt"

	"github.com/utipc/utipc/frame"
)

func offset(n int) string { return fmt.Sprint("+", n) }

// importance holds the class written outside to the one of the message inside.
func (l *linter) importance(m, in frame.Message) {
	v := frame.Importance(bits(m, 9, 0, 3))
	if p, err := frame.ParsePayload(in); err == nil && p.Type() == frame.McastMsg && p.Syn() {
		return // the twin of a multicast may keep that one's, so as not to overtake what it marks the end of
	}
	l.addIf(v != in.Importance(), "importance", "w9 2:0", "%v around a message of %v", v, in.Importance())
}

func (l *linter) bundle(m frame.Message) {
	u := frame.Bundle{Message: m}
	d, n, used, end := m.Data(), 0, 0, 0
	l.addIf(bits(m, 9, 0, 3) > uint32(frame.System), "importance", "w9 2:0", "%d, want 0 to 4", bits(m, 9, 0, 3))
	for in, err := range u.Messages() {
		n++
		if err != nil {
			l.add("bundle-inner", offset(frame.IntLen+used), "%v", err)
			return
		}
		for _, c := range d[end:used] {
			if c != 0 {
				l.add("pad", offset(frame.IntLen+end), "bytes between the messages are not 0")
				break
			}
		}
		switch in.User() {
		case frame.UserBundler, frame.UserFragment, frame.UserTunnel, frame.UserBroadcast, frame.UserLink, frame.UserDiscovery:
			l.add("bundle-user", offset(frame.IntLen+used), "%v never stands in a bundle", in.User())
		default:
			l.importance(m, in)
			c := inBundle
			if m.NonSeq() {
				c = inBcast
			}
			l.within(fmt.Sprint("message ", n), in, c)
		}
		end = used + len(in.Bytes())
		used = (end + 3) &^ 3
		used = min(used, len(d))
	}
	l.addIf(n != u.Count(), "bundle-count", "w9 31:16", "%d, but there are %d messages", u.Count(), n)
	l.addIf(n == 0 || end != len(d), "bundle-end", offset(frame.IntLen+end), "%d bytes behind the last message", len(d)-end)
}

func (l *linter) fragment(m frame.Message) {
	f := frame.Fragment{Message: m}
	no, t := f.Number(), f.Type()
	l.addIf(t == frame.FirstFragment && no != 1 || t != frame.FirstFragment && no < 2, "fragment-number", "w4 31:16", "%v is number %d", t, no)
	l.addIf(len(f.Data()) == 0, "fragment-size", "w0 16:0", "no data")
	l.addIf(t != frame.LastFragment && len(m.Bytes()) < 46, "fragment-size", "w0 16:0", "%d bytes, to which padding would be added, want 46 or more", len(m.Bytes()))
	l.addIf(bits(m, 9, 0, 3) > uint32(frame.System), "importance", "w9 2:0", "%d, want 0 to 4", bits(m, 9, 0, 3))
	if t != frame.FirstFragment {
		return
	}
	in, ok := f.Original()
	if !ok {
		l.add("fragment-inner", offset(frame.IntLen), "no header of a message")
		return
	}
	size := frame.ClaimedSize(in.Bytes())
	l.addIf(size <= len(in.Bytes()) || size > in.HeaderLen()+frame.MaxPayload, "fragment-inner", offset(frame.IntLen), "a message of %d bytes, of which %d are here", size, len(in.Bytes()))
	switch u := in.User(); {
	case u.IsPayload(), u == frame.UserConn, u == frame.UserGroup, u == frame.UserName:
		l.importance(m, in)
		l.addIf(in.Word(2) != 0 || in.BcastAck() != 0, "fragment-inner", offset(frame.IntLen+4), "the message's link words are not 0")
		l.within("original", in, inFragment)
	default:
		l.add("fragment-user", offset(frame.IntLen), "%v never comes in fragments", u)
	}
}

func (l *linter) tunnel(m frame.Message) {
	t := frame.Tunnel{Message: m}
	l.addIf(t.Bearer() > 2, "bearer", "w5 11:9", "%d, want 0 to 2", t.Bearer())
	no, of, pieces := t.Piece()
	if t.IsSynchPoint() {
		l.addIf(t.Seq() != 1, "synch-first", "w2 15:0", "packet %d, want the link's first", t.Seq())
		l.addIf(no != 0 || of != 0, "tunnel-piece", "w4", "piece %d of %d of nothing", no, of)
		return
	}
	l.addIf(t.Count() == 0, "tunnel-count", "w9 31:16", "none tunnelled")
	if pieces || no != 0 {
		l.addIf(t.Type() == frame.TunnelSynch || no < 1 || no > of || of < 2 || of > frame.MaxPieces, "tunnel-piece", "w4", "piece %d of %d", no, of)
		l.addIf(of > t.Count(), "tunnel-count", "w9 31:16", "%d packets, of which a packet's pieces are %d", t.Count(), of)
		return
	}
	in, err := t.Inner()
	if err != nil {
		l.add("tunnel-inner", offset(frame.IntLen), "%v", err)
		return
	}
	l.addIf(in.NonSeq(), "tunnel-inner", offset(frame.IntLen), "a packet of the broadcast link")
	l.addIf(len(in.Bytes()) != len(t.Data()), "tunnel-inner", offset(frame.IntLen+len(in.Bytes())), "%d bytes behind the packet", len(t.Data())-len(in.Bytes()))
	if in.User().IsPayload() && bits(in, 1, 25, 4) == uint32(frame.NoPort) && in.Word(4) == 0 && in.Word(5) == 0 {
		return // the dummy that ends the queue
	}
	l.within("packet", in, inTunnel)
}

func (l *linter) key(m frame.Message) {
	l.add("clear-key", "w0 28:25", "a key, which must arrive encrypted")
	mode := frame.KeyMode(bits(m, 4, 0, 4))
	l.addIf(mode != frame.ClusterKey && mode != frame.NodeKey, "key", "w4 3:0", "mode %d, want 1 or 2", mode)
	const head = frame.KeyMessageLen - frame.IntLen
	if d := m.Data(); len(d) < head {
		l.add("key", offset(frame.IntLen), "%d bytes, want %d before the key", len(d), head)
	} else if _, err := frame.ParseKey(m); err != nil {
		l.add("key", offset(frame.IntLen), "algorithm, length %d and size %d do not agree", binary.BigEndian.Uint32(d[32:]), len(m.Bytes()))
	}
}
