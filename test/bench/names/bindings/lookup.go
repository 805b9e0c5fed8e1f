// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/test/bench/load"
)

// perRound is the number of look-ups between two looks at the clock.
const perRound = 1 << 14

// A Lookups looks random keys up in a table and in a map of the same keys.
type Lookups struct {
	tab          *naming.Table
	kept         map[frame.Service]frame.SocketAddr
	ask          []frame.Service
	r            *rand.Rand
	ours, theirs []float64 // ns of a look-up, round by round
	mallocs      uint64
	sink         uint32 // keeps the loops
}

// NewLookups fills a table and a map; n is as for Shape.Make.
func NewLookups(s Shape, n uint32) (*Lookups, error) {
	ranges, keys := s.Make(n)
	tab, err := Fill(ranges)
	if err != nil {
		return nil, err
	}
	l := &Lookups{tab: tab, kept: map[frame.Service]frame.SocketAddr{}, ask: make([]frame.Service, perRound), r: rand.New(rand.NewPCG(5, 6))}
	for _, k := range keys {
		l.kept[k] = frame.SocketAddr{Port: k.Instance, Node: 1}
	}
	for i := range l.ask {
		l.ask[i] = keys[l.r.IntN(len(keys))]
	}
	return l, nil
}

// Round looks all keys up once in each.
func (l *Lookups) Round() error {
	l.r.Shuffle(len(l.ask), func(i, j int) { l.ask[i], l.ask[j] = l.ask[j], l.ask[i] })
	tableFirst := len(l.ours)%2 == 0 // who is first fetches more from memory
	if tableFirst {
		if err := l.table(); err != nil {
			return err
		}
	}
	if err := l.goMap(); err != nil {
		return err
	}
	if !tableFirst {
		return l.table()
	}
	return nil
}

func (l *Lookups) table() error {
	var m load.Mallocs
	m.Begin()
	begin := time.Now()
	for _, k := range l.ask {
		x, ok := l.tab.Choose(k)
		if !ok {
			return fmt.Errorf("%v is not found", k)
		}
		l.sink += x.Socket().Port
	}
	took := time.Since(begin)
	l.mallocs += m.End()
	l.ours = append(l.ours, float64(took)/perRound)
	return nil
}

func (l *Lookups) goMap() error {
	begin := time.Now()
	for _, k := range l.ask {
		x, ok := l.kept[k]
		if !ok {
			return fmt.Errorf("%v is not in the map", k)
		}
		l.sink += x.Port
	}
	l.theirs = append(l.theirs, float64(time.Since(begin))/perRound)
	return nil
}

// LookupFigures are what look-ups cost, in ns: the medians of the rounds, and those of the
// fastest rounds, which nothing else on the machine disturbed.
type LookupFigures struct {
	Table, Map         float64
	BestTable, BestMap float64
	Mallocs            float64 // a look-up in the table
}

// Figures returns what the rounds so far have found; there is at least one.
func (l *Lookups) Figures() LookupFigures {
	ours, theirs := slices.Sorted(slices.Values(l.ours)), slices.Sorted(slices.Values(l.theirs))
	return LookupFigures{
		Table: ours[len(ours)/2], Map: theirs[len(theirs)/2], BestTable: ours[0], BestMap: theirs[0],
		Mallocs: float64(l.mallocs) / float64(perRound*len(ours)),
	}
}
