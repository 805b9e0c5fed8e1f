// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// A Field is a piece of a message for people and tools to look at: a value, or a
// group of fields, or a list of groups. It shares no memory with the message.
type Field struct {
	Name   string  // stable, lower case with underscores
	Offset int     // of its first byte, in bytes, from the start of what was dissected
	Len    int     // of the word or the bytes it is in
	Word   int     // the header word it is in, or -1; within its own message
	High   int     // its bits in that word, from High down to Low
	Low    int     //
	Value  any     // bool, uint64 or string; nil for a group or a list
	Raw    uint64  // the bits, where Value is a text that stands for them
	Fields []Field // of a group; the groups of a list
	List   bool
}

// Dissect takes the message b apart into all its fields, in the order of the
// wire, with what is inside of it; and what is not as it should be is told in
// fields named "error". It allocates: it is for tools. err is as of Describe.
func Dissect(b []byte) (f Field, err error) {
	f = Field{Name: "message", Word: -1, Len: len(b)}
	m, err := Parse(b)
	switch {
	case err == ErrEncrypted:
		var e Encrypted
		if e, err = ParseEncrypted(b); err == nil {
			f.Fields, err = e.dissect(), ErrEncrypted
			return f, err
		}
		fallthrough
	case err != nil:
		f.Fields = []Field{errorField(0, err)}
		if len(b) > 0 {
			f.Fields = append(f.Fields, unread(User(b[0]>>1&0xf), 0, b)...)
		}
		return f, err
	}
	f.Fields, err = m.dissect(0)
	if n := len(b) - len(m.b); n > 0 {
		f.Fields = append(f.Fields, bytesField("padding", len(m.b), b[len(m.b):]))
	}
	return f, err
}

func errorField(at int, err error) Field {
	return Field{Name: "error", Offset: at, Word: -1, Value: strings.TrimPrefix(err.Error(), "frame: ")}
}

func bytesField(name string, at int, b []byte) Field {
	return Field{Name: name, Offset: at, Len: len(b), Word: -1, Value: hex.EncodeToString(b)}
}

// text makes a field of n bytes at at whose bytes mean s.
func text(name string, at, n int, s string) Field {
	return Field{Name: name, Offset: at, Len: n, Word: -1, Value: s}
}

// num makes a field of the 1, 2, 4 or 8 bytes of b.
func num(name string, at int, b []byte) Field {
	var v uint64
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return Field{Name: name, Offset: at, Len: len(b), Word: -1, Value: v, Raw: v}
}

// dissect takes a message apart that begins at at.
func (m Message) dissect(at int) ([]Field, error) {
	if _, err := m.describe(); err != nil {
		return m.raw(at, err), err
	}
	return append(m.header(at, m.layout()), m.inside(at+m.hlen)...), nil
}

// raw shows the words of a message whose fields cannot be told.
func (m Message) raw(at int, err error) []Field {
	f := []Field{errorField(at, err)}
	l := []slot{
		{0, 31, 29, "version", nil},
		{0, 28, 25, "user", showUser},
		{0, 24, 21, "header_words", nil},
		{0, 16, 0, "size", nil},
		{1, 31, 29, "type", nil},
	}
	for _, s := range l {
		f = append(f, m.slotField(at, s))
	}
	for i := 1; i < m.hlen/4; i++ {
		f = append(f, m.slotField(at, slot{i, 31, 0, fmt.Sprintf("w%d", i), func(v uint32) string { return fmt.Sprintf("%08x", v) }}))
	}
	return append(f, unread(m.User(), at+m.hlen, m.Data())...)
}

// unread shows the bytes of a message that no parser takes; a key may be in them.
func unread(u User, at int, d []byte) []Field {
	if u == UserCrypto && len(d) > 0 {
		return []Field{text("data", at, len(d), "hidden")}
	}
	return rest(at, d)
}

func (m Message) slotField(at int, s slot) Field {
	v := m.word(s.word) & s.mask() >> s.low
	f := Field{Name: s.name, Offset: at + 4*s.word, Len: 4, Word: s.word, High: s.high, Low: s.low, Raw: uint64(v), Value: uint64(v)}
	switch {
	case s.show != nil:
		f.Value = s.show(v)
	case s.high == s.low:
		f.Value = v != 0
	}
	return f
}

