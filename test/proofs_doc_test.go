// SPDX-License-Identifier: Apache-2.0

package test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A promise is a line of testdata/promises.txt.
type promise struct {
	name, subject, text string
}

func promises(t *testing.T) (all []promise) {
	b, err := os.ReadFile("testdata/promises.txt")
	if err != nil {
		t.Fatal(err)
	}
	subject := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if s, ok := strings.CutPrefix(line, "# "); ok {
			subject = s
			continue
		}
		if name, text, ok := strings.Cut(line, ": "); ok && subject != "" {
			all = append(all, promise{name, subject, text})
		} else if subject != "" && line != "" {
			t.Errorf("promises.txt: %q is neither a subject nor a promise", line)
		}
	}
	return all
}

var (
	provesLine = regexp.MustCompile(`(?m)^// Proves: (.*)$`)
	provesTest = regexp.MustCompile(`(?m)^// Proves: (.*)\nfunc ((?:Test|Fuzz|Benchmark|Example)\w*)\(`)
)

// proofs returns the tests of each promise, with their folders: "flowctl.TestAccept".
func proofs(t *testing.T) map[string][]string {
	found := map[string][]string{}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		of := provesTest.FindAllStringSubmatch(string(b), -1)
		if lines := len(provesLine.FindAllString(string(b), -1)); lines != len(of) {
			t.Errorf("%s: %d of %d lines with Proves do not end the comment of a test", file, lines-len(of), lines)
		}
		folder := strings.TrimPrefix(path.Dir(filepath.ToSlash(file)), "../")
		for _, m := range of {
			for name := range strings.SplitSeq(m[1], ", ") {
				found[name] = append(found[name], folder+"."+m[2])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// docs/reference/proofs.md is made of testdata/promises.txt and of the comments of tests: every promise has
// a test, and what tests prove was promised. UTIPC_UPDATE_DOCS=1 writes the page.
//
// It fails if a test's Proves is removed, or names what is not promised.
//
// Proves: house.docs
func TestProofs(t *testing.T) {
	found := proofs(t)
	var page strings.Builder
	page.WriteString(proofsHead)
	subject := ""
	for _, p := range promises(t) {
		if p.subject != subject {
			subject = p.subject
			fmt.Fprintf(&page, "\n## %s\n\n", subject)
		}
		of := found[p.name]
		delete(found, p.name)
		if len(of) == 0 {
			t.Errorf("no test proves %s: %s", p.name, p.text)
		}
		folders := map[string]bool{}
		for _, test := range of {
			folders["`"+part(test)+"`"] = true
		}
		fmt.Fprintf(&page, "* **%s** %s *%s*\n", p.name, p.text, strings.Join(slices.Sorted(maps.Keys(folders)), ", "))
	}
	for name, of := range found {
		t.Errorf("%v proves %q, which is not promised", of, name)
	}
	const file = "../docs/reference/proofs.md"
	if os.Getenv("UTIPC_UPDATE_DOCS") != "" {
		if err := os.WriteFile(file, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != page.String() {
		t.Errorf("docs/reference/proofs.md is not what the tests say (%v); UTIPC_UPDATE_DOCS=1 writes it anew", err)
	}
}

// part is the part of the tree in which a test stands. A test that moves within it leaves the page
// as it is.
func part(test string) string {
	folder, _, _ := strings.Cut(test, ".")
	names := strings.Split(folder, "/")
	if names[0] == "test" || names[0] == "cmd" {
		return path.Join(names[:min(2, len(names))]...)
	}
	return names[0]
}

const proofsHead = `# Proofs

For those who want to know whether a promise is tested.

What is promised, and in which parts of the tree tests show it. A test names what it shows in its
comment, after ` + "`Proves:`" + `:

    grep -rn -A1 'Proves:.*link.order' --include=*_test.go .

` + "`./test/run`" + ` runs all of them, but for what is only in ` + "`--long`" + `. ` + "`go test -short ./...`" + ` leaves out those that need
network namespaces, kernels or a machine to themselves. The rows of [hostile.md](hostile.md) and the
sentences of [security.md](../explanation/security.md) name their tests themselves. What was measured is in
[figures.md](../explanation/figures.md) and [performance.md](../explanation/performance.md).

This page is written by ` + "`UTIPC_UPDATE_DOCS=1 go test -run TestProofs ./test`" + `, from the promises in
test/testdata/promises.txt.
`
