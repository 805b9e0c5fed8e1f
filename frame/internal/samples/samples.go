// SPDX-License-Identifier: Apache-2.0

package samples

import (
	"encoding/binary"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

// Unhex reads hexadecimal digits with any white space among them.
func Unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Head returns n bytes that begin with word0 and are 0 else.
func Head(word0 uint32, n int) []byte {
	b := make([]byte, n)
	binary.BigEndian.PutUint32(b, word0)
	return b
}

// Word0 returns the first word of a message: lengths are in bytes.
func Word0(version, user, hlen, size int) uint32 {
	return uint32(version)<<29 | uint32(user)<<25 | uint32(hlen/4)<<21 | uint32(size)
}

// OfEachKind returns a message of each kind, from the captures where they have one, and in the
// order of Kinds.
func OfEachKind(t testing.TB) [][]byte {
	t.Helper()
	ack := frame.ConnFields{
		Common: frame.Common{Seq: 41, Ack: 40, BcastAck: 3, Prev: 0x22222222}, Type: frame.ConnAck,
		OrigPort: 0x50000002, DestPort: 0xc0000001, Orig: 0x22222222, Dest: 0x11111111, Acked: 33, Window: 512,
	}
	return [][]byte{
		Message(t, "06", 25),
		Message(t, "01", 12),
		Message(t, "01", 8),
		Message(t, "01", 1),
		Message(t, "05", 18),
		Message(t, "01", 13),
		ack.Append(nil),
		Message(t, "06", 37),
		Message(t, "13", 77),
		Message(t, "22", 58),
		Message(t, "18", 346),
		Opened(t, "25", 61),
		Unhex(t, "4b500028 00000001 00010002 01001002 00000000 00001267 01001002 01001001 00000000 00000000"), // 04 §7
		Message(t, "26", 1),
	}
}

// Bundle is the bundle of docs/spec/01-wire.md §6, in hexadecimal.
const Bundle = `4d40006b 00000009 003200c8 525500aa 00000000 00000000 525500aa 525500ab 00000000 00020000
	41000025 60000000 00000000 525500aa 11223344 55667788 525500aa 525500ab 68656c6c6f 000000
	42c0001b 00000000 00000000 525500aa a1a2a3a4 b1b2b3b4 616263`

var update = flag.Bool("update", false, "write the golden files anew")

// Golden compares got with a file of testdata, line by line, or writes it.
func Golden(t testing.TB, name, got string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	if len(g) != len(w) {
		t.Fatalf("%s: got %d lines, want %d", name, len(g), len(w))
	}
	for i := range w {
		if g[i] != w[i] {
			t.Errorf("%s line %d: got %q, want %q", name, i+1, g[i], w[i])
		}
	}
}
