// SPDX-License-Identifier: Apache-2.0

// Package metrics writes the text format that Prometheus reads (version 0.0.4).
//
// The client library of Prometheus keeps counters of its own in a registry, with a dozen
// modules behind it; here the counters are the node's, and are read when somebody asks.
// What is left of the library's work is this file.
package metrics

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// ContentType is that of the text.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// MaxSeries is how many series one family may have; what comes beyond is counted in
// utipc_metrics_left_out. Else a large cluster, or one that somebody makes up, would make
// a reader's memory grow.
const MaxSeries = 2048

// A Kind is what may happen to a value.
type Kind string

// Kinds.
const (
	Counter Kind = "counter" // only grows, from the node's start
	Gauge   Kind = "gauge"   // goes up and down
)

// A Text is what is written. The zero value is ready to use.
type Text struct {
	b       bytes.Buffer
	family  string
	series  int
	leftOut map[string]int
	order   []string
}

// Family begins a family of series: its name, what it is in a line, and how it moves.
func (t *Text) Family(name string, k Kind, help string) {
	t.family, t.series = name, 0
	t.b.WriteString("# HELP " + name + " " + escape(help, false) + "\n# TYPE " + name + " " + string(k) + "\n")
}

// Value writes a series of the family: its value, and names and values of labels in turn.
func (t *Text) Value(v float64, labels ...string) {
	if t.series++; t.series > MaxSeries {
		if t.leftOut == nil {
			t.leftOut = map[string]int{}
		}
		if t.leftOut[t.family] == 0 {
			t.order = append(t.order, t.family)
		}
		t.leftOut[t.family]++
		return
	}
	t.b.WriteString(t.family)
	for i := 0; i+1 < len(labels); i += 2 {
		t.b.WriteByte("{,"[min(i, 1)])
		t.b.WriteString(labels[i] + `="` + escape(labels[i+1], true) + `"`)
	}
	if len(labels) > 1 {
		t.b.WriteByte('}')
	}
	t.b.WriteString(" " + number(v) + "\n")
}

// Bytes ends the text and returns it.
func (t *Text) Bytes() []byte {
	if len(t.order) > 0 {
		left, order := t.leftOut, t.order
		t.leftOut, t.order = nil, nil
		t.Family("utipc_metrics_left_out", Gauge, "Series beyond the most that are told of one family.")
		for _, name := range order {
			t.Value(float64(left[name]), "family", name)
		}
	}
	return t.b.Bytes()
}

func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// escape writes what would end the line, or the label, so that it does not. What is no
// UTF-8 becomes U+FFFD.
func escape(s string, label bool) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if label {
		return labelEscapes.Replace(s)
	}
	return helpEscapes.Replace(s)
}
