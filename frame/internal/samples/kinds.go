// SPDX-License-Identifier: Apache-2.0

// Package samples has what the tests of frame and of the packages under it share: captured
// messages, opened if they were encrypted; messages of each kind; and the kinds themselves, as a
// table of what each reads.
package samples

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/utipc/utipc/frame"
)

// A Kind is one of the messages that package frame reads, with what its tests need.
type Kind struct {
	Name string
	// Rebuild parses m as this kind and builds it again behind b.
	Rebuild func(m frame.Message, b []byte) ([]byte, error)
	// Words says which bits of each header word the kind reads; the others are
	// reserved, and Append writes them as zero.
	Words func(m frame.Message) [15]uint32
	// Data is the number of bytes behind the header that the kind reads.
	Data func(m frame.Message) int
}

const all = 0xffffffff

// Words 0 and 1 of a message without flags, whose word 1 is type and broadcast
// acknowledge.
const (
	plainWord0 = 0xfff1ffff
	plainWord1 = 0xe000ffff
)

func allData(m frame.Message) int { return len(m.Data()) }
func noData(frame.Message) int    { return 0 }

func constant(w [15]uint32) func(frame.Message) [15]uint32 {
	return func(frame.Message) [15]uint32 { return w }
}

// ifBroadcast is the mask of a word that holds the network's number on the
// broadcast link and other elsewhere.
func ifBroadcast(m frame.Message, other uint32) uint32 {
	if m.NonSeq() {
		return all
	}
	return other
}

// Kinds are all there are. OfEachKind has a message of each, in this order.
var Kinds = []Kind{
	{
		Name: "payload",
		Rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			p, err := frame.ParsePayload(m)
			if err != nil {
				return nil, err
			}
			f := p.Fields()
			return f.Append(b, p.Data()), nil
		},
		Words: func(m frame.Message) [15]uint32 {
			w := [15]uint32{all, 0xfff8ffff, all, all, all, all, all, all, all, all, all}
			if p := (frame.Payload{Message: m}); p.Syn() && (p.Type() == frame.NamedMsg || p.Type() == frame.DirectMsg) {
				w[1] |= 3 << 17 // the kind of connection that is asked for
			}
			return w
		},
		Data: allData,
	},
	{
		Name: "state",
		Rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			l, err := frame.ParseLink(m)
			if err != nil {
				return nil, err
			}
			s, ok := l.State()
			if !ok {
				return nil, frame.ErrUnknown
			}
			f := s.Fields()
			return f.Append(b, s.Data()), nil
		},
		Words: constant([15]uint32{0xfff9ffff, all, all, all, all, 0xffff7fff, all, all, 0x3ff, 0xffff}),
		Data:  allData,
	},
	{
		Name: "reset",
		Rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			l, err := frame.ParseLink(m)
			if err != nil {
				return nil, err
			}
			r, ok := l.Reset()
			if !ok {
				return nil, frame.ErrUnknown
			}
			f := r.Fields()
			return f.Append(b), nil
		},
		Words: func(m frame.Message) [15]uint32 {
			w := [15]uint32{plainWord0, plainWord1, all, all, all, 0xffff7ffe, all, all, 0, all}
			if m.RawType() == 2 { // ACTIVATE: the session it answers is valid
				w[1] |= 1 << 16
			}
			return w
		},
		Data: func(frame.Message) int { return frame.IfNameLen },
	},
	{
		Name: "discovery",
		Rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			d, err := frame.ParseDiscovery(m)
			if err != nil {
				return nil, err
			}
			f := d.Fields()
			return f.Append(b), nil
		},
		Words: constant([15]uint32{plainWord0, 0xefffffff, all, all, all, all, all, 0xffff0000, 0, 0, 0, 0, 0, all, all}),
		Data:  identityData,
	},
	{
		Name: "names",
		Rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			n, err := frame.ParseNames(m)
			if err != nil {
				return nil, err
			}
			var items []frame.NameItem
			for it := range n.Items() {
				items = append(items, it)
			}
			f := n.Fields()
			return f.Append(b, items...), nil
		},
		Words: func(m frame.Message) [15]uint32 {
			return [15]uint32{plainWord0, 0xfc00ffff, all, all, 0xffff, ifBroadcast(m, 1<<14), all, all}
		},
		Data: func(m frame.Message) int { return len(m.Data()) / 20 * 20 },
	},
	{
		Name: "bcast init",
		Rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			i, err := frame.ParseBcastInit(m)
			if err != nil {
				return nil, err
			}
			f := i.Fields()
			return f.Append(b), nil
		},
		Words: constant([15]uint32{plainWord0, plainWord1, all, all, 0xffff0000, 1 << 14, all, all}),
		Data:  noData,
	},
	{
		Name: "conn",
		Rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			c, err := frame.ParseConn(m)
			if err != nil {
				return nil, err
			}
			f := c.Fields()
			return f.Append(b), nil
		},
		Words: constant([15]uint32{plainWord0 | 1<<18, 0xfe00ffff, all, all, all, all, all, all, 0, all}),
		Data:  noData,
	},
	{
		Name: "fragment",
		Rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			x, err := frame.ParseFragment(m)
			if err != nil {
				return nil, err
			}
			f := x.Fields()
			return f.Append(b, x.Data()), nil
		},
		Words: func(m frame.Message) [15]uint32 {
			return [15]uint32{plainWord0, plainWord1, all, all, 0xffff0000, ifBroadcast(m, 0), all, all, 0, 7}
		},
		Data: allData,
	},
	{
		Name: "bundle",
		Rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			u, err := frame.ParseBundle(m)
			if err != nil {
				return nil, err
			}
			f := u.Fields()
			return f.Append(b, u.Data()), nil
		},
		Words: func(m frame.Message) [15]uint32 { // the type is 0, and ignored
			return [15]uint32{plainWord0, 0xffff, all, all, 0, ifBroadcast(m, 0), all, all, 0, 0xffff0007}
		},
		Data: allData,
	},
	{
		Name: "group",
		Rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			g, err := frame.ParseGroup(m)
			if err != nil {
				return nil, err
			}
			f := g.Fields()
			return f.Append(b), nil
		},
		Words: constant([15]uint32{plainWord0 | 1<<19, plainWord1, all, all, all, all, all, all, 0, all}),
		Data:  noData,
	},
	{
		Name: "tunnel",
		Rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			x, err := frame.ParseTunnel(m)
			if err != nil {
				return nil, err
			}
			f := x.Fields()
			return f.Append(b, x.Data()), nil
		},
		Words: constant([15]uint32{plainWord0, plainWord1, all, all, all, 7 << 9, all, all, 0, 0xffff0000}),
		Data:  allData,
	},
	{
		Name: "key",
		Rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			k, err := frame.ParseKey(m)
			if err != nil {
				return nil, err
			}
			f := k.Fields()
			return f.Append(b, k.Key()), nil
		},
		Words: func(m frame.Message) [15]uint32 {
			return [15]uint32{plainWord0, plainWord1, all, all, 0xffff000f, ifBroadcast(m, 0), all, all}
		},
		Data: allData,
	},
	{
		Name: "bcast nack",
		Rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			n, err := frame.ParseBcastNack(m)
			if err != nil {
				return nil, err
			}
			f := n.Fields()
			return f.Append(b), nil
		},
		Words: constant([15]uint32{plainWord0, plainWord1, all, all, 0xffff0000, all, all, all}),
		Data:  noData,
	},
	{
		Name: "UDP discovery",
		Rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			d, err := ParseUDPDiscovery(m)
			if err != nil {
				return nil, err
			}
			f := d.Fields()
			return f.Append(b), nil
		},
		Words: func(m frame.Message) [15]uint32 {
			w := [15]uint32{plainWord0, 0xefffffff, all, all, all, all, all, all, 0, 0, 0, 0, 0, all, all}
			if binary.BigEndian.Uint16(m.Bytes()[24:]) == 0x86dd {
				w[8], w[9], w[10] = all, all, all
			}
			return w
		},
		Data: identityData,
	},
}

