// SPDX-License-Identifier: Apache-2.0

package nearest

import "testing"

// Mutations it catches: a swap that counts two; a third of the letters without the limit; the
// last of two that are as near.
func TestWord(t *testing.T) {
	all := []string{"ping", "perf", "link", "node", "nametable", "netid"}
	for word, want := range map[string]string{
		"pnig": "ping", "pin": "ping", "pings": "ping", "lin": "link", "netdi": "netid",
		"nametabel": "nametable", "nmetabl": "nametable", "": "", "x": "", "demo": "", "pxxg": "", "pnk": "",
	} {
		if got := Word(word, all); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	if got := Word("lst", []string{"list", "last"}); got != "list" {
		t.Errorf("two as near: got %q", got)
	}
	if got, none := Hint("--cuont", []string{"--count"}), Hint("x", []string{"count"}); got != " (did you mean --count?)" || none != "" {
		t.Errorf("got %q and %q", got, none)
	}
}
