// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func read(t *testing.T, elem ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What is written is complete: each plot a file, each file in the document and the page.
// Read and written again it is the same.
//
// Proves: bench.report
func TestWriteAndLoad(t *testing.T) {
	for name, r := range map[string]*Report{"sample": sample(), "hostile": hostile(), "empty": {Title: "x", Began: sample().Began}} {
		load := func(dir string) *Report {
			back, err := Load(strings.NewReader(read(t, dir, "report.json")))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return back
		}
		dir, again := t.TempDir(), t.TempDir()
		if err := r.Write(dir); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name == "hostile" { // JSON cannot keep all of its texts: once it has, they stay
			if err := load(dir).Write(dir); err != nil {
				t.Fatal(err)
			}
		}
		back := load(dir)
		if err := back.Write(again); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		doc, page := read(t, dir, "report.md"), read(t, dir, "report.html")
		figures := 0
		for _, s := range back.Sections {
			if !strings.Contains(page, `id="`+s.ID+`"`) {
				t.Errorf("%s: section %s is not in the page", name, s.ID)
			}
			for _, f := range s.Figures {
				figures++
				file := "plots/" + f.ID + ".svg"
				parse(t, read(t, dir, file))
				if !strings.Contains(doc, "]("+file+")") || !strings.Contains(page, `<figure id="`+f.ID+`">`) {
					t.Errorf("%s: %s is not in the document, or not in the page", name, file)
				}
			}
		}
		for _, file := range []string{"report.json", "report.html", "report.md"} {
			if a, b := read(t, dir, file), read(t, again, file); a != b {
				t.Errorf("%s: %s of the report that was read again differs", name, file)
			}
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
		if len(files) != figures {
			t.Errorf("%s: got %d plots, want %d", name, len(files), figures)
		}
	}
}

// IDs are names of files, and none is there twice.
//
// Proves: bench.report
func TestIDsFit(t *testing.T) {
	good := regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	seen := map[string]bool{"losses": true}
	for _, s := range hostile().tidy().Sections {
		ids := []string{s.ID}
		for _, f := range s.Figures {
			ids = append(ids, f.ID)
		}
		for _, x := range s.Tables {
			ids = append(ids, x.ID)
		}
		for _, id := range ids {
			if !good.MatchString(id) || len(id) > 90 || seen[id] {
				t.Errorf("%q: twice, or not fit for a file", id)
			}
			seen[id] = true
		}
	}
}

// Values that are none are told of, and the report in memory is left as it was.
//
// Proves: bench.report
func TestTidy(t *testing.T) {
	r := hostile()
	out := r.tidy()
	if len(out.Sections[0].Errors) <= len(r.Sections[0].Errors) || len(r.Sections[0].Figures[0].Series[0].Points) == len(out.Sections[0].Figures[0].Series[0].Points) {
		t.Errorf("%d errors became %d", len(r.Sections[0].Errors), len(out.Sections[0].Errors))
	}
	if got, want := fmt.Sprint(r), fmt.Sprint(hostile()); got != want {
		t.Error("the report itself was changed")
	}
}

// No text of a report is markup of a page or a document.
//
// Proves: bench.report
func TestTextIsNoMarkup(t *testing.T) {
	var page, doc bytes.Buffer
	r := hostile()
	if err := r.HTML(&page); err != nil {
		t.Fatal(err)
	}
	r.Markdown(&doc, "plots")
	for name, s := range map[string]string{"page": page.String(), "document": doc.String()} {
		if i := strings.Index(strings.ToLower(s), "<script"); i >= 0 {
			t.Errorf("the %s has a script: %q", name, s[max(0, i-80):i+80])
		}
		if !strings.Contains(s, "alert(1)") {
			t.Errorf("the %s has lost the text", name)
		}
	}
	if strings.Contains(doc.String(), "\n# no") {
		t.Error("a text is a heading of the document")
	}
	if strings.Contains(page.String(), "src=") || strings.Contains(page.String(), "@import") {
		t.Error("the page needs something beside it")
	}
}

// Proves: bench.report
func TestLoadRefusesOther(t *testing.T) {
	for _, s := range []string{"", "{}", "[1]", `{"title": "x"}`, `{"sections": 3}`} {
		if _, err := Load(strings.NewReader(s)); !errors.Is(err, ErrNotAReport) {
			t.Errorf("%q: got %v", s, err)
		}
	}
}

// Tables of the terminal are no wider than it is, and have every value: those that do not
// fit are in parts.
//
// Proves: bench.report
func TestTextFits(t *testing.T) {
	r := sample()
	many := hostile().Sections[0].Figures
	r.Sections = append(r.Sections, Section{Title: "crowd", Figures: many[len(many)-1:]})
	for _, width := range []int{80, Width, 200} {
		var b strings.Builder
		r.Text(&b, width)
		for i, line := range strings.Split(b.String(), "\n") {
			if n := utf8.RuneCountInString(line); n > width && i > 5 { // behind the head
				t.Errorf("width %d: a line of %d: %q", width, n, line)
			}
		}
		words := strings.Fields(b.String())
		for _, want := range []string{"256", "number", "19", "2.05", "(288..345)"} {
			if width == 80 && want == "(288..345)" {
				want = "300"
			}
			if !slices.Contains(words, want) && !strings.Contains(b.String(), want) {
				t.Errorf("width %d: no %s", width, want)
			}
		}
		if !strings.Contains(b.String(), "error: UDP: 128 KiB") || !strings.Contains(b.String(), "At 64 B a round trip") {
			t.Errorf("width %d: what it says, or an error, is missing", width)
		}
	}
}

// Proves: bench.report
func TestWrap(t *testing.T) {
	for _, x := range []struct {
		text  string
		width int
		want  string
	}{
		{"one two three", 7, "one two/three"}, {"one two three", 100, "one two three"}, {"", 5, ""}, {"abcdefgh ij", 3, "abcdefgh/ij"}, {"a  b\nc", 3, "a b/c"},
	} {
		if got := strings.Join(wrap(x.text, x.width), "/"); got != x.want {
			t.Errorf("%q to %d: got %q, want %q", x.text, x.width, got, x.want)
		}
	}
}

// A curve of many points is drawn in a line: high, nothing, and high again.
//
// Proves: bench.report
func TestShapes(t *testing.T) {
	f := sample().Sections[1].Figures[0]
	g := f.grid()
	if len(g.rows) != 2 || g.rows[0].name != "carrier lost" {
		t.Fatalf("got %+v", g)
	}
	if got := g.rows[1].cells[3].text; !regexp.MustCompile(`^[▇█]{9}.? {9,10}.?[▇█]{11,12}$`).MatchString(got) {
		t.Errorf("got %q", got)
	}
}

// The parts of a page's markup that are opened are closed: a browser mends what a reader
// of the source would not see.
//
// Proves: bench.report
func TestPageIsBalanced(t *testing.T) {
	var page bytes.Buffer
	if err := sample().HTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{"section", "figure", "table", "tr", "td", "th", "details", "svg", "ul", "ol", "li", "div", "nav", "main", "header"} {
		open := len(regexp.MustCompile("<"+tag+`[ >]`).FindAllString(page.String(), -1))
		if shut := strings.Count(page.String(), "</"+tag+">"); open == 0 || open != shut {
			t.Errorf("%s: %d opened, %d closed", tag, open, shut)
		}
	}
}
