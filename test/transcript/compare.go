// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Kind is a difference between two runs that is known.
type Kind struct {
	Name   string
	Reason string         // why it is there, and why it stays
	Line   *regexp.Regexp // matches a line of either run; what its groups match may differ, and nothing else
	Alone  bool           // a line may also stand in one run alone
}

// same reports whether two lines differ in this kind alone.
func (k Kind) same(a, b string) bool {
	if a == "" || b == "" {
		return k.Alone && k.Line.MatchString(a+b)
	}
	x, ok := k.rest(a)
	y, ok2 := k.rest(b)
	return ok && ok2 && x == y
}

// rest is a line without what may differ.
func (k Kind) rest(line string) (string, bool) {
	m := k.Line.FindStringSubmatchIndex(line)
	if m == nil {
		return "", false
	}
	var b strings.Builder
	from := 0
	for i := 2; i < len(m); i += 2 {
		if m[i] < from {
			continue // a group that matched nothing
		}
		b.WriteString(line[from:m[i]] + "…")
		from = m[i+1]
	}
	b.WriteString(line[from:])
	return b.String(), true
}

// A Difference is where a run differs. A side without a line has none there.
type Difference struct {
	Section  string
	Number   int // of the line in the recorded section, from 1; that after which lines are more
	Recorded string
	Got      string
	Kind     string // "" if it is of no known kind
}

func (d Difference) String() string {
	return fmt.Sprintf("%s, line %d:\n\t- %s\n\t+ %s", d.Section, d.Number, d.Recorded, d.Got)
}

// A Result says how a run compares with what is recorded.
type Result struct {
	Lines       int // that are recorded
	Equal       int // of these
	Differences []Difference
}

// Unknown returns the differences of no known kind.
func (r Result) Unknown() []Difference {
	return slices.DeleteFunc(slices.Clone(r.Differences), func(d Difference) bool { return d.Kind != "" })
}

// Kinds counts the differences of each known kind.
func (r Result) Kinds() map[string]int {
	n := map[string]int{}
	for _, d := range r.Differences {
		if d.Kind != "" {
			n[d.Kind]++
		}
	}
	return n
}

// sections cuts a transcript at its headings. The first section has no name: it is what comes
// before a heading.
func sections(text string) (names []string, lines map[string][]string) {
	lines = map[string][]string{}
	name := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if h, ok := strings.CutPrefix(line, "== "); ok {
			name = h
			names = append(names, name)
			continue
		}
		lines[name] = append(lines[name], line)
	}
	return names, lines
}

// Compare compares a transcript with a recorded one, section by section. Lines that are no
// more in one of two sections stand where they would be.
func Compare(recorded, got string, kinds []Kind) Result {
	var r Result
	names, want := sections(recorded)
	others, have := sections(got)
	for _, n := range others {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for _, n := range append([]string{""}, names...) {
		r.section(n, want[n], have[n], kinds)
	}
	return r
}

func (r *Result) section(name string, want, have []string, kinds []Kind) {
	r.Lines += len(want)
	length := common(want, have)
	i, k := 0, 0
	for i < len(want) || k < len(have) {
		if i < len(want) && k < len(have) && want[i] == have[k] {
			r.Equal++
			i, k = i+1, k+1
			continue
		}
		// What stands until the next common line differs, line by line.
		from, to := i, k
		for i < len(want) && (k >= len(have) || length[i+1][k] == length[i][k]) {
			i++
		}
		for k < len(have) && (i >= len(want) || length[i][k+1] == length[i][k] && want[i] != have[k]) {
			k++
		}
		for n := range max(i-from, k-to) {
			d := Difference{Section: name, Number: min(from+n+1, i)}
			if from+n < i {
				d.Recorded = want[from+n]
			}
			if to+n < k {
				d.Got = have[to+n]
			}
			for _, kind := range kinds {
				if kind.same(d.Recorded, d.Got) {
					d.Kind = kind.Name
					break
				}
			}
			r.Differences = append(r.Differences, d)
		}
	}
}

// common returns, for each pair of positions, the length of the longest common subsequence
// of what follows.
func common(a, b []string) [][]int32 {
	cells := make([]int32, (len(a)+1)*(len(b)+1))
	length := make([][]int32, len(a)+1)
	for i := range length {
		length[i] = cells[i*(len(b)+1) : (i+1)*(len(b)+1)]
	}
	for i := len(a) - 1; i >= 0; i-- {
		for k := len(b) - 1; k >= 0; k-- {
			if a[i] == b[k] {
				length[i][k] = length[i+1][k+1] + 1
			} else {
				length[i][k] = max(length[i+1][k], length[i][k+1])
			}
		}
	}
	return length
}