// header shows the fields of l, and reserved bits that are not 0.
func (m Message) header(at int, l []slot) (f []Field) {
	mask := reserved(m, l)
	next := 0
	extra := func(until int) {
		for ; next < until; next++ {
			if v := m.word(next) & mask[next]; v != 0 {
				f = append(f, Field{
					Name: fmt.Sprintf("reserved_w%d", next), Offset: at + 4*next, Len: 4, Word: next, High: 31,
					Value: fmt.Sprintf("%08x", v), Raw: uint64(v),
				})
			}
		}
	}
	for _, s := range l {
		extra(s.word)
		if s.name != "" {
			f = append(f, m.slotField(at, s))
		}
		if s.name == "media_type" {
			f = append(f, mediaFields(at+24, m.b[20:])...)
		}
	}
	extra(m.hlen / 4)
	return f
}

func mediaFields(at int, b []byte) []Field {
	switch a, _ := ParseMediaAddr(b); a.Type {
	case MediaEthernet:
		return []Field{text("mac", at, 6, a.MAC.String())}
	case MediaUDP:
		n := 4
		if !a.UDP.Addr().Is4() {
			n = 16
		}
		family := num("family", at, b[4:6])
		family.Value = fmt.Sprintf("%04x", family.Raw)
		return []Field{family, num("udp_port", at+2, b[6:8]), text("ip", at+4, n, a.UDP.Addr().String())}
	}
	return nil
}

// inside shows what stands behind the header, at at.
func (m Message) inside(at int) []Field {
	d := m.Data()
	switch m.User() {
	case UserLink:
		l, _ := ParseLink(m)
		if s, ok := l.State(); ok {
			return s.dissect(at)
		}
		f := []Field{text("if_name", at, IfNameLen, Reset{l}.IfName())}
		return append(f, rest(at+IfNameLen, d[IfNameLen:])...)
	case UserDiscovery:
		if x := (Discovery{m}); x.Capabilities().Has(CapNodeID128) {
			f := []Field{text("identity", at, 16, x.Identity().String())}
			return append(f, rest(at+16, d[16:])...)
		}
	case UserName:
		return Names{m}.dissect(at)
	case UserBundler:
		return Bundle{m}.dissect(at)
	case UserFragment:
		f := rest(at, d)
		if x, ok := (Fragment{m}).inner(); ok && len(f) > 0 {
			f[0].Name = "piece"
			if _, err := x.describe(); err == nil {
				f = append([]Field{{Name: "original_header", Offset: at, Len: x.hlen, Word: -1, Fields: x.header(at, x.layout())}}, f...)
			}
		}
		return f
	case UserTunnel:
		if in, err := (Tunnel{m}).Inner(); err == nil {
			f, _ := in.dissect(at)
			return append([]Field{{Name: "packet", Offset: at, Len: len(in.b), Word: -1, Fields: f}}, rest(at+len(in.b), d[len(in.b):])...)
		}
	case UserCrypto:
		return []Field{text("algorithm", at, 32, KeyAlgorithm), num("key_len", at+32, d[32:36]), text("key", at+36, len(d)-36, "hidden")}
	}
	return rest(at, d)
}

// rest shows bytes of which no more is known.
func rest(at int, d []byte) []Field {
	if len(d) == 0 {
		return nil
	}
	return []Field{bytesField("data", at, d)}
}

// inner is the header of the message of which the fragment is the first piece; ok
// is false when it is not, or the header is not all there. Its Data may be short.
func (f Fragment) inner() (m Message, ok bool) {
	d := f.Data()
	if f.Type() != FirstFragment || len(d) < ShortLen {
		return Message{}, false
	}
	m = Message{d, int(binary.BigEndian.Uint32(d)>>21&0xf) * 4}
	return m, m.word(0)>>29 == 2 && m.hlen >= ShortLen && m.hlen <= len(d)
}

