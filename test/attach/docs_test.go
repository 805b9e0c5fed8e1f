// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/control"
	_ "github.com/utipc/utipc/stack" // which declares calls
)

// lists are the parts of docs/reference/attach.md that are made here.
var lists = []struct {
	begins, ends string
	make         func() string
}{
	{"<!-- differences: made by test/attach -->\n", "<!-- end differences -->\n", differing},
	{"<!-- verbs: made by test/attach -->\n", "<!-- end verbs -->\n", verbs},
}

// The lists in docs/reference/attach.md are those of the code. UTIPC_UPDATE_DOCS=1 writes them.
//
// Proves: daemon.api
func TestListsInTheDocs(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "reference", "attach.md")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, l := range lists {
		before, rest, ok := strings.Cut(text, l.begins)
		_, after, ok2 := strings.Cut(rest, l.ends)
		if !ok || !ok2 {
			t.Fatalf("%s has no list between %q and %q", file, l.begins, l.ends)
		}
		text = before + l.begins + l.make() + l.ends + after
	}
	if text == string(b) {
		return
	}
	if os.Getenv("UTIPC_UPDATE_DOCS") == "" {
		t.Fatalf("%s: a list is not what the code says: run the test with UTIPC_UPDATE_DOCS=1", file)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

var differs = map[expectation]string{passes: "no", fails: "yes", either: "at times"}

// differing is the differences as a table.
func differing() string {
	var b strings.Builder
	b.WriteString("| an attached node | | `SyncErrors` | test of `stack` |\n|---|---|---|---|\n")
	for _, d := range slices.Concat(differences, notRun) {
		fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", d.why, differs[d.without], differs[d.with], d.test)
	}
	return b.String()
}

// verbs is the management calls as a table.
func verbs() string {
	var b strings.Builder
	b.WriteString("| verb | right | method |\n|---|---|---|\n")
	for _, c := range control.All() {
		fmt.Fprintf(&b, "| `%s` | %v | `%s` |\n", c.Verb, c.Right, c.Method)
	}
	return b.String()
}
