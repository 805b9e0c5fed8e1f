// SPDX-License-Identifier: Apache-2.0

package cmdline

import (
	"slices"
	"strings"
)

// A description is what completion offers of a command.
type description struct {
	*Command
	flags []item     // by name; of its own commands' too
	ways  [][]string // what can follow the name, alternatives and options written out
}

// describe asks every command for its flags.
func (p *Program) describe() (all []description) {
	for _, c := range p.Commands {
		d := description{Command: c, ways: spell(c.Words)}
		seen := map[string]bool{}
		for _, x := range append([]*Command{c}, Listed(c.Commands)...) {
			if x != c {
				d.ways = append(d.ways, []string{x.Name})
			}
			for _, i := range x.flags().items {
				if i.flag != nil && !seen[i.names[0]] {
					seen[i.names[0]] = true
					d.flags = append(d.flags, i)
				}
			}
		}
		slices.SortFunc(d.flags, func(a, b item) int { return strings.Compare(a.names[0], b.names[0]) })
		all = append(all, d)
	}
	return all
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
