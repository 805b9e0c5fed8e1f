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
	"github.com/utipc/utipc/test/bench/link"
)

// What was measured is printed and written, also when it is not all; a target that is
// missed is no error, a row without a value is.
func TestSheetBenchEnds(t *testing.T) {
	missed := link.Row{What: "slow", Value: 2, Goal: link.AtMost, Target: 1}
	unknown := link.Row{What: "unknown", Error: "no luck"}
	for _, c := range []struct {
		name   string
		report *link.Report
		err    error
		want   error
		last   string
	}{
		{"a miss", &link.Report{Rows: []link.Row{missed}}, nil, nil, "0 of 1 targets met\n"},
		{"no value", &link.Report{Rows: []link.Row{missed, unknown}}, nil, errNotMeasured, "0 of 2 targets met\n"},
		{"interrupted", &link.Report{Rows: []link.Row{missed}}, context.Canceled, context.Canceled, "0 of 1 targets met\n"},
		{"nothing", nil, os.ErrPermission, os.ErrPermission, ""},
	} {
		var out, errs strings.Builder
		file := filepath.Join(t.TempDir(), "results.json")
		err := sheetBench{"link", "auto", "", "", func(o sheetOptions) (sheetReport, error) {
			if !o.short || o.only == nil {
				t.Errorf("%s: got %+v, want short and some", c.name, o)
			}
			if c.report == nil {
				return nil, c.err
			}
			return c.report, c.err
		}}.run([]string{"--short", "--only", "x", "--json", file}, cmdline.Stdio{In: nil, Out: &out, Err: &errs})
		if !errors.Is(err, c.want) || !strings.HasSuffix(out.String(), c.last) || (c.last == "") != (out.Len() == 0) {
			t.Errorf("%s: got %v, %q, want %v", c.name, err, &out, c.want)
		}
		var r link.Report
		b, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(b, &r)
		}
		if (err == nil) != (c.report != nil) || c.report != nil && len(r.Rows) != len(c.report.Rows) {
			t.Errorf("%s: in the file %d rows, %v", c.name, len(r.Rows), err)
		}
	}
}
