// SPDX-License-Identifier: Apache-2.0

package sheet

import (
	"fmt"
	"strings"
)

// A Row is one line of the table: a figure, or the ratio of two.
type Row struct {
	ID    string  `json:"id"`
	What  string  `json:"what"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"` // "ns", "MB/s", "ms", "us"; empty: a number, a share or a ratio

	// Of a ratio: the figures it is of, and the smallest and largest ratio of a round.
	Ours   string  `json:"ours,omitempty"`
	Beside string  `json:"beside,omitempty"`
	Low    float64 `json:"low,omitempty"`
	High   float64 `json:"high,omitempty"`
	Rounds int     `json:"rounds,omitempty"` // that Value is of
	Busy   int     `json:"busy,omitempty"`   // rounds left out because others used the cores

	Goal   Goal    `json:"goal"`
	Target float64 `json:"target"`
	Missed string  `json:"missed,omitempty"` // why the target is not met, whatever the Value
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
	case r.Error != "" || r.Missed != "":
		return false
	case r.Goal == AtLeast:
		return r.Value >= r.Target
	case r.Goal == AtMost:
		return r.Value <= r.Target
	}
	return true
}

// Verdict is the row's last column.
func (r *Row) Verdict() string {
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

// heads are those of the columns; a table with ratios has more.
func heads(ratios bool) []string {
	if ratios {
		return []string{"what", "ours", "beside", "value", "(min..max)", "target", ""}
	}
	return []string{"what", "value", "target", ""}
}

func (r *Row) cells(ratios bool) []string {
	ours, beside, value, span, target := "", "", r.figure(r.Value), "", "-"
	switch {
	case r.Error != "":
		value = "-"
	case r.Beside != "":
		ours, beside = r.Ours, r.Beside
		value, span = fmt.Sprintf("%.2f", r.Value), fmt.Sprintf("(%.2f..%.2f)", r.Low, r.High)
	}
	switch r.Goal {
	case AtLeast:
		target = ">= " + r.figure(r.Target)
	case AtMost:
		target = "<= " + r.figure(r.Target)
	}
	if ratios {
		return []string{r.What, ours, beside, value, span, target, r.Verdict()}
	}
	return []string{r.What, value, target, r.Verdict()}
}

// note is what stands below a row.
func (r *Row) note() string {
	if r.Error != "" {
		return "error: " + strings.ReplaceAll(r.Error, "\n", "; ")
	}
	return r.Notes
}
