// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// documentScripts writes the table of scripts, or compares it with what is written.
func documentScripts(t *testing.T, release string, played map[string]map[string]result) {
	t.Helper()
	b, err := os.ReadFile(interopDoc)
	must(t, err)
	begin, end := "<!-- table scripts -->\n", "<!-- end -->"
	before, rest, found := strings.Cut(string(b), begin)
	got, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("no table scripts in %s", interopDoc)
	}
	table := scriptTable(played)
	switch {
	case *update:
		text := fmt.Sprintf("Kernel %s.\n\n%s", release, table)
		must(t, os.WriteFile(interopDoc, []byte(before+begin+text+end+after), 0o644))
	case !strings.HasSuffix(got, "\n\n"+table):
		t.Errorf("the table in %s differs (go test ./test/interop -run %s -update writes it): got\n%s\nwant\n%s", interopDoc, t.Name(), got, table)
	}
}

// scriptTable says of each script who plays it as it is written.
func scriptTable(played map[string]map[string]result) string {
	var b strings.Builder
	b.WriteString("| script |")
	for _, c := range castings() {
		fmt.Fprintf(&b, " %s |", c.name)
	}
	b.WriteString(" where we and a kernel answer apart |\n|---|---|---|---|---|\n")
	for _, s := range slices.Concat(scripts(0), lastScripts) {
		fmt.Fprintf(&b, "| %s |", s.name)
		for _, c := range castings() {
			verdict := "as written"
			r, ok := played[c.name][s.name]
			switch {
			case !ok && s.stalls:
				verdict = "waits for ever"
			case !ok:
				verdict = "" // once for two stations is enough
			case r.err != nil:
				verdict = "**not so**"
			}
			fmt.Fprintf(&b, " %s |", verdict)
		}
		fmt.Fprintf(&b, " %s |\n", strings.Join(apart(s), "; "))
	}
	return b.String()
}

// apart lists the lines of a script with two answers.
func apart(s script) (all []string) {
	for line := range strings.Lines(s.text) {
		command, answers, _ := strings.Cut(line, "=>")
		ours, kernels, two := strings.Cut(answers, "||")
		if two {
			_, command, _ = strings.Cut(command, " ")
			all = append(all, fmt.Sprintf("`%s`: %s, a kernel %s", strings.TrimSpace(command), strings.TrimSpace(ours), strings.TrimSpace(kernels)))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
