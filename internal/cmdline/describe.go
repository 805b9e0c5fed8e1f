// SPDX-License-Identifier: Apache-2.0

package cmdline

import (
	"context"
	"errors"
	"flag"
	"io"
	"regexp"
	"slices"
	"strings"
)

// A description is all that is known of a command: what completion offers and the manual
// says. Its texts are those of -h, its flags those of the command's own FlagSets, and its
// words are Command.Words.
type description struct {
	*Command
	flags []flagText // by name; of its words' too
	ways  [][]string // what may stand behind the name, alternatives and options written out
}

// A flagText is a flag, and what -h says of it.
type flagText struct {
	name  string // with one dash or two, as it is written
	bare  bool   // it takes no value
	value string // what -h calls its value
	text  string // what -h says of it
}

// describe asks every command for its flags.
func (p *Program) describe() (all []description) {
	for _, c := range p.Commands {
		d := description{Command: c, ways: spell(c.Words)}
		told := usageFlags(c.Usage)
		asked := [][]string{{"-h"}}
		for _, w := range d.ways {
			if way := []string{w[0], "-h"}; !slices.ContainsFunc(asked, func(a []string) bool { return a[0] == w[0] }) {
				asked = append(asked, way)
			}
		}
		seen := map[string]bool{}
		for _, args := range asked {
			var h HelpError
			if !errors.As(c.Run(context.Background(), args, Stdio{nil, io.Discard, io.Discard}), &h) {
				continue // it has none, or they are not of this machine
			}
			for name, t := range usageFlags(h.Usage) {
				if _, ok := told[name]; !ok {
					told[name] = t
				}
			}
			h.Flags.VisitAll(func(f *flag.Flag) {
				if seen[f.Name] {
					return
				}
				seen[f.Name] = true
				t := flagText{name: "--" + f.Name, bare: IsBool(f)}
				if len(f.Name) == 1 {
					t.name = "-" + f.Name
				}
				if u, ok := told[f.Name]; ok {
					t.value, t.text = u.value, u.text
				}
				d.flags = append(d.flags, t)
			})
		}
		slices.SortFunc(d.flags, func(a, b flagText) int { return strings.Compare(a.name, b.name) })
		all = append(all, d)
	}
	return all
}

var (
	flagHead = regexp.MustCompile(`^ {0,4}(-[a-zA-Z-].*?)(?: {2,}(.*))?$`)
	flagName = regexp.MustCompile(`(?:^|, )--?([a-zA-Z][a-zA-Z0-9-]*)(?:[ =]([A-Z][^,]*))?`)
)

// usageFlags are the flags that a usage text tells of, by name: lines that begin with a
// flag, its value and two spaces or more, and the lines below that are indented further.
func usageFlags(usage string) map[string]flagText {
	told := map[string]flagText{}
	var open []string // flags that the lines below belong to
	for line := range strings.Lines(usage) {
		line = strings.TrimRight(line, "\n")
		if m := flagHead.FindStringSubmatch(line); m != nil {
			open = open[:0]
			for _, f := range flagName.FindAllStringSubmatch(m[1], -1) {
				told[f[1]] = flagText{name: f[1], value: strings.TrimSpace(f[2]), text: m[2]}
				open = append(open, f[1])
			}
			continue
		}
		if len(open) > 0 && strings.HasPrefix(line, "         ") {
			for _, name := range open {
				t := told[name]
				t.text = strings.TrimSpace(t.text + " " + strings.TrimSpace(line))
				told[name] = t
			}
			continue
		}
		open = open[:0]
	}
	return told
}

// spell writes out lines of words: alternatives (a|b, {a b|c}) and options ([c]) become
// ways of their own.
func spell(lines []string) (ways [][]string) {
	for _, l := range lines {
		rest := tokens(l)
		found, _ := spellOut(rest)
		for _, w := range found {
			if len(w) > 0 {
				ways = append(ways, w)
			}
		}
	}
	return ways
}

// tokens are words, bars and brackets.
func tokens(line string) []string {
	for _, c := range []string{"|", "[", "]", "{", "}"} {
		line = strings.ReplaceAll(line, c, " "+c+" ")
	}
	return strings.Fields(line)
}

// spellOut reads alternatives up to a closing bracket and returns what is behind it. A bar
// outside of brackets parts single words.
func spellOut(in []string) (ways [][]string, rest []string) {
	seq := [][]string{{}}
	join := func(next [][]string) {
		var out [][]string
		for _, a := range seq {
			for _, b := range next {
				out = append(out, append(slices.Clone(a), b...))
			}
		}
		seq = out
	}
	for len(in) > 0 {
		t := in[0]
		in = in[1:]
		switch t {
		case "]", "}":
			return append(ways, seq...), in
		case "|":
			ways, seq = append(ways, seq...), [][]string{{}}
		case "[":
			var inner [][]string
			inner, in = spellOut(in)
			join(append(inner, []string{}))
		case "{":
			var inner [][]string
			inner, in = spellOut(in)
			join(inner)
		default:
			word := [][]string{{strings.TrimSuffix(t, "...")}}
			for len(in) > 1 && in[0] == "|" && !slices.Contains([]string{"[", "{"}, in[1]) && !bracketed(in) {
				word = append(word, []string{strings.TrimSuffix(in[1], "...")})
				in = in[2:]
			}
			join(word)
		}
	}
	return append(ways, seq...), nil
}

// bracketed reports whether the bar that in begins with is one between the ways of a
// bracket, rather than between words: the bracket closes before another opens.
func bracketed(in []string) bool {
	for _, t := range in {
		switch t {
		case "[", "{":
			return false
		case "]", "}":
			return true
		}
	}
	return false
}

// placeholder reports whether a word stands for others.
func placeholder(word string) bool {
	switch word {
	case "BROADCAST", "REPLICAST", "AUTOSELECT":
		return false
	}
	return word == strings.ToUpper(word)
}
