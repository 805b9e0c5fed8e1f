// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/bench/sheet"
)

// What was measured is printed and written, also when it is not all; a target that is
// missed is no error, a row without a value is.
//
// Proves: names.cost
func TestTableBenchEnds(t *testing.T) {
	missed := sheet.Row{What: "slow", Value: 2, Goal: sheet.AtMost, Target: 1}
	unknown := sheet.Row{What: "unknown", Error: "no luck"}
	for _, c := range []struct {
		name   string
		report *sheet.Report
		err    error
		want   error
		last   string
	}{
		{"a miss", &sheet.Report{Rows: sheet.Rows{missed}}, nil, nil, "0 of 1 targets met\n"},
		{"no value", &sheet.Report{Rows: []sheet.Row{missed, unknown}}, nil, errNotMeasured, "0 of 2 targets met\n"},
		{"interrupted", &sheet.Report{Rows: sheet.Rows{missed}}, context.Canceled, context.Canceled, "0 of 1 targets met\n"},
		{"no rows", &sheet.Report{}, os.ErrPermission, os.ErrPermission, ""},
		{"nothing", nil, os.ErrPermission, os.ErrPermission, ""},
	} {
		var out, errs strings.Builder
		file := filepath.Join(t.TempDir(), "results.json")
		err := tableBench{name: "link", driver: "auto", measure: func(_ context.Context, o tableOptions) (*sheet.Report, error) {
			if !o.short || o.only == nil {
				t.Errorf("%s: got %+v, want short and some", c.name, o)
			}
			return c.report, c.err
		}}.run(t.Context(), []string{"--short", "--only", "x", "--json", file}, cmdline.Stdio{In: nil, Out: &out, Err: &errs})
		if !errors.Is(err, c.want) || !strings.HasSuffix(out.String(), c.last) || (c.last == "") != (out.Len() == 0) {
			t.Errorf("%s: got %v, %q, want %v", c.name, err, &out, c.want)
		}
		var r sheet.Report
		b, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(b, &r)
		}
		if rows := c.last != ""; (err == nil) != rows || rows && len(r.Rows) != len(c.report.Rows) {
			t.Errorf("%s: in the file %d rows, %v", c.name, len(r.Rows), err)
		}
	}
}
