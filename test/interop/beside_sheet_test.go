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

const toolsDoc = "../../docs/reference/tools.md"

// A besideSheet is what docs/reference/tools.md says of the comparison.
type besideSheet struct {
	asked   int
	shown   strings.Builder     // side by side
	answers []string            // complaints, in the order in which they came
	by      map[string][]string // the commands that each answered
	differs strings.Builder     // a table
	met     map[string]bool     // differences that were found
	scene   string              // of what was shown last
}

// note compares the two answers to a command and enters them.
func (s *besideSheet) note(t *testing.T, situation string, kernel, ours *party, r besideRow) {
	t.Helper()
	s.asked++
	if s.by == nil {
		s.by, s.met = map[string][]string{}, map[string]bool{}
	}
	d, why := alike(kernel, ours, r), besideDiffers[r.words]
	switch {
	case d != "" && why == "":
		t.Errorf("%s: %s", r.words, d)
	case d == "" && why != "":
		t.Errorf("%s: answered alike, but is said to differ: %s", r.words, why)
	case why != "":
		s.met[r.words] = true
		fmt.Fprintf(&s.differs, "| `%s` | %s | %s | %s |\n", doc(r.words), cell(r.kernel), cell(r.ours), why)
	case r.kernel.status != 0:
		text := refusalText(r.kernel.text)
		if s.by[text] == nil {
			s.answers = append(s.answers, text)
		}
		if !slices.Contains(s.by[text], r.words) {
			s.by[text] = append(s.by[text], r.words)
		}
	case besidePrinted[r.words]:
		if situation != s.scene {
			s.scene = situation
			fmt.Fprintf(&s.shown, "%s:\n\n", situation)
		}
		fmt.Fprintf(&s.shown, "```\n%s```\n\n", columns(kernel.words(r.words), r.kernel.text, ours.words(r.words), r.ours.text))
		delete(besidePrinted, r.words)
	}
}

// doc is a command as the sheet shows it.
func doc(words string) string {
	return strings.NewReplacer("$own", "OWN", "$peer", "PEER", "$other", "1.1.7", "$link", "LINK", "$id", "ID", "|", "\\|").Replace(words)
}

// cell is an answer in a table: its last line, for short.
func cell(a answer) string {
	s := strings.TrimSpace(a.text)
	if usageText(s) {
		s = "Usage: …"
	}
	lines := strings.Split(s, "\n")
	if s = lines[0]; len(lines) > 1 {
		s += " …"
	}
	if s == "" {
		s = "nothing"
	} else {
		s = "`" + strings.ReplaceAll(s, "|", "\\|") + "`"
	}
	return fmt.Sprintf("%s, %d", s, a.status)
}

// columns sets two outputs beside each other; the lines of each that are no longer than
// the column, else below each other.
func columns(kernel, theirs, ours, own string) string {
	const width = 76
	left := append([]string{"$ tipc " + kernel}, strings.Split(strings.TrimSuffix(theirs, "\n"), "\n")...)
	right := append([]string{"$ utipc " + ours}, strings.Split(strings.TrimSuffix(own, "\n"), "\n")...)
	var b strings.Builder
	for i := range max(len(left), len(right)) {
		var l, r string
		if i < len(left) {
			l = strings.TrimRight(left[i], " ")
		}
		if i < len(right) {
			r = strings.TrimRight(right[i], " ")
		}
		fmt.Fprintln(&b, strings.TrimRight(fmt.Sprintf("%-*s  %s", width, l, r), " "))
	}
	return b.String()
}

// document writes the sheet, or compares what is written but for figures.
func (s *besideSheet) document(t *testing.T, release string) {
	t.Helper()
	for words := range besideDiffers {
		if !s.met[words] {
			t.Errorf("%s is said to differ, and was not asked", words)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Kernel %s, %d commands, of which %d are answered otherwise.\n\n", release, s.asked, len(s.met))
	b.WriteString(s.shown.String())
	b.WriteString("What is answered alike with status 255 and nothing on the standard output:\n\n")
	for _, text := range s.answers {
		var all []string
		for _, c := range s.by[text] {
			all = append(all, "`"+doc(c)+"`")
		}
		fmt.Fprintf(&b, "* `%s`: %s\n", strings.ReplaceAll(strings.TrimSpace(text), "\n", "`, `"), strings.Join(all, ", "))
	}
	b.WriteString("\nWhat is answered otherwise:\n\n| command | tipc(8), status | utipc, status | why |\n|---|---|---|---|\n" + s.differs.String())

	file, err := os.ReadFile(toolsDoc)
	must(t, err)
	begin, end := "<!-- beside -->\n", "<!-- end -->"
	before, rest, found := strings.Cut(string(file), begin)
	got, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("no comparison in %s", toolsDoc)
	}
	if *update {
		must(t, os.WriteFile(toolsDoc, []byte(before+begin+b.String()+end+after), 0o644))
		return
	}
	if got, want := essence(got), essence(b.String()); got != want {
		t.Errorf("%s says otherwise (go test ./test/interop -run %s -update writes it): got\n%s\nwant\n%s", toolsDoc, t.Name(), got, want)
	}
}

// essence is what of the sheet is the same with every run.
func essence(sheet string) string {
	var b strings.Builder
	for line := range strings.Lines(sheet) {
		if strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "|") {
			b.WriteString(line)
		}
	}
	return b.String()
}
