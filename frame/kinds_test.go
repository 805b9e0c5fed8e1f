// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
)

// A kind is one of the messages the package reads, with what its tests need.
type kind struct {
	name string
	// rebuild parses m as this kind and builds it again behind b.
	rebuild func(m frame.Message, b []byte) ([]byte, error)
	// words says which bits of each header word the kind reads; the others are
	// reserved, and Append writes them as zero.
	words func(m frame.Message) [15]uint32
	// data is the number of bytes behind the header that the kind reads.
	data func(m frame.Message) int
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

var kinds = []kind{
	{
		name: "payload",
		rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			p, err := frame.ParsePayload(m)
			if err != nil {
				return nil, err
			}
			f := p.Fields()
			return f.Append(b, p.Data()), nil
		},
		words: constant([15]uint32{all, 0xfff8ffff, all, all, all, all, all, all, all, all, all}),
		data:  allData,
	},
	{
		name: "state",
		rebuild: func(m frame.Message, b []byte) ([]byte, error) {
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
		words: constant([15]uint32{0xfff9ffff, all, all, all, all, 0xffff7fff, all, all, 0x3ff, 0xffff}),
		data:  allData,
	},
	{
		name: "reset",
		rebuild: func(m frame.Message, b []byte) ([]byte, error) {
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
		words: func(m frame.Message) [15]uint32 {
			w := [15]uint32{plainWord0, plainWord1, all, all, all, 0xffff7ffe, all, all, 0, all}
			if m.RawType() == 2 { // ACTIVATE: the session it answers is valid
				w[1] |= 1 << 16
			}
			return w
		},
		data: func(frame.Message) int { return frame.IfNameLen },
	},
	{
		name: "discovery",
		rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			d, err := frame.ParseDiscovery(m)
			if err != nil {
				return nil, err
			}
			f := d.Fields()
			return f.Append(b), nil
		},
		words: constant([15]uint32{plainWord0, 0xefffffff, all, all, all, all, all, 0xffff0000, 0, 0, 0, 0, 0, all, all}),
		data:  identityData,
	},
	{
		name: "names",
		rebuild: func(m frame.Message, b []byte) ([]byte, error) {
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
		words: func(m frame.Message) [15]uint32 {
			return [15]uint32{plainWord0, 0xfc00ffff, all, all, 0xffff, ifBroadcast(m, 1<<14), all, all}
		},
		data: func(m frame.Message) int { return len(m.Data()) / 20 * 20 },
	},
	{
		name: "bcast init",
		rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			i, err := frame.ParseBcastInit(m)
			if err != nil {
				return nil, err
			}
			f := i.Fields()
			return f.Append(b), nil
		},
		words: constant([15]uint32{plainWord0, plainWord1, all, all, 0xffff0000, 1 << 14, all, all}),
		data:  noData,
	},
	{
		name: "conn",
		rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			c, err := frame.ParseConn(m)
			if err != nil {
				return nil, err
			}
			f := c.Fields()
			return f.Append(b), nil
		},
		words: constant([15]uint32{plainWord0 | 1<<18, 0xfe00ffff, all, all, all, all, all, all, 0, all}),
		data:  noData,
	},
	{
		name: "fragment",
		rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			x, err := frame.ParseFragment(m)
			if err != nil {
				return nil, err
			}
			f := x.Fields()
			return f.Append(b, x.Data()), nil
		},
		words: func(m frame.Message) [15]uint32 {
			return [15]uint32{plainWord0, plainWord1, all, all, 0xffff0000, ifBroadcast(m, 0), all, all, 0, 7}
		},
		data: allData,
	},
	{
		name: "bundle",
		rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			u, err := frame.ParseBundle(m)
			if err != nil {
				return nil, err
			}
			f := u.Fields()
			return f.Append(b, u.Data()), nil
		},
		words: func(m frame.Message) [15]uint32 { // the type is 0, and ignored
			return [15]uint32{plainWord0, 0xffff, all, all, 0, ifBroadcast(m, 0), all, all, 0, 0xffff0007}
		},
		data: allData,
	},
	{
		name: "group",
		rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			g, err := frame.ParseGroup(m)
			if err != nil {
				return nil, err
			}
			f := g.Fields()
			return f.Append(b), nil
		},
		words: constant([15]uint32{plainWord0 | 1<<19, plainWord1, all, all, all, all, all, all, 0, all}),
		data:  noData,
	},
	{
		name: "tunnel",
		rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			x, err := frame.ParseTunnel(m)
			if err != nil {
				return nil, err
			}
			f := x.Fields()
			return f.Append(b, x.Data()), nil
		},
		words: constant([15]uint32{plainWord0, plainWord1, all, all, all, 7 << 9, all, all, 0, 0xffff0000}),
		data:  allData,
	},
	{
		name: "key",
		rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			k, err := frame.ParseKey(m)
			if err != nil {
				return nil, err
			}
			f := k.Fields()
			return f.Append(b, k.Key()), nil
		},
		words: func(m frame.Message) [15]uint32 {
			return [15]uint32{plainWord0, plainWord1, all, all, 0xffff000f, ifBroadcast(m, 0), all, all}
		},
		data: allData,
	},
	{
		name: "bcast nack",
		rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			n, err := frame.ParseBcastNack(m)
			if err != nil {
				return nil, err
			}
			f := n.Fields()
			return f.Append(b), nil
		},
		words: constant([15]uint32{plainWord0, plainWord1, all, all, 0xffff0000, all, all, all}),
		data:  noData,
	},
	{
		name: "UDP discovery",
		rebuild: func(m frame.Message, b []byte) ([]byte, error) {
			d, err := parseUDPDiscovery(m)
			if err != nil {
				return nil, err
			}
			f := d.Fields()
			return f.Append(b), nil
		},
		words: func(m frame.Message) [15]uint32 {
			w := [15]uint32{plainWord0, 0xefffffff, all, all, all, all, all, all, 0, 0, 0, 0, 0, all, all}
			if binary.BigEndian.Uint16(m.Bytes()[24:]) == 0x86dd {
				w[8], w[9], w[10] = all, all, all
			}
			return w
		},
		data: identityData,
	},
}

