// SPDX-License-Identifier: Apache-2.0

//go:build linux

package mpi

import (
	"slices"

	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/rounds"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/station"
)

// counted are the values that count, as a report's Take's.
func (t *take) counted(k key) []found {
	all := t.found[k]
	quiet := slices.DeleteFunc(slices.Clone(all), func(f found) bool { return f.others > station.Busy })
	if !rounds.Enough(len(quiet), len(all)) {
		return all
	}
	return quiet
}

// A figureOf is what is taken of a result: its value, or the median of its steps.
type figureOf func(Result) (float64, figure.Unit)

func whole(r Result) (float64, figure.Unit) { return r.Value, r.Unit }
func step(r Result) (float64, figure.Unit)  { return r.P50, figure.Seconds }

// values are those of a key.
func (t *take) values(k key) (v []float64, unit figure.Unit) {
	for _, f := range t.counted(k) {
		v, unit = append(v, f.Value), f.Unit
	}
	return v, unit
}

// base is the key that one is compared with; false: it is that itself.
func base(k key) (key, bool) {
	name := Ways[k.way].Base
	if name == "" {
		return k, false
	}
	k.way = slices.IndexFunc(Ways, func(w Way) bool { return w.Name == name })
	return k, true
}

// ratios are how many times as fast a way is as its base, one for each round that has both.
func (t *take) ratios(k key, of figureOf) (v []float64) {
	other, ok := base(k)
	if !ok {
		return nil
	}
	theirs := map[int]float64{}
	for _, f := range t.counted(other) {
		theirs[f.round], _ = of(f.Result)
	}
	for _, f := range t.counted(k) {
		b := theirs[f.round]
		switch a, unit := of(f.Result); {
		case a <= 0 || b <= 0:
		case unit == figure.Seconds:
			v = append(v, b/a)
		default:
			v = append(v, a/b)
		}
	}
	return v
}

// ahead are ratios in percent: 0 is as fast as the base.
func ahead(ratios []float64) (percent []float64) {
	for _, r := range ratios {
		percent = append(percent, 100*(r-1))
	}
	return percent
}

// least is how many times as fast a way is as its base: of its values and its median steps the lesser, as the mean of a few steps that
// others have interrupted says little. False: it was not measured, or is the base.
func (t *take) least(k key) (ratio float64, ok bool) {
	v, steps := t.ratios(k, whole), t.ratios(k, step)
	if ratio = sheet.Median(v); len(steps) > 0 {
		ratio = min(ratio, sheet.Median(steps))
	}
	return ratio, len(v) > 0
}

// A goal is what a result over this stack is to reach: so many times as fast as its base.
type goal struct {
	name string
	burn bool
	mtu  int
	at   float64
}

// goals are those of kernels, for every way of ours.
var goals = []goal{
	{"halo 79", false, 1500, 1.15},
	{"halo 162", false, 1500, 1.15},
	{"cg 700", false, 1500, 1.15},
	{"halo 79", true, 1500, 1.08},
	{"halo 162", true, 1500, 1.08},
	{"cg 700", true, 1500, 1.08},
	{"intsort 65536", false, 9000, 1},
}

// judge says of a goal whether it is met, in a layout of one rank a host; "": it was not measured.
func (t *take) judge(k key, g goal) (verdict string, ratio float64) {
	l := &layouts[k.layout]
	if k.program != "" || l.each != 1 || l.mtu != g.mtu || k.burn != g.burn || k.name != g.name {
		return "", 0
	}
	ratio, ok := t.least(k)
	switch {
	case !ok:
		return "", 0
	case ratio >= g.at:
		return "ok", ratio
	}
	return "MISS", ratio
}
