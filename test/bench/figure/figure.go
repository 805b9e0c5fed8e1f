// SPDX-License-Identifier: Apache-2.0

// Package figure is what a measurement has found, before anybody looks at it: curves,
// tables, and what was read off them; and the ways to look at it.
//
//	Report ─┬─ Section ─┬─ Figure ── Series ── Point      a plot
//	        │           └─ Table ── Row                   what is no curve
//	        └─ Loss                                       a cell in which another system is better
//
// A Report is looked at in four ways: Text prints it on a terminal, Write keeps it as
// JSON, as one page (HTML), as a document (Markdown) and as a picture for each Figure (SVG);
// Load reads the JSON, so that all can be written again. Unit.Text is the one place that
// prints values.
package figure

import "time"

// A Report is one run of utipc-lab bench report, or of one kind of measurement.
type Report struct {
	Title    string        `json:"title"`
	Command  string        `json:"command"`
	Commit   string        `json:"commit"` // of the program; "unknown" where the build does not say
	Machine  Machine       `json:"machine"`
	Place    string        `json:"place"` // where the two ends are: two namespaces, two hosts, this process
	Plan     string        `json:"plan"`  // rounds and times, in words
	Began    time.Time     `json:"began"`
	Took     time.Duration `json:"took"`
	Others   float64       `json:"others"` // share of all cores that others used
	Warnings []string      `json:"warnings,omitempty"`
	Sections []Section     `json:"sections"`
	Losses   []Loss        `json:"losses,omitempty"`
}

// A Machine is where a run was made.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory uint64 `json:"memory"` // bytes
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
}

// A Section is one kind of measurement.
type Section struct {
	ID      string   `json:"id"` // the kind's name: latency, throughput
	Title   string   `json:"title"`
	How     string   `json:"how"`            // it is measured: paragraphs, parted by empty lines
	Says    []string `json:"says,omitempty"` // what is read off it, a sentence each
	Figures []Figure `json:"figures,omitempty"`
	Tables  []Table  `json:"tables,omitempty"`
	Errors  []string `json:"errors,omitempty"` // what could not be measured, and why
}

// A Figure is a plot of curves over a common x.
type Figure struct {
	ID     string   `json:"id"` // within the report, fit for a file's name
	Title  string   `json:"title"`
	X      Axis     `json:"x"`
	Y      Axis     `json:"y"`
	Series []Series `json:"series"`
	// Ticks, if there are any, are the names of x = 0, 1, 2 …: a bar chart, with a bar
	// for each of Series in each group.
	Ticks []string `json:"ticks,omitempty"`
}

// An Axis is one of a Figure's two.
type Axis struct {
	Label string `json:"label"`
	Unit  Unit   `json:"unit"`
	Log   bool   `json:"log,omitempty"`
}

// A Unit says how a value is printed; values are in the unit itself, unscaled.
type Unit string

const (
	Plain          Unit = ""      // a number
	Seconds        Unit = "s"     // printed as ns, us, ms, s
	Bytes          Unit = "B"     // printed as B, KiB, MiB
	BitsPerSecond  Unit = "bit/s" // printed as kbit/s, Mbit/s, Gbit/s
	BytesPerSecond Unit = "B/s"   // of processor time, too; printed as kB/s, MB/s, GB/s
	PerSecond      Unit = "/s"    // printed as k/s, M/s
	Percent        Unit = "%"     // 100 is all
	Ratio          Unit = "x"     // how many times
)

// A Series is a curve.
type Series struct {
	Name   string  `json:"name"`
	Ours   bool    `json:"ours,omitempty"` // of this stack
	Points []Point `json:"points"`
}

// A Point is the median over rounds, and the smallest and largest.
type Point struct {
	X    float64   `json:"x"`
	Y    float64   `json:"y"`
	Low  float64   `json:"low"`
	High float64   `json:"high"`
	Raw  []float64 `json:"raw,omitempty"` // each round's, in their order
}

// A Table is rows of values; its first column is a name.
type Table struct {
	ID    string   `json:"id"`
	Title string   `json:"title"`
	Heads []string `json:"heads"` // the first is that of the names
	Rows  []Row    `json:"rows"`
}

// A Row is a line of a Table.
type Row struct {
	Name  string `json:"name"`
	Ours  bool   `json:"ours,omitempty"`
	Cells []Cell `json:"cells"` // one less than Heads
	Note  string `json:"note,omitempty"`
}

// A Cell is a value with its unit, or a word.
type Cell struct {
	Value float64   `json:"value"`
	Unit  Unit      `json:"unit,omitempty"`
	Low   float64   `json:"low,omitempty"`
	High  float64   `json:"high,omitempty"`
	Raw   []float64 `json:"raw,omitempty"`
	Word  string    `json:"word,omitempty"` // printed instead
}

// A Loss is a cell of the report in which another system is better than this one.
type Loss struct {
	Section string  `json:"section"`
	Where   string  `json:"where"` // in words: what, which size, which conditions
	Ours    string  `json:"ours"`  // name and value
	Theirs  string  `json:"theirs"`
	Times   float64 `json:"times"`            // how many times as good theirs is
	Reason  string  `json:"reason,omitempty"` // why, and what would change it
}
