// SPDX-License-Identifier: Apache-2.0

package packaged

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/tutorials/transcript.md")

// A transcript is what was typed and what came, for docs/tutorials/transcript.md.
type transcript struct {
	strings.Builder
	open bool // a block of code is begun
}

// say writes what is not typed.
func (tr *transcript) say(format string, args ...any) {
	tr.end()
	fmt.Fprintf(tr, "\n"+format+"\n", args...)
}

// typed writes a command of a host, and its output.
func (tr *transcript) typed(host, line, output string) {
	if !tr.open {
		tr.WriteString("\n```\n")
		tr.open = true
	}
	fmt.Fprintf(tr, "%s# %s\n", host, line)
	for l := range strings.Lines(output) {
		if strings.HasPrefix(l, "Processing triggers for ") {
			continue // of what else is installed
		}
		fmt.Fprintln(tr, strings.TrimRight(l, " \r\n"))
	}
}

func (tr *transcript) end() {
	if tr.open {
		tr.WriteString("```\n")
		tr.open = false
	}
}

// What differs from run to run.
var changing = regexp.MustCompile(`[0-9a-f]{2}(:[0-9a-f]{2}){5}|(\d[\d.]*)(ms|µs|s)\b|\b\d{5,}\b|pid \d+`)

// lasting is a transcript without that. Files read before a package is unpacked, and
// columns, depend on the machine and on what stands in them.
func lasting(s string) string {
	s = regexp.MustCompile(`\d+ files and directories`).ReplaceAllString(s, "N files and directories")
	return regexp.MustCompile(` +`).ReplaceAllString(changing.ReplaceAllString(s, "~"), " ")
}

// check compares with docs/tutorials/transcript.md, or writes it.
func (tr *transcript) check(t *testing.T) {
	t.Helper()
	tr.end()
	const file = "../../docs/tutorials/transcript.md"
	had, err := os.ReadFile(file)
	switch {
	case *update:
		if err := os.WriteFile(file, []byte(tr.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	case err != nil:
		t.Error(err)
	case lasting(string(had)) != lasting(tr.String()):
		a, b := strings.Split(lasting(string(had)), "\n"), strings.Split(lasting(tr.String()), "\n")
		for i := range max(len(a), len(b)) {
			if i >= len(a) || i >= len(b) || a[i] != b[i] {
				t.Errorf("%s differs from what happens, from line %d on (go test ./test/package -update writes it): has\n%s\nwant\n%s",
					file, i+1, strings.Join(a[min(i, len(a)):min(i+3, len(a))], "\n"), strings.Join(b[min(i, len(b)):min(i+3, len(b))], "\n"))
				break
			}
		}
		t.Logf("what happens:\n%s", tr.String())
	}
}
