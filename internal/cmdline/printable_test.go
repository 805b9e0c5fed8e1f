// SPDX-License-Identifier: Apache-2.0

package cmdline

import (
	"bytes"
	"testing"
)

// A character that comes in pieces is whole, and one that stays a piece is shown at the end.
//
// Mutation it catches: Write that looks at its own bytes alone.
func TestPrintableWriterPieces(t *testing.T) {
	var b bytes.Buffer
	p := &printableWriter{w: &b}
	for _, c := range []byte("é日😀\u009b\n\xe2\x80") {
		p.Write([]byte{c})
	}
	p.flush()
	if want := "é日😀\\u009b\n\\xe2\\x80"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
