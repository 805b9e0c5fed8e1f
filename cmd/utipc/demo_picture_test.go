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
	var painted strings.Builder
	screen := demoScreen{ink: true}
	for line := range strings.Lines(output) {
		painted.WriteString(screen.paint(strings.TrimSuffix(line, "\n")) + "\n")
	}
	picture := terminalPicture("utipc demo", painted.String())
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
	element = regexp.MustCompile(`<text[^>]*>(.*)</text>`)
	markup  = regexp.MustCompile(`<[^>]*>`)
	figure  = regexp.MustCompile(`[0-9][0-9a-f]*(\.[0-9]+)?(ns|µs|ms|s\b)?`)
)

// withoutFigures returns the lines of a picture, with n for each number and one space for each row of them.
func withoutFigures(picture string) string {
	var lines []string
	for _, m := range element.FindAllStringSubmatch(picture, -1) {
		lines = append(lines, strings.Join(strings.Fields(figure.ReplaceAllString(html.UnescapeString(markup.ReplaceAllString(m[1], "")), "n")), " "))
	}
	return strings.Join(lines, "\n")
}

// terminalPicture draws a command and its output, in colour, as a terminal shows them.
func terminalPicture(command, output string) string {
	const column, line, left = 8, 17, 18 // in pixels
	lines := append([]string{"$ " + command}, strings.Split(strings.TrimRight(output, "\n"), "\n")...)
	width, height := 0, 20+line*len(lines)+8
	var rows []string
	for i, l := range lines {
		var row strings.Builder
		all, n := spans(l), 0
		if i == 0 {
			all = []span{{string(bold), l}}
		}
		for _, s := range all {
			n += utf8.RuneCountInString(s.text)
			if s.style == "" {
				row.WriteString(html.EscapeString(s.text))
			} else {
				fmt.Fprintf(&row, `<tspan style="%s">%s</tspan>`, dark.css(s.style, "fill"), html.EscapeString(s.text))
			}
		}
		width = max(width, 2*left+column*n)
		rows = append(rows, fmt.Sprintf("<text x=\"%d\" y=\"%d\" xml:space=\"preserve\">%s</text>\n", left, 26+line*i, &row))
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">
<title>The output of %s</title>
<style>text{font:13px "DejaVu Sans Mono",Menlo,Consolas,monospace;fill:%s;white-space:pre}</style>
<rect width="%d" height="%d" rx="8" fill="%s"/>
`, width, height, width, height, html.EscapeString(command), dark.text, width, height, dark.page) + strings.Join(rows, "") + "</svg>\n"
}
