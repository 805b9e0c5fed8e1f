// SPDX-License-Identifier: Apache-2.0

package describe_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
	"github.com/utipc/utipc/frame/internal/samples"
	"github.com/utipc/utipc/frame/layers"
)

// TestCaptures prints every frame the kernel sent, and what is in encrypted ones.
//
// Proves: wire.bytes
func TestCaptures(t *testing.T) {
	for _, c := range samples.Captures {
		keys := samples.NewOpener(t)
		for i, f := range samples.Read(t, c.Number) {
			_, b, err := layers.Unwrap(f.Data)
			if err != nil {
				continue // ARP and its kin
			}
			if e, err := frame.ParseEncrypted(b); err == nil {
				if line, err := describe.Message(b); err != frame.ErrEncrypted || strings.Contains(line, "frame:") {
					t.Errorf("capture %s frame %d: got %q, %v, want a line and %v", c.Number, i+1, line, err, frame.ErrEncrypted)
				}
				b = keys.Open(e)
			}
			line, err := describe.Message(b)
			if err != nil || strings.Contains(line, "frame:") {
				t.Errorf("capture %s frame %d: got %q, %v, want a line without an error", c.Number, i+1, line, err)
			}
		}
	}
}

// Proves: wire.bytes
func TestGolden(t *testing.T) {
	var got strings.Builder
	for _, f := range samples.Read(t, "01") {
		line, _ := describe.Message(f.Data[frame.EthernetLen:])
		fmt.Fprintln(&got, line)
	}
	samples.Golden(t, "01-discovery-linkup.golden", got.String())
}

func TestSaysWhy(t *testing.T) {
	local := samples.Head(samples.Word0(2, 15, 40, 40), 40)
	local[15] = 5
	for _, c := range []struct {
		name string
		b    []byte
		line string
		want error
	}{
		{"nothing", nil, "frame: truncated (0 bytes)", frame.ErrTruncated},
		{"encrypted", samples.Head(samples.Word0(7, 0, 24, 24), 40), "0>* encrypted/message tx=3 rx=0 seq=0 bytes=24", frame.ErrEncrypted},
		{"nothing sealed", samples.Head(samples.Word0(7, 0, 24, 24), 32), "encrypted: frame: truncated (32 bytes)", frame.ErrTruncated},
		{"a user of the node's own", local, "5>* user=topsrv type=0: frame: unknown user or type", frame.ErrUnknown},
		{"broadcast", samples.Message(t, "14", 96), "1001001>* data-low/mcast 1041772422>* name=7777:0-10 droppable bytes=200 bcast-seq=2", nil},
		{"activate", samples.Message(t, "01", 11), "1001002>1001001 link/activate if=eth0 max=1500 dest-session=50968 session=24800 bcast-invalid seq=32768 ack=0", nil},
	} {
		line, err := describe.Message(c.b)
		if !errors.Is(err, c.want) || !bytes.HasPrefix([]byte(line), []byte(c.line)) {
			t.Errorf("%s: got %q, %v, want %q, %v", c.name, line, err, c.line, c.want)
		}
	}
}

func TestNestedBundle(t *testing.T) {
	inner := frame.BundleFields{}
	f := frame.BundleFields{Count: 2}
	conn := frame.PayloadFields{}
	b := f.Append(nil, conn.Append(inner.Append(nil, nil), nil))
	line, err := describe.Message(b)
	want := "bundle of 2 [ " + frame.ErrMalformed.Error() + "; data-low/conn"
	if err != nil || !strings.Contains(line, want) {
		t.Errorf("got %q, %v, want %q in it", line, err, want)
	}
}

// Proves: wire.hostile
func FuzzMessage(f *testing.F) {
	for _, b := range append(samples.Few(f), samples.OfEachKind(f)...) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		line, err := describe.Message(b)
		if line == "" || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("got %q, want one line of printable characters", line)
		}
		m, perr := frame.Parse(b)
		if perr == frame.ErrEncrypted {
			if _, perr = frame.ParseEncrypted(b); perr == nil {
				perr = frame.ErrEncrypted
			}
		}
		if perr != nil {
			if err != perr {
				t.Errorf("got %v, want %v", err, perr)
			}
			return
		}
		if _, ok := samples.KindOf(m); ok != (err == nil) {
			t.Errorf("%q: got %v, want an error: %v", line, err, !ok)
		}
	})
}
