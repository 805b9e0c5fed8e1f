// SPDX-License-Identifier: Apache-2.0

package cmdline

import (
	"strings"
)

// flagsHere is the line of a usage in whose place the flags are described.
const flagsHere = "{flags}\n"

// helpWidth is where lines about flags end, and helpIndent where what is said of a flag
// begins.
const helpWidth, helpIndent = 88, 21

// Help is what -h prints of a command that has these flags.
func (c *Command) Help(f *Flags) string {
	before, after, ok := strings.Cut(c.Usage, flagsHere)
	if !ok {
		return c.Usage
	}
	return before + f.help() + after
}

// help describes the flags.
func (f *Flags) help() string {
	var b strings.Builder
	for i := range f.items {
		it := &f.items[i]
		if it.flag == nil {
			b.WriteString(it.text)
			continue
		}
		line := "    " + it.head()
		if len(line) > helpIndent-2 {
			b.WriteString(line + "\n")
			line = ""
		}
		line += strings.Repeat(" ", helpIndent-1-len(line))
		for _, word := range strings.Fields(it.about()) {
			if len([]rune(line))+1+len([]rune(word)) > helpWidth {
				b.WriteString(line + "\n")
				line = strings.Repeat(" ", helpIndent-1)
			}
			line += " " + word
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
