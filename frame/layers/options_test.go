// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame/layers"
	"github.com/utipc/utipc/stack/carrier/tap"
)

// TestCommentsAndDirections reads what a tap wrote beside the frames.
//
// Proves: tools.decode
func TestCommentsAndDirections(t *testing.T) {
	long := strings.Repeat("x", 5000)
	want := []struct {
		dir     tap.Direction
		comment string
		size    int
	}{{tap.Out, "refused: no buffer", 61}, {tap.In, "", 60}, {tap.Unknown, "dropped: of a stranger", 1514}, {tap.In, long, 62}, {tap.Out, "last", 63}}
	var b bytes.Buffer
	w := tap.NewWriter(&b, "eth0", 1500)
	for _, x := range want {
		if err := w.WriteFrame(time.Unix(1, 0), x.dir, make([]byte, x.size), x.comment); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := readAll(b.Bytes())
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %d frames, %v, want %d, nil", len(got), err, len(want))
	}
	for i, x := range want {
		if x.comment == long {
			x.comment = "" // more options than are kept
		}
		if got[i].Comment != x.comment || got[i].Direction.String() != x.dir.String() || len(got[i].Data) != x.size {
			t.Errorf("frame %d: got %q, %v, %d bytes, want %q, %v, %d", i+1, got[i].Comment, got[i].Direction, len(got[i].Data), x.comment, x.dir, x.size)
		}
	}
}

// FuzzOptions writes a block whose options are anything: the frame in it is read.
func FuzzOptions(f *testing.F) {
	f.Add([]byte("\x01\x00\x05\x00hello\x00\x00\x00\x02\x00\x04\x00\x01\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x01\x00\xff\xffhello"))
	f.Add([]byte("\x02\x00\x04\x00\x03\x00\x00\x00"))
	var head bytes.Buffer
	if err := tap.NewWriter(&head, "eth0", 1500).Close(); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, options []byte) {
		options = options[:len(options)&^3]
		if len(options) > 60000 {
			return
		}
		n := byte(32 + 4 + len(options))
		size := []byte{n, byte((36 + len(options)) >> 8), 0, 0}
		b := append(bytes.Clone(head.Bytes()), 6, 0, 0, 0)
		b = append(b, size...)
		b = append(b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'a', 'b', 'c', 0)
		b = append(append(b, options...), size...)
		got, err := readAll(b)
		if err != nil || len(got) != 1 || string(got[0].Data) != "abc" || got[0].Direction > layers.Outbound || len(got[0].Comment) > 8<<10 {
			t.Fatalf("got %v, %v", got, err)
		}
	})
}
