// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Names of files in a folder that Write has written.
const (
	fileJSON     = "report.json"
	fileHTML     = "report.html"
	fileMarkdown = "report.md"
	folderPlots  = "plots"
)

// Write writes the report into a folder, which it makes: report.json with all raw
// results, report.html, which needs nothing beside it, report.md, and plots/ID.svg for
// each figure. Files of these names are written over, others left alone.
//
// Values that are no numbers are left out and told of in the section's errors; IDs that
// do not fit, or are used twice, are changed.
func (r *Report) Write(dir string) error {
	r = r.tidy()
	if err := os.MkdirAll(filepath.Join(dir, folderPlots), 0o755); err != nil {
		return err
	}
	raw, err := r.JSON()
	if err != nil {
		return err
	}
	files := map[string][]byte{fileJSON: raw}
	var page, doc bytes.Buffer
	if err := r.HTML(&page); err != nil {
		return err
	}
	r.Markdown(&doc, folderPlots)
	files[fileHTML], files[fileMarkdown] = page.Bytes(), doc.Bytes()
	for i := range r.Sections {
		s := &r.Sections[i]
		well := newInkwell(s.Figures...)
		for k := range s.Figures {
			files[filepath.Join(folderPlots, s.Figures[k].ID+".svg")] = []byte(s.Figures[k].svg(well))
		}
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// JSON is the whole report with its raw results, as Load reads it.
func (r *Report) JSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(r.tidy())
	return b.Bytes(), err
}

// ErrNotAReport is what Load returns of JSON that is something else.
var ErrNotAReport = errors.New("figure: this is no report")

// Load reads what JSON has made, to be looked at again or written with Write.
func Load(from io.Reader) (*Report, error) {
	var r Report
	if err := json.NewDecoder(from).Decode(&r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotAReport, err)
	}
	if r.Began.IsZero() || r.Title == "" {
		return nil, ErrNotAReport
	}
	return r.tidy(), nil
}