func (s State) dissect(at int) (f []Field) {
	record := s.GuessRecord()
	g, d, err := s.GapAcks(record)
	if err != nil {
		return append(rest(at, s.Data()), errorField(at, err))
	}
	if record {
		x := Field{Name: "gap_acks", Offset: at, Len: len(g.b), Word: -1}
		for i, name := range [...]string{"len", "unicast_blocks", "bcast_blocks"} {
			k := [...]int{0, 2, 3, 4}
			if len(g.b) >= k[i+1] {
				x.Fields = append(x.Fields, num(name, at+k[i], g.b[k[i]:k[i+1]]))
			}
		}
		n := at + gapRecordHead
		for _, l := range [...]struct {
			name string
			l    GapBlocks
		}{{"bcast", g.Bcast()}, {"unicast", g.Unicast()}} {
			if l.l.Len() == 0 {
				continue
			}
			list := Field{Name: l.name, Offset: n, Len: len(l.l.b), Word: -1, List: true}
			for i := range l.l.Len() {
				b := l.l.b[4*i:]
				list.Fields = append(list.Fields, Field{Offset: n, Len: 4, Word: -1, Fields: []Field{num("ack", n, b[:2]), num("gap", n+2, b[2:4])}})
				n += 4
			}
			x.Fields = append(x.Fields, list)
		}
		if g.form == GapNone {
			x.Fields = append(x.Fields, errorField(at, ErrMalformed))
		}
		f = append(f, x)
		at += len(g.b)
	}
	if len(d) == 0 {
		return f
	}
	x, err := ParseDomain(d)
	if err != nil {
		return append(append(f, rest(at, d)...), errorField(at, err))
	}
	g2 := Field{Name: "domain", Offset: at, Len: len(d), Word: -1, Fields: []Field{
		num("len", at, d[:2]), num("gen", at+2, d[2:4]),
		num("ack_gen", at+4, d[4:6]), num("member_cnt", at+6, d[6:8]), text("up_map", at+8, 8, fmt.Sprintf("%016x", x.UpMap())),
	}}
	list := Field{Name: "members", Offset: at + domainHead, Len: len(d) - domainHead, Word: -1, List: true}
	for i, a := range x.Members() {
		o := at + domainHead + 4*i
		up := Field{Name: "up", Offset: at + 8, Len: 8, Word: -1, Value: x.Up(i)}
		list.Fields = append(list.Fields, Field{Offset: o, Len: 4, Word: -1, Fields: []Field{text("node", o, 4, a.String()), up}})
	}
	if x.Len() > 0 {
		g2.Fields = append(g2.Fields, list)
	}
	return append(f, g2)
}

func (n Names) dissect(at int) []Field {
	list := Field{Name: "items", Offset: at, Len: n.Len() * NameItemLen, Word: -1, List: true}
	d := n.Data()
	for ; len(d) >= NameItemLen; d, at = d[NameItemLen:], at+NameItemLen {
		it := Field{Offset: at, Len: NameItemLen, Word: -1}
		for i, name := range [...]string{"service_type", "lower", "upper", "port", "key"} {
			it.Fields = append(it.Fields, num(name, at+4*i, d[4*i:4*i+4]))
		}
		list.Fields = append(list.Fields, it)
	}
	return append([]Field{list}, rest(at, d)...)
}

func (u Bundle) dissect(at int) []Field {
	list := Field{Name: "messages", Offset: at, Len: len(u.Data()), Word: -1, List: true}
	used := 0
	for m, err := range u.Messages() {
		if err != nil {
			list.Fields = append(list.Fields, Field{Offset: at + used, Word: -1, Fields: []Field{errorField(at+used, err)}})
			break
		}
		x := Field{Offset: at + used, Len: len(m.b), Word: -1}
		if m.User() == UserBundler { // they do not nest
			x.Fields = m.raw(at+used, ErrMalformed)
		} else {
			x.Fields, _ = m.dissect(at + used)
		}
		list.Fields = append(list.Fields, x)
		used += (len(m.b) + 3) &^ 3
	}
	return append([]Field{list}, rest(at+used, u.Data()[min(used, len(u.Data())):])...)
}

// dissect shows the header of an encrypted packet.
func (e Encrypted) dissect() []Field {
	m := Message{e.b, SealedLen}
	var f []Field
	for _, s := range []slot{
		{0, 31, 29, "version", nil},
		{0, 28, 25, "user", showSealed},
		{0, 24, 24, "destined", nil},
		{0, 23, 22, "tx", nil},
		{0, 21, 20, "rx", nil},
		{0, 19, 19, "keepalive", nil},
		{0, 18, 18, "master", nil},
		{0, 17, 17, "no_key", nil},
	} {
		f = append(f, m.slotField(0, s))
	}
	if v := m.bits(0, 0, 17); v != 0 {
		f = append(f, Field{Name: "reserved_w0", Len: 4, High: 16, Value: fmt.Sprintf("%08x", v), Raw: uint64(v)})
	}
	f = append(f, num("seq", 4, e.b[4:12]))
	if id, ok := e.Identity(); ok {
		f = append(f, text("identity", 12, 16, id.String()))
	} else {
		f = append(f, m.slotField(0, slot{3, 31, 0, "source", showNode}))
	}
	n := len(e.b) - TagLen
	return append(f, bytesField("sealed", e.hlen, e.b[e.hlen:n]), bytesField("tag", n, e.b[n:]))
}
