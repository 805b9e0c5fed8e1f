// SPDX-License-Identifier: Apache-2.0

package tutorials

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A step is a command of a page, and what the page says that it prints.
type step struct {
	command string
	output  []string
}

var fence = regexp.MustCompile("(?ms)^```\n(.*?)^```$")

// steps returns the commands of a page: in its blocks, lines that begin with "$ ". What follows up to the
// next is output.
func steps(page string) (all []step) {
	for _, block := range fence.FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(block[1]) {
			line = strings.TrimRight(line, " \n")
			if command, is := strings.CutPrefix(line, "$ "); is {
				all = append(all, step{command: command})
			} else if len(all) > 0 {
				all[len(all)-1].output = append(all[len(all)-1].output, line)
			}
		}
	}
	return all
}

// mark is the line before the output of command i.
func mark(i int) string { return fmt.Sprintf("-- step %d --", i) }

// script is a program of bash that types the commands. What those in the background print is dropped,
// as a reader would see it anywhere; at the end they are killed.
func script(all []step) string {
	var b strings.Builder
	for i, s := range all {
		command := s.command
		if before, background := strings.CutSuffix(command, " &"); background {
			if !strings.Contains(before, ">") {
				before += " >/dev/null"
			}
			command = before + " 2>/dev/null &"
		}
		fmt.Fprintf(&b, "echo '%s'\n%s\n", mark(i), command)
	}
	b.WriteString("echo '" + mark(len(all)) + "'\nkill -9 $(jobs -p) 2>/dev/null\n")
	return b.String()
}

// varying is what is another in each run: times, ports, counts of dropped frames. Nodes, names and counts of
// messages are compared.
var varying = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`^\d\d:\d\d:\d\d\.\d+ `), "TIME "},
	{regexp.MustCompile(`[0-9.]+(µs|ms|s)\b`), "T"},
	{regexp.MustCompile(`<([0-9a-f]+):\d+>`), "<$1:PORT>"},
	{regexp.MustCompile(`encrypted=\d+`), "encrypted=N"},
	{regexp.MustCompile(`seq=\d+`), "seq=N"}, // which of several answers first
	{regexp.MustCompile(`attach to \S+/`), "attach to DIR/"},
	{regexp.MustCompile(` +`), " "},
}

// lasting returns the lines of an output without what varies, in an order of their own: who of
// several is heard first varies too. Warnings of the log, of a machine that stands still, are left out.
func lasting(lines []string) []string {
	var kept []string
	for _, l := range lines {
		if strings.HasPrefix(l, "time=") || strings.Contains(l, " Killed ") {
			continue
		}
		for _, v := range varying {
			l = v.what.ReplaceAllString(l, v.as)
		}
		kept = append(kept, strings.TrimRight(l, " "))
	}
	slices.Sort(kept)
	return kept
}

// compare returns what is wrong with the outputs of a script; empty: nothing.
func compare(all []step, printed string) (wrong []string) {
	for i, s := range all {
		_, rest, found := strings.Cut(printed, mark(i)+"\n")
		out, _, ended := strings.Cut(rest, mark(i+1)+"\n")
		if !found || !ended {
			return append(wrong, fmt.Sprintf("%q did not end", s.command))
		}
		var lines []string
		if out != "" {
			lines = strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		}
		if got, want := lasting(lines), lasting(s.output); !slices.Equal(got, want) {
			wrong = append(wrong, fmt.Sprintf("%q prints\n%s\nthe page has\n%s", s.command, out, strings.Join(s.output, "\n")))
		}
	}
	return wrong
}
