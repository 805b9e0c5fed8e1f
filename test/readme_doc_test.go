// SPDX-License-Identifier: Apache-2.0

package test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// README is at most 150 lines. Its program is the whole of examples/hello, which is built and run,
// and what it is said to print is what that example's test compares. It has the two commands that
// do all set-up, and CI runs the second of them. Each figure of its tables is in the pages that hold
// what was measured.
//
// Mutation it catches: a line of the program is changed in README or in the example; the output
// says "node 2"; README grows by 50 lines; 8.5 µs becomes 7.5 µs; .ci/run runs another command.
//
// Proves: house.docs, house.setup
func TestReadme(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	readme := read("README.md")
	if n := strings.Count(readme, "\n"); n > 150 {
		t.Errorf("README.md has %d lines, want at most 150", n)
	}
	_, code, _ := strings.Cut(read("examples/hello/main.go"), "\npackage main\n")
	if !strings.Contains(readme, "```go\npackage main\n"+code+"```\n") {
		t.Error("README.md does not have examples/hello/main.go")
	}
	_, output, _ := strings.Cut(read("examples/hello/main_test.go"), "// Output: ")
	output, _, _ = strings.Cut(output, "\n")
	if output == "" || !strings.Contains(readme, "```\n"+output+"\n```\n") {
		t.Errorf("README.md does not have the output %q", output)
	}
	for _, command := range []string{"\n    go run ./cmd/utipc demo ", "\n    ./test/run "} {
		if !strings.Contains(readme, command) {
			t.Errorf("README.md does not have the command %q", command)
		}
	}
	if !strings.Contains(read(".ci/run"), "\nexec ./test/run ") {
		t.Error(".ci/run does not run ./test/run")
	}
	measured := read("docs/explanation/performance.md") + chapter(read("docs/explanation/figures.md"), "Scale")
	for line := range strings.Lines(chapter(read("docs/performance/report.md"), "Beside gRPC, ZeroMQ, NATS and Go's TCP")) {
		if strings.HasPrefix(line, "| 64 B |") || strings.HasPrefix(line, "| 64 KiB |") {
			measured += strings.ReplaceAll(line, " us", " µs")
		}
	}
	figures := 0
	for _, m := range regexp.MustCompile(`([0-9]+(?:\.[0-9]+)?) (µs|ms|Gbit/s|million|s\b|%)`).FindAllStringSubmatch(readme, -1) {
		figures++
		if unit := strings.Replace(m[2], "million", "M/s", 1); !holds(measured, m[1], unit) {
			t.Errorf("README.md: %s is in no page of what was measured", m[0])
		}
	}
	if figures < 15 {
		t.Errorf("found %d figures", figures)
	}
}

// chapter returns what stands below a heading of the second level.
func chapter(text, title string) string {
	_, text, _ = strings.Cut(text, "\n## "+title+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// holds reports whether a text has a figure that is f when it is rounded to as many digits as f has.
func holds(text, f, unit string) bool {
	_, digits, _ := strings.Cut(f, ".")
	for _, m := range regexp.MustCompile(`\b([0-9]+(?:\.[0-9]+)?) `+unit).FindAllStringSubmatch(text, -1) {
		v, err := strconv.ParseFloat(m[1], 64)
		if err == nil && strconv.FormatFloat(v, 'f', len(digits), 64) == f {
			return true
		}
	}
	return false
}

// Every page of docs is in the index, but those of decisions, which have one of their own.
//
// Mutation it catches: the index leaves out docs/reference/limits.md.
//
// Proves: house.docs
func TestIndexOfDocs(t *testing.T) {
	all := texts(t)
	index := all["docs/README.md"]
	for name := range all {
		name, isDoc := strings.CutPrefix(name, "docs/")
		if !isDoc || name == "README.md" || strings.HasPrefix(name, "decisions/0") || name == "performance/report.md" {
			continue
		}
		if !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/README.md does not have %s", name)
		}
	}
}

// Every page of docs says in its first paragraph for whom it is, but the specification, which is for
// all, and the report, which a program writes.
//
// Mutation it catches: docs/reference/daemon.md has no such line.
//
// Proves: house.docs
func TestPagesSayForWhom(t *testing.T) {
	for name, text := range texts(t) {
		if !strings.HasPrefix(name, "docs/") || strings.HasPrefix(name, "docs/spec/") || name == "docs/performance/report.md" {
			continue
		}
		_, text, _ = strings.Cut("\n"+text, "\n# ")
		if _, first, _ := strings.Cut(text, "\n\n"); !strings.HasPrefix(first, "For ") {
			t.Errorf("%s does not begin with a line \"For those who ...\"", name)
		}
	}
}
