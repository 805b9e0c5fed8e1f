// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/printable"
)

// An ink marks text for people: with colours where a terminal shows them, else not at all.
type ink bool

// A style is how a text is marked, as the parameters of SGR (ECMA-48 §8.3.117). The colours are
// those of the terminal's own palette, so that they can be read on dark and on light.
type style string

const (
	unmarked style = ""
	bold     style = "1"
	dim      style = "2"
	reversed style = "7"
	bad      style = "31"
	good     style = "32"
	warning  style = "33"
)

// inkOf is the ink for what a command prints.
func inkOf(std cmdline.Stdio) ink { return inkFor(std.Raw(), os.Getenv) }

// inkFor is the ink for out. There are no colours where it is no terminal, where NO_COLOR is set and not empty
// (no-color.org), and on a terminal that knows none.
func inkFor(out io.Writer, getenv func(string) string) ink {
	f, ok := out.(*os.File)
	return ink(ok && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb" && isTerminal(f))
}

// mark returns text in a style. It does not escape what is in text.
func (k ink) mark(s style, text string) string {
	if !k || s == unmarked || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// line prints a line in a style. What would steer a terminal is escaped.
func (k ink) line(std cmdline.Stdio, s style, text string) error {
	_, err := io.WriteString(std.Raw(), k.mark(s, printable.Text(text))+"\n")
	return err
}

// cut is s in at most width characters.
func cut(s string, width int) string {
	if r := []rune(s); len(r) > width {
		return string(r[:max(0, width)])
	}
	return s
}
