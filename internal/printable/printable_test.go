// SPDX-License-Identifier: Apache-2.0

package printable_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/utipc/utipc/internal/printable"
)

// Mutations it catches: Text that looks for C0 and DEL alone; a byte that is no UTF-8
// shown as it is, or as U+FFFD; one \u for a character beyond U+FFFF.
func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":                               "",
		"größe 10 µs, 日本, 😀":             "größe 10 µs, 日本, 😀",
		"a\x1b]0;x\x07\r\n\tb\x00":       `a\u001b]0;x\u0007\r\n\tb\u0000`,
		"\x7f\u0080\u009b2J\u009f":       `\u007f\u0080\u009b2J\u009f`,
		"\u200e\u200f\u202a\u202b\u202c": `\u200e\u200f\u202a\u202b\u202c`,
		"\u202d\u202e\u2066\u2067\u2068": `\u202d\u202e\u2066\u2067\u2068`,
		"\u2069\u061c\u2028\ufeff\u200b": `\u2069\u061c\u2028\ufeff\u200b`,
		"\xff\x9b\xe2\x80":               `\xff\x9b\xe2\x80`,
		"\ufffd":                         "\ufffd",
		"\U000e0001":                     `\udb40\udc01`,
		`\u001b`:                         `\u001b`,
	} {
		if got := printable.Text(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
		if got := printable.Text([]byte(in)); got != want {
			t.Errorf("%q as bytes: got %s, want %s", in, got, want)
		}
	}
	for most, want := range []string{"", "a", "a", "aé", `aé\n`, `aé\n`} {
		if got := printable.Prefix("aé\n", most); got != want {
			t.Errorf("Prefix to %d bytes: got %q, want %q", most, got, want)
		}
	}
	if got := string(printable.Append([]byte("x"), "a\n\tb\x1b", "\n\t")); got != "xa\n\tb\\u001b" {
		t.Errorf("Append: got %q", got)
	}
}

// Whatever the bytes, what is shown is valid UTF-8 that can be printed, shown again it is the
// same, and what could be printed is as it was. In JSON the escapes keep the meaning.
func FuzzText(f *testing.F) {
	for _, s := range []string{"eth0", "\x1b[2J\u009b\xff\u202e", "\U000e0001\xe2\x80", "é\\\"\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := printable.Text(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q: got %q", s, got)
		}
		if again := printable.Text(got); again != got {
			t.Errorf("%q: got %q, and then %q", s, got, again)
		}
		if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) && got != s {
			t.Errorf("%q: got %q, want no change", s, got)
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back, want string
		if err := json.Unmarshal(printable.Append(nil, string(b), "\n\t"), &back); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if json.Unmarshal(b, &want); back != want {
			t.Errorf("%q: JSON got %q, want %q", s, back, want)
		}
	})
}
