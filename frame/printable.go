// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Printable returns s as it can be shown on a terminal or in a log. Texts of peers, files
// and other programs go through it before they are printed.
//
// What [unicode.IsPrint] accepts stays as it is. All else is escaped: control characters (C0,
// DEL, C1), marks that turn the direction of writing, other invisible characters and
// separators of lines as \n, \r, \t or \u and four hexadecimal digits, as JSON writes them (two
// such where a character is beyond U+FFFF), and bytes that are not UTF-8 as \x and two digits.
// A backslash is not escaped: Printable(Printable(s)) == Printable(s).
func Printable[T string | []byte](s T) string {
	text := string(s)
	for i, r := range text {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return string(appendPrintable(append(make([]byte, 0, len(text)+16), text[:i]...), text[i:], ""))
		}
	}
	return text
}

// PrintablePrefix is [Printable] of at most most bytes of s, cut before a character.
func PrintablePrefix(s string, most int) string {
	if len(s) > most {
		for most > 0 && !utf8.RuneStart(s[most]) {
			most--
		}
		s = s[:most]
	}
	return Printable(s)
}

// AppendPrintable appends to b what [Printable] makes of s, but for the characters in keep,
// which stay. It is for texts whose structure is the caller's own, as its newlines.
func AppendPrintable(b []byte, s, keep string) []byte { return appendPrintable(b, s, keep) }

func appendPrintable(b []byte, s, keep string) []byte {
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			b = fmt.Appendf(b, `\x%02x`, s[0])
		case unicode.IsPrint(r) || strings.ContainsRune(keep, r):
			b = append(b, s[:size]...)
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
		s = s[size:]
	}
	return b
}
