// SPDX-License-Identifier: Apache-2.0

// Package printable escapes texts that peers, files and other programs chose, so that they can
// be printed: none of them moves a cursor, begins a line or turns the direction of writing. It
// imports nothing of the project.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns s as it can be shown on a terminal or in a log.
//
// What [unicode.IsPrint] accepts stays as it is. All else is escaped: control characters (C0,
// DEL, C1), marks that turn the direction of writing, other invisible characters and
// separators of lines as \n, \r, \t or \u and four hexadecimal digits, as JSON writes them (two
// such where a character is beyond U+FFFF), and bytes that are not UTF-8 as \x and two digits.
// A backslash is not escaped: Text(Text(s)) == Text(s).
func Text[T string | []byte](s T) string {
	text := string(s)
	for i, r := range text {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return string(Append(append(make([]byte, 0, len(text)+16), text[:i]...), text[i:], ""))
		}
	}
	return text
}

// Prefix is [Text] of at most most bytes of s, cut before a character.
func Prefix(s string, most int) string {
	if len(s) > most {
		for most > 0 && !utf8.RuneStart(s[most]) {
			most--
		}
		s = s[:most]
	}
	return Text(s)
}

// Append appends to b what [Text] makes of s, but for the characters in keep,
// which stay. It is for texts whose structure is the caller's own, as its newlines.
func Append(b []byte, s, keep string) []byte {
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
