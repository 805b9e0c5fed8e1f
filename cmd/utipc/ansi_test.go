// SPDX-License-Identifier: Apache-2.0

package main

import (
	"html"
	"regexp"
	"strings"
)

// A span is a text in a style, as a terminal is told it.
type span struct{ style, text string }

var (
	sgr     = regexp.MustCompile(`\x1b\[([0-9;]*)m`)
	control = regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]`)
)

// spans are the parts of a line by their style.
func spans(line string) (all []span) {
	style, at := "", 0
	add := func(text string) {
		if text != "" {
			all = append(all, span{style, text})
		}
	}
	for _, m := range sgr.FindAllStringSubmatchIndex(line, -1) {
		add(line[at:m[0]])
		if style = line[m[2]:m[3]]; style == "0" {
			style = ""
		}
		at = m[1]
	}
	add(line[at:])
	return all
}

// A palette is what a terminal makes of styles.
type palette struct {
	page, text string
	colours    map[string]string // by SGR parameter
}

var (
	dark  = palette{"#17202b", "#d7dee6", map[string]string{"31": "#ff7b72", "32": "#8fd19e", "33": "#e3b341", "35": "#d2a8ff", "36": "#76d9e6"}}
	light = palette{"#ffffff", "#24292f", map[string]string{"31": "#cf222e", "32": "#116329", "33": "#7d4e00", "35": "#8250df", "36": "#0a6a75"}}
)

// css is a style in CSS; property is that of the colour of text.
func (p palette) css(style, property string) string {
	var css []string
	for s := range strings.SplitSeq(style, ";") {
		switch s {
		case "1":
			css = append(css, "font-weight:bold")
		case "2":
			css = append(css, "opacity:.65")
		case "7":
			css = append(css, "background:"+p.text, property+":"+p.page)
		default:
			css = append(css, property+":"+p.colours[s])
		}
	}
	return strings.Join(css, ";")
}

// page is a screen of a terminal as HTML.
func (p palette) htmlPage(lines []string) string {
	var b strings.Builder
	b.WriteString(`<!doctype html><meta charset="utf-8"><body style="margin:0;background:` + p.page + `"><pre style="font:13px/17px DejaVu Sans Mono,monospace;color:` + p.text + `;margin:12px">`)
	for _, l := range lines {
		for _, s := range spans(l) {
			if s.style == "" {
				b.WriteString(html.EscapeString(s.text))
			} else {
				b.WriteString(`<span style="` + p.css(s.style, "color") + `">` + html.EscapeString(s.text) + "</span>")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