func parseUDPDiscovery(m frame.Message) (frame.Discovery, error) {
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

// kindOf finds m's kind; ok is false when no parser takes it.
func kindOf(m frame.Message) (k kind, ok bool) {
	for _, k := range kinds {
		if _, err := k.rebuild(m, nil); err == nil {
			return k, true
		}
	}
	return kind{}, false
}

// masked returns what is left of m when all that its kind does not read is zero
// and cut off.
func (k kind) masked(m frame.Message) []byte {
	b := bytes.Clone(m.Bytes()[:m.HeaderLen()+k.data(m)])
	words := k.words(m)
	for i := range m.HeaderLen() / 4 {
		w := b[4*i:]
		binary.BigEndian.PutUint32(w, binary.BigEndian.Uint32(w)&words[i])
	}
	w0 := binary.BigEndian.Uint32(b)&^0x1ffff | uint32(len(b))
	binary.BigEndian.PutUint32(b, w0)
	return b
}

// check holds m, which k's parser takes, to the law: built again it is the same
// but for what the kind does not read, and building that again changes nothing.
func (k kind) check(t *testing.T, m frame.Message) {
	t.Helper()
	got, err := k.rebuild(m, nil)
	if err != nil {
		t.Fatalf("%s: got %v, want nil", k.name, err)
	}
	if want := k.masked(m); !bytes.Equal(got, want) {
		t.Fatalf("%s %v: got %x, want %x", k.name, m, got, want)
	}
	m2, err := frame.Parse(got)
	if err != nil {
		t.Fatalf("%s: built %x: got %v, want nil", k.name, got, err)
	}
	again, err := k.rebuild(m2, []byte{7})
	if err != nil || !bytes.Equal(again[1:], got) || again[0] != 7 {
		t.Fatalf("%s: built twice: got %x, %v, want %x behind a 7", k.name, again, err, got)
	}
}

const captureDir = "../test/testdata/captures"

// readCapture returns the frames of the capture whose file name begins so.
func readCapture(t testing.TB, number string) []layers.Frame {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(captureDir, number+"-*.pcap"))
	if len(names) != 1 {
		t.Fatalf("capture %s: got %d files, want 1", number, len(names))
	}
	frames, err := layers.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	return frames
}

// message returns the TIPC message of frame n, counted from 1, of a capture.
func message(t testing.TB, number string, n int) []byte {
	t.Helper()
	_, b, err := layers.Unwrap(readCapture(t, number)[n-1].Data)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// opened returns what is in encrypted frame n of a capture.
func opened(t testing.TB, number string, n int) []byte {
	t.Helper()
	e, err := frame.ParseEncrypted(message(t, number, n))
	if err != nil {
		t.Fatal(err)
	}
	return newOpener(t).open(e)
}

// samples has a message of each kind, from the captures where they have one, and
// in the order of kinds.
func samples(t testing.TB) [][]byte {
	t.Helper()
	ack := frame.ConnFields{
		Common: frame.Common{Seq: 41, Ack: 40, BcastAck: 3, Prev: 0x22222222}, Type: frame.ConnAck,
		OrigPort: 0x50000002, DestPort: 0xc0000001, Orig: 0x22222222, Dest: 0x11111111, Acked: 33, Window: 512,
	}
	return [][]byte{
		message(t, "06", 25),
		message(t, "01", 12),
		message(t, "01", 8),
		message(t, "01", 1),
		message(t, "05", 18),
		message(t, "01", 13),
		ack.Append(nil),
		message(t, "06", 37),
		message(t, "13", 77),
		message(t, "22", 58),
		message(t, "18", 346),
		opened(t, "25", 61),
		unhex(t, "4b500028 00000001 00010002 01001002 00000000 00001267 01001002 01001001 00000000 00000000"), // 04 §7
		message(t, "26", 1),
	}
}
