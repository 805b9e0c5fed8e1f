// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"fmt"
	"io"
	"path"
	"strings"
)

// Markdown prints the report as a document: for each section how it was measured, what it
// says, its plots, each with its values folded away, and its tables. The plots are files
// in that folder, seen from the document.
func (r *Report) Markdown(w io.Writer, plots string) {
	r = r.tidy()
	fmt.Fprintf(w, "# %s\n\n", plain(r.Title))
	for _, l := range r.head() {
		fmt.Fprintf(w, "* %s\n", plain(l))
	}
	for _, s := range r.Warnings {
		fmt.Fprintf(w, "* **warning:** %s\n", plain(s))
	}
	for i := range r.Sections {
		r.Sections[i].Markdown(w, plots)
	}
	if len(r.Losses) > 0 {
		markdownLosses(w, r.Losses)
	}
}

// Markdown prints the section alone, as one of a document's.
func (s *Section) Markdown(w io.Writer, plots string) {
	fmt.Fprintf(w, "\n## %s\n", plain(s.Title))
	for _, p := range paragraphs(s.How) {
		fmt.Fprintf(w, "\n%s\n", plain(p))
	}
	if len(s.Says) > 0 {
		fmt.Fprintln(w)
	}
	for _, line := range s.Says {
		fmt.Fprintf(w, "* %s\n", plain(line))
	}
	for i := range s.Figures {
		f := &s.Figures[i]
		fmt.Fprintf(w, "\n![%s](%s)\n", plain(f.Title), path.Join(plots, f.ID+".svg"))
		fmt.Fprintf(w, "\n<details><summary>%s: the values</summary>\n\n", plain(f.Title))
		g := f.grid()
		g.markdown(w)
		fmt.Fprintf(w, "\n</details>\n")
	}
	for i := range s.Tables {
		fmt.Fprintf(w, "\n**%s**\n\n", plain(s.Tables[i].Title))
		g := s.Tables[i].grid()
		g.markdown(w)
	}
	for i, e := range s.Errors {
		if i == 0 {
			fmt.Fprintf(w, "\nNot measured:\n\n")
		}
		fmt.Fprintf(w, "* %s\n", plain(e))
	}
}

// markdown prints the grid as a table; notes are its last column. Ours is bold.
func (g *grid) markdown(w io.Writer) {
	notes := false
	for _, l := range g.rows {
		notes = notes || l.note != ""
	}
	head, rule := "|", "|"
	for i, h := range g.heads {
		head += " " + bold(h, g.ours[i]) + " |"
		if i == 0 && !g.right {
			rule += "---|"
		} else {
			rule += "--:|"
		}
	}
	if notes {
		head, rule = head+" |", rule+"---|"
	}
	fmt.Fprintf(w, "%s\n%s\n", head, rule)
	for _, l := range g.rows {
		row := "| " + bold(l.name, l.ours) + " |"
		for _, e := range l.cells {
			row += " " + plain(strings.TrimSpace(e.text+" "+e.spread)) + " |"
		}
		if notes {
			row += " " + plain(l.note) + " |"
		}
		fmt.Fprintln(w, row)
	}
}

func bold(s string, ours bool) string {
	if s = plain(s); ours && s != "" {
		return "**" + s + "**"
	}
	return s
}

// plain makes a text one that Markdown leaves as it is, in one line.
func plain(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "#", `\#`, "[", `\[`, "]", `\]`, `\`, `\\`).
		Replace(strings.Join(strings.Fields(s), " "))
}

// paragraphs are parted by empty lines.
func paragraphs(s string) (all []string) {
	for p := range strings.SplitSeq(s, "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			all = append(all, p)
		}
	}
	return all
}
