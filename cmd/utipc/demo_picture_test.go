// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkPicture compares the picture of the demo in the documentation with what the demo printed.
// Figures may differ, lines may not; with -update the picture is drawn anew.
func checkPicture(t *testing.T, output string) {
	t.Helper()
	const file = "../../docs/images/demo.svg"
	picture := terminalPicture("utipc demo", output)
	if *update {
		if err := os.WriteFile(file, []byte(picture), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := withoutFigures(string(b)), withoutFigures(picture); got != want {
		t.Errorf("%s is not the demo: go test ./cmd/utipc -run 'TestDemo$' -update draws it; it has\n%s\nwant\n%s", file, got, want)
	}
}

var (
	element = regexp.MustCompile(`<text[^>]*>([^<]*)</text>`)
	figure  = regexp.MustCompile(`[0-9][0-9a-f]*(\.[0-9]+)?(ns|µs|ms|s\b)?`)
)

// withoutFigures returns the lines of a picture, with n for each number and one space for each row of them.
func withoutFigures(picture string) string {
	var lines []string
	for _, m := range element.FindAllStringSubmatch(picture, -1) {
		lines = append(lines, strings.Join(strings.Fields(figure.ReplaceAllString(html.UnescapeString(m[1]), "n")), " "))
	}
	return strings.Join(lines, "\n")
}

// terminalPicture draws a command and its output as a terminal shows them.
func terminalPicture(command, output string) string {
	const column, line, left = 8, 17, 18 // in pixels
	lines := append([]string{"$ " + command}, strings.Split(strings.TrimRight(output, "\n"), "\n")...)
	width, height := 0, 20+line*len(lines)+8
	for _, l := range lines {
		width = max(width, 2*left+column*utf8.RuneCountInString(l))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">
<title>The output of %s</title>
<style>text{font:13px "DejaVu Sans Mono",Menlo,Consolas,monospace;fill:#d7dee6;white-space:pre}.k{fill:#fff;font-weight:bold}.g{fill:#8fd19e;font-weight:bold}</style>
<rect width="%d" height="%d" rx="8" fill="#17202b"/>
`, width, height, width, height, html.EscapeString(command), width, height)
	for i, l := range lines {
		class := ""
		switch {
		case i == 0 || strings.HasPrefix(l, "what "):
			class = ` class="k"`
		case i == len(lines)-1:
			class = ` class="g"`
		}
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\"%s xml:space=\"preserve\">%s</text>\n", left, 26+line*i, class, html.EscapeString(l))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
