// SPDX-License-Identifier: Apache-2.0

package dissect_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
	"github.com/utipc/utipc/frame/dissect"
	"github.com/utipc/utipc/frame/internal/samples"
	"github.com/utipc/utipc/frame/layers"
)

// trees are the messages of the golden file: one of each kind, and what else has
// something inside.
func trees(t testing.TB) (all [][]byte) {
	all = samples.OfEachKind(t)
	domain := samples.Unhex(t, "4f400040 00010000 000e0004 01001002 00010003 1b4b1000 01001002 01001001 00000000 00000000") // 02 §11 with 03 §8.2
	domain = append(domain, samples.Unhex(t, "000c0200 001b0001 00230000 0014 0001 0000 0001 0000000000000001 01001002")...)
	domain[3] = byte(len(domain))
	return append(all, domain, samples.Message(t, "15", 85), samples.Message(t, "18", 549), samples.Message(t, "22", 96), samples.Message(t, "24", 1), samples.Message(t, "24", 30),
		samples.Message(t, "01", 11), []byte{0x5e, 0x40}, samples.Head(samples.Word0(2, 15, 40, 41), 43), samples.Head(samples.Word0(3, 0, 24, 24), 24))
}

// Proves: tools.decode
func TestTreeGolden(t *testing.T) {
	var got strings.Builder
	for _, b := range trees(t) {
		fmt.Fprintln(&got, dissect.Tree(b))
	}
	samples.Golden(t, "tree.golden", got.String())
}

// walk calls f for each field.
func walk(fields []dissect.Field, f func(dissect.Field)) {
	for _, x := range fields {
		f(x)
		walk(x.Fields, f)
	}
}

// TestCaptures takes all frames apart: none has anything that is not told.
//
// Proves: tools.decode
func TestCaptures(t *testing.T) {
	for _, c := range samples.Captures {
		keys := samples.NewOpener(t)
		for i, x := range samples.Read(t, c.Number) {
			_, b, err := layers.Unwrap(x.Data)
			if err != nil {
				continue
			}
			if e, err := frame.ParseEncrypted(b); err == nil {
				b = keys.Open(e)
			}
			f, err := dissect.Message(b)
			if err != nil {
				t.Errorf("capture %s frame %d: got %v, want nil", c.Number, i+1, err)
			}
			checkFields(t, f, len(b))
			walk(f.Fields, func(f dissect.Field) {
				if f.Name == "error" || f.Name == "padding" || strings.HasPrefix(f.Name, "reserved") {
					t.Errorf("capture %s frame %d: got %s %v", c.Number, i+1, f.Name, f.Value)
				}
			})
		}
	}
}

// checkFields holds fields to what they promise: places within n bytes, in order
// of the wire, names but for groups of a list, values of three types.
func checkFields(t *testing.T, f dissect.Field, n int) {
	t.Helper()
	walk([]dissect.Field{f}, func(f dissect.Field) {
		if f.Offset < 0 || f.Offset+f.Len > n {
			t.Errorf("%s: got %d bytes at %d, want them within %d", f.Name, f.Len, f.Offset, n)
		}
		switch f.Value.(type) {
		case nil, bool, uint64, string:
		default:
			t.Errorf("%s: got a %T", f.Name, f.Value)
		}
		seen := map[string]bool{}
		for _, x := range f.Fields {
			if (x.Name == "") != f.List || !f.List && seen[x.Name] {
				t.Errorf("%s: got %q in it, want a new name, none in a list", f.Name, x.Name)
			}
			seen[x.Name] = true
		}
	})
}

// TestReservedShows sets each bit that a kind does not read: it must show.
//
// Proves: tools.decode
func TestReservedShows(t *testing.T) {
	for i, b := range samples.OfEachKind(t) {
		m, _ := frame.Parse(b)
		words := samples.Kinds[i].Words(m)
		for bit := range m.HeaderLen() * 8 {
			if words[bit/32]>>(31-bit%32)&1 != 0 {
				continue
			}
			c := bytes.Clone(b)
			c[bit/8] |= 0x80 >> (bit % 8)
			if samples.Kinds[i].Name == "bundle" && bit/32 == 1 && bit%32 < 3 {
				continue // the type, which is 0
			}
			f, err := dissect.Message(c)
			shows := false
			walk(f.Fields, func(f dissect.Field) { shows = shows || f.Name == fmt.Sprintf("reserved_w%d", bit/32) })
			if err == nil && !shows {
				t.Errorf("%s word %d bit %d: not shown", samples.Kinds[i].Name, bit/32, 31-bit%32)
			}
		}
	}
}

// Proves: tools.decode
func TestKeyIsHidden(t *testing.T) {
	b := samples.Opened(t, "25", 61)
	m, _ := frame.Parse(b)
	k, err := frame.ParseKey(m)
	if err != nil {
		t.Fatal(err)
	}
	line, _ := describe.Message(b)
	f, _ := dissect.Message(b)
	if s := fmt.Sprintf("%s %s %+v", line, dissect.Tree(b), f); strings.Contains(s, fmt.Sprintf("%x", k.Key()[:4])) {
		t.Errorf("got the key in %s", s)
	}
	// Nor may it stand in a message that is not quite one.
	b[75]++
	if s := dissect.Tree(b); strings.Contains(s, fmt.Sprintf("%x", k.Key()[:4])) {
		t.Errorf("damaged: got the key in %s", s)
	}
	f.Fields = nil
	binary.BigEndian.PutUint32(b, binary.BigEndian.Uint32(b)+4)
	if s := dissect.Tree(b); strings.Contains(s, fmt.Sprintf("%x", k.Key()[:4])) {
		t.Errorf("cut short: got the key in %s", s)
	}
}

// Proves: wire.hostile
func FuzzTree(f *testing.F) {
	for _, b := range append(samples.Few(f), samples.OfEachKind(f)...) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := dissect.Message(b)
		if _, want := describe.Message(b); err != want {
			t.Errorf("got %v, want %v", err, want)
		}
		checkFields(t, x, len(b))
		s := dissect.Tree(b)
		if !strings.HasSuffix(s, "\n") || strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && r != '…' && (r < ' ' || r > '~') }) {
			t.Errorf("got %q, want lines of printable characters", s)
		}
	})
}
