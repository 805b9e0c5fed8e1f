// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/internal/samples"
)

// bundle puts data into a bundle, followed by bytes that are not part of it.
func bundle(t testing.TB, data []byte) frame.Bundle {
	t.Helper()
	f := frame.BundleFields{Count: 9}
	b := f.Append(nil, data)
	m, err := frame.Parse(append(b, samples.Head(samples.Word0(2, 0, 24, 24), 24)...))
	if err != nil {
		t.Fatal(err)
	}
	u, err := frame.ParseBundle(m)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestBundle says for each content what Messages yields: lengths and errors.
func TestBundle(t *testing.T) {
	msg := func(size int) []byte { return samples.Head(samples.Word0(2, 0, 24, size), size) }
	claim := func(size, n int) []byte { return samples.Head(samples.Word0(2, 0, 24, size), n) }
	for _, c := range []struct {
		name  string
		parts [][]byte // each but the last is padded to 4 bytes
		want  string
	}{
		{"nothing", nil, ""},
		{"one", [][]byte{msg(24)}, "24"},
		{"padding of every length", [][]byte{msg(25), msg(26), msg(27), msg(28), msg(29)}, "25 26 27 28 29"},
		{"23 bytes behind", [][]byte{msg(24), make([]byte, 23)}, "24"},
		{"24 bytes of zero behind", [][]byte{msg(24), make([]byte, 24)}, "24 " + frame.ErrVersion.Error()},
		{"size 0", [][]byte{claim(0, 24), msg(24)}, frame.ErrMalformed.Error()},
		{"size 23", [][]byte{claim(23, 24), msg(24)}, frame.ErrMalformed.Error()},
		{"one more than there is", [][]byte{msg(24), claim(25, 24)}, "24 " + frame.ErrTruncated.Error()},
		{"bytes behind the bundle do not count", [][]byte{claim(48, 24)}, frame.ErrTruncated.Error()},
		{"largest size", [][]byte{claim(66024, 24)}, frame.ErrTruncated.Error()},
		{"encrypted", [][]byte{samples.Head(samples.Word0(7, 0, 24, 24), 24)}, frame.ErrEncrypted.Error()},
	} {
		var data []byte
		for i, p := range c.parts {
			if data = append(data, p...); i < len(c.parts)-1 {
				data = append(data, make([]byte, -len(p)&3)...)
			}
		}
		var got []string
		for m, err := range bundle(t, data).Messages() {
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			got = append(got, fmt.Sprint(len(m.Bytes())))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: got %q, want %q", c.name, s, c.want)
		}
	}
}

func TestBundleStopsWhenAsked(t *testing.T) {
	n := 0
	for range bundle(t, append(samples.Head(samples.Word0(2, 0, 24, 24), 24), samples.Head(samples.Word0(2, 0, 24, 24), 24)...)).Messages() {
		n++
		break
	}
	if n != 1 {
		t.Errorf("got %d messages, want 1", n)
	}
}

// checkInside holds Messages to its bounds: what it yields lies in the bundle's
// data, one message behind the other, and it ends.
func checkInside(t *testing.T, u frame.Bundle) {
	t.Helper()
	data := u.Data()
	at, n := 0, 0
	for m, err := range u.Messages() {
		if n++; n > len(data)/frame.ShortLen {
			t.Fatalf("got %d messages in %d bytes", n, len(data))
		}
		if err != nil {
			continue
		}
		size := len(m.Bytes())
		if at+size > len(data) || &m.Bytes()[0] != &data[at] || cap(m.Bytes()) != size {
			t.Fatalf("message %d of %d bytes: got another place than %d in %d bytes", n, size, at, len(data))
		}
		at += (size + 3) &^ 3
	}
}

// TestBundleOfMany is the worst a frame can do: the shortest messages, as many as
// a message can hold.
func TestBundleOfMany(t *testing.T) {
	data := make([]byte, frame.MaxPayload)
	for i := 0; i+frame.ShortLen <= len(data); i += frame.ShortLen {
		binary.BigEndian.PutUint32(data[i:], samples.Word0(2, 0, 24, 24))
	}
	u := bundle(t, data)
	checkInside(t, u)
	n := 0
	for _, err := range u.Messages() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 2750 {
		t.Errorf("got %d messages, want 2750", n)
	}
}

// A bundle that is built where its first message lies is what Append writes, and
// counts what comes in.
//
// Proves: link.bundles
func TestBundleBuiltInPlace(t *testing.T) {
	p := frame.PayloadFields{Importance: frame.High, Type: frame.DirectMsg}
	f := frame.BundleFields{
		Common: frame.Common{Prev: 1, Seq: 7, Ack: 8, BcastAck: 9, NonSeq: true},
		Count:  1, Importance: frame.High, NetID: 4711, Orig: 2, Dest: 3,
	}
	msg := p.Append(nil, []byte("data"))
	b := append(bytes.Repeat([]byte{0xee}, frame.IntLen), msg...)
	f.Put(b, len(msg))
	if want := f.Append(nil, msg); !bytes.Equal(b, want) {
		t.Errorf("\n got %x\nwant %x", b, want)
	}
	for n := range 900 {
		b = append(b, msg...)
		frame.CountIn(b)
		f.Count++
		if n > 3 && n < 896 {
			continue // around the first, and where the size needs its 16th bit
		}
		if want := f.Append(nil, b[frame.IntLen:]); !bytes.Equal(b[:frame.IntLen], want[:frame.IntLen]) {
			t.Fatalf("%d messages:\n got %x\nwant %x", n+2, b[:frame.IntLen], want[:frame.IntLen])
		}
	}
	for b = append(b, msg...); len(b) < 1<<16; b = append(b, msg...) {
		frame.CountIn(b)
	}
	if frame.CountIn(b); len(b) < 1<<16 || int(binary.BigEndian.Uint32(b)&0x1ffff) != len(b) || frame.UserOf(b) != frame.UserBundler {
		t.Errorf("%d bytes: got first word %x", len(b), b[:4])
	}
	for u := range frame.User(16) {
		if got := frame.UserOf(samples.Head(samples.Word0(2, int(u), 24, 24), 24)); got != u {
			t.Errorf("got %v, want %v", got, u)
		}
	}
}
