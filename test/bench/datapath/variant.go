// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/station"
)

// A Set is variants that take turns.
type Set struct {
	Name     string
	Variants []station.Variant
	Times    int // how many times as long as others it is measured; 0: once
	// Twice names the variant whose end 0 offers twice the rate that was delivered at
	// another in the same round, and that other.
	Twice [2]string
	// Profiled are variants that have CPU profiles made of them when they are asked for.
	Profiled []string
}

// A Sheet is a table: its rows, and the sets they are of.
type Sheet struct {
	Rows func() []Row
	Sets func() []Set
	More []Single // the last rows
}

// A Single is a row that is one figure, measured in this process.
type Single struct {
	ID      string
	What    string
	Unit    string
	Most    float64 // the target; 0: none
	None    bool    // the target is 0
	Measure func(ctx context.Context, o Options) (Figure, error)
}

// A Figure is what a Single has measured.
type Figure struct {
	Value float64
	Note  string
}

// text prints the figure with its unit.
func (f Figure) text(unit string) string {
	if f.Value >= 100 || f.Value == float64(int(f.Value)) {
		return strings.TrimSpace(fmt.Sprintf("%.0f %s", f.Value, unit))
	}
	return strings.TrimSpace(fmt.Sprintf("%.3g %s", f.Value, unit))
}

func (s Single) line(ctx context.Context, o Options) Line {
	l := Line{ID: s.ID, What: s.What, Beside: "-", Target: "-"}
	switch {
	case s.None:
		l.Judged, l.Target = true, "0"
	case s.Most > 0:
		l.Judged, l.Target = true, fmt.Sprintf("<= %g %s", s.Most, s.Unit)
	}
	v, err := s.Measure(ctx, o)
	if err != nil {
		l.Error = err.Error()
		return l
	}
	l.Ours, l.Met, l.Notes = v.text(s.Unit), v.Value <= s.Most, v.Note
	return l
}

// The tables of utipc-lab bench datapath and utipc-lab bench sockets.
var (
	Datapath = Sheet{Rows: Rows, Sets: Sets}
	Sockets  = Sheet{Rows: SocketRows, Sets: SocketSets, More: socketFigures}
)

// A Plan says how much is measured.
type Plan struct {
	Rounds int
	For    time.Duration // of one measurement, warming up not counted
	// Wait is how long to wait in all for others to leave the cores alone.
	Wait time.Duration
}

// Plans of the command.
var (
	Short = Plan{Rounds: 7, For: 250 * time.Millisecond, Wait: 30 * time.Second}
	Full  = Plan{Rounds: 11, For: time.Second, Wait: 10 * time.Minute}
)

// An Outcome is all that was measured of a variant.
type Outcome struct {
	Set     string        `json:"set"`
	Variant string        `json:"variant"`
	MTU     int           `json:"mtu"`
	Infos   [2]load.Info  `json:"infos"`
	Runs    []station.Run `json:"runs"`
	Error   string        `json:"error,omitempty"` // why there are no more
	// Missing means that the Error is the machine's: it has not what is measured.
	Missing bool `json:"missing,omitempty"`
}

// round returns the run of a round.
func (o *Outcome) round(n int) (station.Run, bool) {
	for _, r := range o.Runs {
		if r.Round == n {
			return r, true
		}
	}
	return station.Run{}, false
}
