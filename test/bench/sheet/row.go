// SPDX-License-Identifier: Apache-2.0

package sheet

import (
	"fmt"
	"strings"
)

// A Row is one line of the table.
type Row struct {
	ID     string  `json:"id"`
	What   string  `json:"what"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit,omitempty"` // "ns", "MB/s", "ms", "us"; empty: a number or a share
	Goal   Goal    `json:"goal"`
	Target float64 `json:"target"`
	Notes  string  `json:"notes,omitempty"`
	Error  string  `json:"error,omitempty"` // why there is no Value
}

// A Goal is how a row's value and its target are read.
type Goal uint8

const (
	Printed Goal = iota // there is no target
	AtLeast             // the target
	AtMost              // the target
)

// Met reports whether a row has what it ought to.
func (r *Row) Met() bool {
	switch {
	case r.Error != "":
		return false
	case r.Goal == AtLeast:
		return r.Value >= r.Target
	case r.Goal == AtMost:
		return r.Value <= r.Target
	}
	return true
}

// verdict is the row's last column.
func (r *Row) verdict() string {
	switch {
	case r.Goal == Printed && r.Error == "":
		return "-"
	case r.Met():
		return "ok"
	}
	return "MISS"
}

// figure prints a value of the row with its unit.
func (r *Row) figure(v float64) string {
	text := fmt.Sprintf("%.4g", v)
	switch {
	case r.Unit == "ms":
		text = fmt.Sprintf("%.1f", v)
	case v >= 10_000:
		text = fmt.Sprintf("%.0f", v)
	}
	if r.Unit == "" {
		return text
	}
	return text + " " + r.Unit
}

func (r *Row) cells() []string {
	value, target := r.figure(r.Value), "-"
	if r.Error != "" {
		value = "-"
	}
	switch r.Goal {
	case AtLeast:
		target = ">= " + r.figure(r.Target)
	case AtMost:
		target = "<= " + r.figure(r.Target)
	}
	return []string{r.What, value, target, r.verdict()}
}

// note is what stands below a row.
func (r *Row) note() string {
	if r.Error != "" {
		return "error: " + strings.ReplaceAll(r.Error, "\n", "; ")
	}
	return r.Notes
}