// ParseUDPDiscovery parses m as a discovery message of a UDP bearer.
func ParseUDPDiscovery(m frame.Message) (frame.Discovery, error) {
	d, err := frame.ParseMediaDiscovery(m)
	if err == nil && d.Media().Type != frame.MediaUDP {
		return frame.Discovery{}, frame.ErrUnknown
	}
	return d, err
}

// identityData is the identity of a discovery message, if it has one, and what a Response may
// have behind it.
func identityData(m frame.Message) int {
	if binary.BigEndian.Uint32(m.Bytes()[4:])>>15&uint32(frame.CapNodeID128) == 0 {
		return 0
	}
	if b := m.Data(); frame.DiscoveryType(m.RawType()) == frame.Response && len(b) == 32 && !bytes.Equal(b[16:], make([]byte, 16)) {
		return 32
	}
	return 16
}

// KindOf finds m's kind; ok is false when no parser takes it.
func KindOf(m frame.Message) (k Kind, ok bool) {
	for _, k := range Kinds {
		if _, err := k.Rebuild(m, nil); err == nil {
			return k, true
		}
	}
	return Kind{}, false
}

// masked returns what is left of m when all that its kind does not read is zero
// and cut off.
func (k Kind) masked(m frame.Message) []byte {
	b := bytes.Clone(m.Bytes()[:m.HeaderLen()+k.Data(m)])
	words := k.Words(m)
	for i := range m.HeaderLen() / 4 {
		w := b[4*i:]
		binary.BigEndian.PutUint32(w, binary.BigEndian.Uint32(w)&words[i])
	}
	w0 := binary.BigEndian.Uint32(b)&^0x1ffff | uint32(len(b))
	binary.BigEndian.PutUint32(b, w0)
	return b
}

// Check holds m, which k's parser takes, to the law: built again it is the same
// but for what the kind does not read, and building that again changes nothing.
func (k Kind) Check(t *testing.T, m frame.Message) {
	t.Helper()
	got, err := k.Rebuild(m, nil)
	if err != nil {
		t.Fatalf("%s: got %v, want nil", k.Name, err)
	}
	if want := k.masked(m); !bytes.Equal(got, want) {
		t.Fatalf("%s %x: got %x, want %x", k.Name, m.Bytes(), got, want)
	}
	m2, err := frame.Parse(got)
	if err != nil {
		t.Fatalf("%s: built %x: got %v, want nil", k.Name, got, err)
	}
	again, err := k.Rebuild(m2, []byte{7})
	if err != nil || !bytes.Equal(again[1:], got) || again[0] != 7 {
		t.Fatalf("%s: built twice: got %x, %v, want %x behind a 7", k.Name, again, err, got)
	}
}
