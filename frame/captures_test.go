// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestCaptures reads every frame the kernel sent, prints it, and builds it again
// byte for byte.
func TestCaptures(t *testing.T) {
	for _, c := range []struct {
		number string
		frames int
	}{
		{"01", 69}, {"02", 44}, {"03", 37}, {"04", 21}, {"05", 158}, {"06", 62}, {"07", 177},
		{"12", 280}, {"13", 281}, {"14", 262}, {"21", 78},
	} {
		frames := readCapture(t, c.number)
		if len(frames) != c.frames {
			t.Errorf("capture %s: got %d frames, want %d", c.number, len(frames), c.frames)
		}
		for i, f := range frames {
			h, b, err := frame.ParseEthernet(f.Data)
			if err != nil {
				t.Fatalf("capture %s frame %d: got %v, want nil", c.number, i+1, err)
			}
			whole := make([]byte, frame.EthernetLen)
			frame.PutEthernet(whole, h.Dst(), h.Src())
			whole, err = rebuild(b, whole)
			if err != nil || !bytes.Equal(whole, f.Data) {
				t.Errorf("capture %s frame %d: got %x, %v, want %x", c.number, i+1, whole, err, f.Data)
			}
			line, err := frame.Describe(b)
			if err != nil || strings.Contains(line, "frame:") {
				t.Errorf("capture %s frame %d: got %q, %v, want a line without an error", c.number, i+1, line, err)
			}
		}
	}
}

// rebuild builds the message b, and those inside it if it is a bundle, again
// behind to.
func rebuild(b, to []byte) ([]byte, error) {
	m, err := frame.Parse(b)
	if err != nil {
		return nil, err
	}
	u, err := frame.ParseBundle(m)
	if err != nil {
		k, ok := kindOf(m)
		if !ok {
			return nil, fmt.Errorf("no kind takes %v", m)
		}
		return k.rebuild(m, to)
	}
	var inside []byte
	n := 0
	for m, err := range u.Messages() {
		if err != nil {
			return nil, err
		}
		for len(inside)%4 != 0 { // the kernel leaves old memory there
			inside = append(inside, u.Data()[len(inside)])
		}
		if inside, err = rebuild(m.Bytes(), inside); err != nil {
			return nil, err
		}
		n++
	}
	if n != u.Count() {
		return nil, fmt.Errorf("got %d messages in a bundle, want %d", n, u.Count())
	}
	f := u.Fields()
	return f.Append(to, inside), nil
}

func TestDescribeGolden(t *testing.T) {
	var got strings.Builder
	for _, f := range readCapture(t, "01") {
		line, _ := frame.Describe(f.Data[frame.EthernetLen:])
		fmt.Fprintln(&got, line)
	}
	name := filepath.Join("testdata", "01-discovery-linkup.golden")
	if *update {
		if err := os.WriteFile(name, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	if len(g) != len(w) {
		t.Fatalf("got %d lines, want %d", len(g), len(w))
	}
	for i := range w {
		if g[i] != w[i] {
			t.Errorf("frame %d: got %q, want %q", i+1, g[i], w[i])
		}
	}
}
