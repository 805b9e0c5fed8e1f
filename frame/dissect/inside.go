// SPDX-License-Identifier: Apache-2.0

package dissect

import (
	"fmt"

	"github.com/utipc/utipc/frame"
)

func mediaFields(at int, b []byte) []Field {
	switch a, _ := frame.ParseMediaAddr(b); a.Type {
	case frame.MediaEthernet:
		return []Field{text("mac", at, 6, a.MAC.String())}
	case frame.MediaUDP:
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

// inside shows what stands after the header of m, which Check takes, at at.
func inside(m frame.Message, at int) []Field {
	d := m.Data()
	switch m.User() {
	case frame.UserLink:
		l, _ := frame.ParseLink(m)
		if s, ok := l.State(); ok {
			return state(s, at)
		}
		r, _ := l.Reset()
		return append([]Field{text("if_name", at, frame.IfNameLen, r.IfName())}, rest(at+frame.IfNameLen, d[frame.IfNameLen:])...)
	case frame.UserDiscovery:
		if x, _ := frame.ParseMediaDiscovery(m); x.Capabilities().Has(frame.CapNodeID128) {
			return append([]Field{text("identity", at, 16, x.Identity().String())}, rest(at+16, d[16:])...)
		}
	case frame.UserName:
		n, _ := frame.ParseNames(m)
		return names(n, at)
	case frame.UserBundler:
		u, _ := frame.ParseBundle(m)
		return bundle(u, at)
	case frame.UserFragment:
		x, _ := frame.ParseFragment(m)
		return fragment(x, at)
	case frame.UserTunnel:
		t, _ := frame.ParseTunnel(m)
		if in, err := t.Inner(); err == nil {
			f, _ := message(in, at)
			n := len(in.Bytes())
			return append([]Field{{Name: "packet", Offset: at, Len: n, Word: -1, Fields: f}}, rest(at+n, d[n:])...)
		}
	case frame.UserCrypto:
		return []Field{text("algorithm", at, 32, frame.KeyAlgorithm), num("key_len", at+32, d[32:36]), text("key", at+36, len(d)-36, "hidden")}
	}
	return rest(at, d)
}

// fragment shows the piece of a message, and the header of the message if it is there.
func fragment(x frame.Fragment, at int) []Field {
	f := rest(at, x.Data())
	in, ok := x.Original()
	if !ok {
		return f
	}
	f[0].Name = "piece"
	if in.Check() != nil {
		return f
	}
	return append([]Field{{Name: "original_header", Offset: at, Len: in.HeaderLen(), Word: -1, Fields: header(in, at)}}, f...)
}

// rest shows bytes of which no more is known.
func rest(at int, d []byte) []Field {
	if len(d) == 0 {
		return nil
	}
	return []Field{bytesField("data", at, d)}
}

// state shows the data of s, with a guess at whether it begins with a record of gap-ack blocks.
func state(s frame.State, at int) (f []Field) {
	record := s.GuessRecord()
	g, d, err := s.GapAcks(record)
	if err != nil {
		return append(rest(at, s.Data()), errorField(at, err))
	}
	if record {
		f = append(f, gapAcks(g, at))
		at += len(g.Bytes())
	}
	if len(d) == 0 {
		return f
	}
	x, err := frame.ParseDomain(d)
	if err != nil {
		return append(append(f, rest(at, d)...), errorField(at, err))
	}
	return append(f, domain(x, d, at))
}

// gapAcks shows a record of gap-ack blocks: 4 bytes, and 4 for each block.
func gapAcks(g frame.GapAcks, at int) Field {
	b := g.Bytes()
	x := Field{Name: "gap_acks", Offset: at, Len: len(b), Word: -1}
	for i, name := range [...]string{"len", "unicast_blocks", "bcast_blocks"} {
		k := [...]int{0, 2, 3, 4}
		if len(b) >= k[i+1] {
			x.Fields = append(x.Fields, num(name, at+k[i], b[k[i]:k[i+1]]))
		}
	}
	o := 4
	for _, l := range [...]struct {
		name string
		l    frame.GapBlocks
	}{{"bcast", g.Bcast()}, {"unicast", g.Unicast()}} {
		if l.l.Len() == 0 {
			continue
		}
		list := Field{Name: l.name, Offset: at + o, Len: 4 * l.l.Len(), Word: -1, List: true}
		for range l.l.Len() {
			list.Fields = append(list.Fields, Field{Offset: at + o, Len: 4, Word: -1, Fields: []Field{num("ack", at+o, b[o:o+2]), num("gap", at+o+2, b[o+2:o+4])}})
			o += 4
		}
		x.Fields = append(x.Fields, list)
	}
	if g.Form() == frame.GapNone {
		x.Fields = append(x.Fields, errorField(at, frame.ErrMalformed))
	}
	return x
}

// domain shows the record x of the bytes d: 16 bytes, and 4 for each member.
func domain(x frame.Domain, d []byte, at int) Field {
	head := len(d) - 4*x.Len()
	f := Field{Name: "domain", Offset: at, Len: len(d), Word: -1, Fields: []Field{
		num("len", at, d[:2]), num("gen", at+2, d[2:4]),
		num("ack_gen", at+4, d[4:6]), num("member_cnt", at+6, d[6:8]), text("up_map", at+8, 8, fmt.Sprintf("%016x", x.UpMap())),
	}}
	list := Field{Name: "members", Offset: at + head, Len: len(d) - head, Word: -1, List: true}
	for i, a := range x.Members() {
		o := at + head + 4*i
		up := Field{Name: "up", Offset: at + 8, Len: 8, Word: -1, Value: x.Up(i)}
		list.Fields = append(list.Fields, Field{Offset: o, Len: 4, Word: -1, Fields: []Field{text("node", o, 4, a.String()), up}})
	}
	if x.Len() > 0 {
		f.Fields = append(f.Fields, list)
	}
	return f
}

func names(n frame.Names, at int) []Field {
	list := Field{Name: "items", Offset: at, Len: n.Len() * frame.NameItemLen, Word: -1, List: true}
	d := n.Data()
	for ; len(d) >= frame.NameItemLen; d, at = d[frame.NameItemLen:], at+frame.NameItemLen {
		it := Field{Offset: at, Len: frame.NameItemLen, Word: -1}
		for i, name := range [...]string{"service_type", "lower", "upper", "port", "key"} {
			it.Fields = append(it.Fields, num(name, at+4*i, d[4*i:4*i+4]))
		}
		list.Fields = append(list.Fields, it)
	}
	return append([]Field{list}, rest(at, d)...)
}

func bundle(u frame.Bundle, at int) []Field {
	list := Field{Name: "messages", Offset: at, Len: len(u.Data()), Word: -1, List: true}
	used := 0
	for m, err := range u.Messages() {
		if err != nil {
			list.Fields = append(list.Fields, Field{Offset: at + used, Word: -1, Fields: []Field{errorField(at+used, err)}})
			break
		}
		x := Field{Offset: at + used, Len: len(m.Bytes()), Word: -1}
		if m.User() == frame.UserBundler { // they do not nest
			x.Fields = raw(m, at+used, frame.ErrMalformed)
		} else {
			x.Fields, _ = message(m, at+used)
		}
		list.Fields = append(list.Fields, x)
		used += (len(m.Bytes()) + 3) &^ 3
	}
	return append([]Field{list}, rest(at+used, u.Data()[min(used, len(u.Data())):])...)
}
