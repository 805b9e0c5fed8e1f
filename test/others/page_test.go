// SPDX-License-Identifier: Apache-2.0

package others

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

const pageFile = "../../docs/reference/software.md"

// comparePage compares the rows of the page with what is run here, but for their figures.
func comparePage(t *testing.T) {
	b, err := os.ReadFile(pageFile)
	must(t, err)
	for _, s := range all {
		if !strings.Contains(string(b), "\n"+row(t, s)) {
			t.Errorf("docs/reference/software.md has no row %q; see BenchmarkSoftware", row(t, s))
		}
	}
}

// updatePage writes the rows with their figures, if it is asked to.
func updatePage(b *testing.B, ratios map[string][]float64) {
	if os.Getenv("UTIPC_UPDATE_DOCS") == "" || b.Failed() {
		return
	}
	page, err := os.ReadFile(pageFile)
	must(b, err)
	for _, s := range all {
		if len(ratios[s.name]) == 0 {
			continue // -bench has left it out
		}
		line := row(b, s)
		for _, r := range ratios[s.name] {
			line += fmt.Sprintf(" %.2f |", r)
		}
		old := regexp.MustCompile("(?m)^\\| " + regexp.QuoteMeta(s.name) + " \\|.* \\|$").FindIndex(page) // the first table's
		if old == nil {
			b.Fatalf("docs/reference/software.md has no row of %s", s.name)
		}
		page = []byte(string(page[:old[0]]) + line + string(page[old[1]:]))
	}
	must(b, os.WriteFile(pageFile, page, 0o644))
}

// row is a row without its figures.
func row(t testing.TB, s software) string {
	version := "Go's own"
	if s.module != "" {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", s.module).Output()
		must(t, err)
		version = strings.TrimSpace(string(out))
	}
	return fmt.Sprintf("| %s | %s | %s | %s |", s.name, version, s.what, s.by)
}
