// SPDX-License-Identifier: Apache-2.0

package play

import (
	"bytes"
	"testing"
)

// Content is the same in whatever pieces it is filled, and a byte that is changed, left
// out or of another content is found where it stands.
//
// Proves: socket.scripts
func TestContent(t *testing.T) {
	whole := make([]byte, 300)
	Fill(whole, 7, 0)
	for from := range 20 {
		for n := range 40 {
			b := make([]byte, n)
			Fill(b, 7, from)
			if !bytes.Equal(b, whole[from:from+n]) {
				t.Fatalf("%d bytes from %d: got %x, want %x", n, from, b, whole[from:from+n])
			}
			if at := Differ(b, 7, from); at != -1 {
				t.Fatalf("%d bytes from %d differ at %d", n, from, at)
			}
			for i := range b {
				b[i] ^= 1
				if at := Differ(b, 7, from); at != from+i {
					t.Fatalf("%d bytes from %d, changed at %d: differ at %d", n, from, from+i, at)
				}
				b[i] ^= 1
			}
		}
	}
	if Differ(whole, 8, 0) < 0 || Differ(whole[8:], 7, 0) < 0 || Differ(append(whole[:100:100], whole[108:]...), 7, 0) < 100 {
		t.Error("other content was not told apart")
	}
}

// A name may stand for many, and their answers are one where they are alike.
//
// Proves: socket.scripts
func TestMany(t *testing.T) {
	for word, want := range map[string]int{"C": 1, "C#3": 3, "C#1000+": 1000, "C#x": 0, "C#1": 0, "C#-2": 0} {
		names, atOnce, err := expand(word)
		if len(names) != want || (err == nil) != (want > 0) || atOnce != (word == "C#1000+") {
			t.Errorf("%s: got %d names, at once %v, %v", word, len(names), atOnce, err)
		}
	}
	if got, want := alike([]string{"ok", "ok", "reset"}), "2 times ok, then reset"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := alike([]string{"ok", "ok"}), "ok, 2 times"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
