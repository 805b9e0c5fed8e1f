// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"encoding/binary"

	"github.com/utipc/utipc/frame"
)

func (l *linter) discovery(m frame.Message) {
	d := frame.Discovery{Message: m}
	l.addIf(d.NetID() < 1 || d.NetID() > 9999, "net-id", "w4", "%d, want 1 to 9999", d.NetID())
	if _, err := frame.ParseMediaAddr(m.Bytes()[20:]); err != nil {
		l.add("media", "w5", "medium %d: %v", m.Word(5), err)
	}
	want := frame.DiscLen
	if d.Capabilities().Has(frame.CapNodeID128) {
		want += len(frame.Identity{})
	}
	l.addIf(len(m.Bytes()) != want, "disc-size", "w0 16:0", "%d bytes, want %d", len(m.Bytes()), want)
	if len(m.Bytes()) >= want {
		l.addIf(d.Identity() == frame.Identity{}, "identity", "+60", "no identity")
	}
	t := d.Type()
	l.addIf((t == frame.Response || t == frame.TrialFail) && d.Dest() == 0, "disc-answer", "w2", "%v to nobody", t)
	switch s := d.Suggested(); {
	case t != frame.TrialFail:
		l.addIf(s != 0, "disc-suggested", "w14", "%v suggests an address", t)
	default:
		l.addIf(s == 0 || s == d.Dest(), "disc-suggested", "w14", "%v, want another address than %v", s, d.Dest())
	}
	l.addIf(d.Capabilities()&^0xfff != 0, "caps", "w1 27", "%03x has one that is not defined", uint16(d.Capabilities()))
}

func (l *linter) names(m frame.Message, c context) {
	n := frame.Names{Message: m}
	bulk, invalid := n.Bulk(), !n.NonSeq() && flag(m, 5, 14)
	l.addIf(n.LastBulk() && !bulk, "bulk", "w1 27", "the last of a bulk that is none")
	l.addIf(bulk && n.Withdrawal(), "bulk", "w1 28", "a bulk that withdraws")
	l.addIf(bulk && !n.NonLegacy(), "bulk", "w1 26", "a bulk without the bit for its number")
	l.addIf(bulk && (n.NonSeq() || c == inBcast), "bulk", "w0 20", "a bulk to everybody")
	l.addIf(bulk && !n.LastBulk() && n.UpdateSeq() != 0, "bulk", "w4 15:0", "number %d before the last of the bulk, want 0", n.UpdateSeq())
	l.addIf(!n.NonLegacy() && n.UpdateSeq() != 0, "bulk", "w4 15:0", "number %d without the bit for it", n.UpdateSeq())
	l.addIf(bulk != invalid && !n.NonSeq(), "names-ack", "w5 14", "broadcast acknowledge invalid %v in a bulk %v", invalid, bulk)
	if c == inFragment {
		return
	}
	l.addIf(n.Len() == 0 || len(m.Data())%frame.NameItemLen != 0, "names-size", "w0 16:0", "%d bytes of items, want a multiple of %d", len(m.Data()), frame.NameItemLen)
	at := frame.IntLen
	for it := range n.Items() {
		r := it.Range
		where := offset(at)
		l.addIf(r.Lower > r.Upper, "range", where, "%v", r)
		a := uint32(n.Orig())
		switch {
		case r.Type == 0:
			l.addIf(it != frame.NameItem{Range: frame.Range{Lower: a, Upper: a}, Key: a}, "names-type", where, "%v=%d/%d, want the node's own state %d", r, it.Port, it.Key, a)
		case r.Type < 64:
			l.add("names-type", where, "%v is of a type that never leaves a node", r)
		default:
			l.addIf(it.Port == 0, "names-port", where, "%v bound to no port", r)
		}
		at += frame.NameItemLen
	}
}

func (l *linter) encrypted(b []byte) {
	if len(b) < frame.SealedLen {
		l.add("base", "w0", "%v", frame.ErrTruncated)
		return
	}
	user := frame.User(b[0] >> 1 & 0xf)
	e, err := frame.ParseEncrypted(b)
	if err != nil {
		l.addIf(err == frame.ErrMalformed, "sealed-user", "w0 28:25", "%d, want 0, 7 or 13", user)
		l.addIf(err != frame.ErrMalformed, "base", "w0", "%v", err)
		return
	}
	f := e.Fields()
	w0 := binary.BigEndian.Uint32(b) & 0x1ffff
	l.addIf(w0 != 0, "reserved", "w0", "reserved bits %08x are set", w0)
	l.addIf(f.Destined && user == frame.UserDiscovery, "sealed-bits", "w0 24", "discovery for one node")
	l.addIf(!f.Destined && f.RX != 0, "sealed-bits", "w0 21:20", "a key of no known receiver")
	l.addIf(!f.Destined && f.NoKey, "sealed-bits", "w0 17", "no key of no known receiver")
	l.addIf(f.Keepalive && user != frame.UserLink, "sealed-bits", "w0 19", "a keepalive that is no STATE")
	l.addIf(f.Seq == 0, "sealed-seq", "w1", "number 0, want 1 or more")
	l.addIf(user != frame.UserDiscovery && f.Source == 0, "prev-node", "w3", "no sender")
	l.addIf(user == frame.UserDiscovery && f.Identity == frame.Identity{}, "identity", "w3", "no identity")
	n := len(e.Sealed()) - frame.TagLen
	l.addIf(n%4 != 0 || n < frame.ShortLen, "sealed-size", offset(len(e.Header())), "%d bytes sealed, want a multiple of 4 that holds a message", n)
}
