// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"errors"
	"time"

	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/station"
)

// Report measures kinds, one after the other. What could not be measured stands in the
// sections; when the Context is done, there are as many sections as were measured.
func (b *Bench) Report(title string, kinds []Kind) *figure.Report {
	r := &figure.Report{Title: title, Machine: thisMachine(), Plan: b.Plan.String(), Place: "this process", Began: time.Now()}
	if b.Site != nil {
		r.Place = b.Site.String()
	}
	before := b.Site.Usage()
	for _, k := range kinds {
		b.say("%s", k.Title)
		s, err := b.Measure(k)
		if errors.Is(err, ErrNoEnds) {
			s = figure.Section{ID: k.Name, Title: k.Title, How: k.How, Errors: []string{err.Error()}}
		}
		r.Sections = append(r.Sections, s)
		if b.Context.Err() != nil {
			r.Warnings = append(r.Warnings, "interrupted: there is more to measure")
			break
		}
	}
	r.Took, r.Others, r.Losses = time.Since(r.Began), b.Site.Usage().Others(before), b.Losses
	if r.Others > station.Busy {
		r.Warnings = append(r.Warnings, "other programs used "+figure.Percent.Text(100*r.Others)+" of the cores meanwhile: the figures are doubtful")
	}
	return r
}

func thisMachine() figure.Machine {
	m := station.ThisMachine([2]int{})
	return figure.Machine{CPU: m.CPU, Cores: m.Cores, Memory: m.Memory, Kernel: m.Kernel, Go: m.Go}
}
