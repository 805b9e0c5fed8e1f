// SPDX-License-Identifier: Apache-2.0

package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/tier"
)

// unusedWords returns the words of the left column of the table in docs/reference/words.md.
func unusedWords(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../docs/reference/words.md")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z, ]+) \|`).FindAllStringSubmatch(string(text), -1) {
		for w := range strings.SplitSeq(row[1], ", ") {
			words[w] = true
		}
	}
	delete(words, "not used") // the column's head
	if len(words) < 20 {
		t.Fatalf("docs/reference/words.md has %d words", len(words))
	}
	return words
}

var parts = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// said are the methods whose first constant string is read by users: log messages, flags
// and names of metrics.
var said = regexp.MustCompile(`^(Debug|Info|Warn|Error|(Bool|Duration|Float64|Int|String|Uint)(Var)?|Family)$`)

// No identifier, file name, flag, log message or name of a metric has a word that
// docs/reference/words.md lists as not used. Fails if one of them comes back, such as a type named
// crowd, or if the table cannot be read.
func TestWords(t *testing.T) {
	words := unusedWords(t)
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "..").Output()
	if err != nil {
		tier.Missing(t, "not a git checkout:", err)
	}
	check := func(where any, text string) {
		for _, p := range parts.FindAllString(text, -1) {
			if p = strings.ToLower(p); words[p] {
				t.Errorf("%v: %q has %q: see docs/reference/words.md", where, text, p)
			}
		}
	}
	fset := token.NewFileSet()
	for _, file := range strings.Fields(string(out)) {
		if strings.Contains(file, "/testdata/") || strings.HasPrefix(file, "../docs/spec/") {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			continue // deleted in the working tree
		}
		check("a file", strings.TrimPrefix(file, "../"))
		if filepath.Ext(file) != ".go" {
			continue
		}
		f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				check(fset.Position(n.Pos()), n.Name)
			case *ast.CallExpr:
				s, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || !said.MatchString(s.Sel.Name) {
					break
				}
				for _, a := range n.Args {
					if l, ok := a.(*ast.BasicLit); ok && l.Kind == token.STRING {
						check(fset.Position(l.Pos()), l.Value)
						break
					}
				}
			}
			return true
		})
	}
}
