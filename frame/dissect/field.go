// SPDX-License-Identifier: Apache-2.0

// Package dissect takes messages apart into all their fields, for people and tools to look at:
// [Message] as values, [Tree] as text.
//
// A field of a header is one of the layout of its kind, in layout.go, after docs/spec/01-wire.md;
// what is in none of them is reserved. What is inside a message - records, names, other messages,
// the piece of one - is taken apart too. The keys that a message hands out are not shown.
package dissect

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/utipc/utipc/frame"
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

// Message takes the message b apart into all its fields, in the order of the
// wire, with what is inside of it; and what is not as it should be is told in
// fields named "error". It allocates: it is for tools. err is as of [describe.Message].
func Message(b []byte) (f Field, err error) {
	f = Field{Name: "message", Word: -1, Len: len(b)}
	m, err := frame.Parse(b)
	switch {
	case err == frame.ErrEncrypted:
		var e frame.Encrypted
		if e, err = frame.ParseEncrypted(b); err == nil {
			f.Fields, err = encrypted(e), frame.ErrEncrypted
			return f, err
		}
		fallthrough
	case err != nil:
		f.Fields = []Field{errorField(0, err)}
		if len(b) > 0 {
			f.Fields = append(f.Fields, unread(frame.UserOf(b), 0, b)...)
		}
		return f, err
	}
	f.Fields, err = message(m, 0)
	if n := len(m.Bytes()); n < len(b) {
		f.Fields = append(f.Fields, bytesField("padding", n, b[n:]))
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

// message takes a message apart that begins at at.
func message(m frame.Message, at int) ([]Field, error) {
	if err := m.Check(); err != nil {
		return raw(m, at, err), err
	}
	return append(header(m, at), inside(m, at+m.HeaderLen())...), nil
}

// raw shows the words of a message whose fields cannot be told.
func raw(m frame.Message, at int, err error) []Field {
	f := []Field{errorField(at, err)}
	l := []slot{
		{0, 31, 29, "version", nil},
		{0, 28, 25, "user", showUser},
		{0, 24, 21, "header_words", nil},
		{0, 16, 0, "size", nil},
		{1, 31, 29, "type", nil},
	}
	for i := 1; i < m.HeaderLen()/4; i++ {
		l = append(l, slot{i, 31, 0, fmt.Sprintf("w%d", i), func(v uint32) string { return fmt.Sprintf("%08x", v) }})
	}
	for _, s := range l {
		f = append(f, s.field(m.Bytes(), at))
	}
	return append(f, unread(m.User(), at+m.HeaderLen(), m.Data())...)
}

// unread shows the bytes of a message that no parser takes; a key may be in them.
func unread(u frame.User, at int, d []byte) []Field {
	if u == frame.UserCrypto && len(d) > 0 {
		return []Field{text("data", at, len(d), "hidden")}
	}
	return rest(at, d)
}

// field shows the field in a header h that begins at at.
func (s slot) field(h []byte, at int) Field {
	v := binary.BigEndian.Uint32(h[4*s.word:]) & s.mask() >> s.low
	f := Field{Name: s.name, Offset: at + 4*s.word, Len: 4, Word: s.word, High: s.high, Low: s.low, Raw: uint64(v), Value: uint64(v)}
	switch {
	case s.show != nil:
		f.Value = s.show(v)
	case s.high == s.low:
		f.Value = v != 0
	}
	return f
}

// header shows the fields of the header of m, which begins at at, and reserved bits that are not 0.
func header(m frame.Message, at int) (f []Field) {
	l := layout(m)
	words := m.HeaderLen() / 4
	mask := reserved(words, l)
	next := 0
	extra := func(until int) {
		for ; next < until; next++ {
			if v := m.Word(next) & mask[next]; v != 0 {
				f = append(f, reservedField(next, 31, v, at))
			}
		}
	}
	for _, s := range l {
		extra(s.word)
		if s.name != "" {
			f = append(f, s.field(m.Bytes(), at))
		}
		if s.name == "media_type" {
			f = append(f, mediaFields(at+24, m.Bytes()[20:])...)
		}
	}
	extra(words)
	return f
}

// reservedField shows reserved bits v of a word, of which high is the highest there may be.
func reservedField(word, high int, v uint32, at int) Field {
	return Field{
		Name: fmt.Sprintf("reserved_w%d", word), Offset: at + 4*word, Len: 4, Word: word, High: high,
		Value: fmt.Sprintf("%08x", v), Raw: uint64(v),
	}
}

// encrypted shows the header of an encrypted packet.
func encrypted(e frame.Encrypted) []Field {
	h := e.Header()
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
		f = append(f, s.field(h, 0))
	}
	if v := binary.BigEndian.Uint32(h) & 0x1ffff; v != 0 {
		f = append(f, reservedField(0, 16, v, 0))
	}
	f = append(f, num("seq", 4, h[4:12]))
	if id, ok := e.Identity(); ok {
		f = append(f, text("identity", 12, 16, id.String()))
	} else {
		f = append(f, slot{3, 31, 0, "source", showNode}.field(h, 0))
	}
	d := e.Sealed()
	n := len(d) - frame.TagLen
	return append(f, bytesField("sealed", len(h), d[:n]), bytesField("tag", len(h)+n, d[n:]))
}
