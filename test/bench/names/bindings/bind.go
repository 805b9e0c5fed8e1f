// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/quantile"
	"github.com/utipc/utipc/naming"
)

// A Binds binds one range more to a table and unbinds it.
type Binds struct {
	tab          *naming.Table
	one          func(r *rand.Rand) frame.Range
	r            *rand.Rand
	events       []naming.Event
	bind, unbind []float64 // ns
}

// NewBinds fills a table; n is as for Shape.Make.
func NewBinds(s Shape, n uint32) (*Binds, error) {
	ranges, _ := s.Make(n)
	tab, err := Fill(ranges)
	if err != nil {
		return nil, err
	}
	return newBinds(tab, s.more), nil
}

// NewManyBinds is NewBinds for one range that a node has bound as often as it may, but once.
func NewManyBinds() *Binds {
	tab := naming.NewTable(Own)
	for i := range uint32(naming.MaxBindings - 1) {
		tab.Insert(naming.Binding{Range: single(100, 5), Socket: frame.SocketAddr{Port: i, Node: remote}, Key: i})
	}
	tab.TakeEvents(nil)
	return newBinds(tab, func(*rand.Rand) frame.Range { return single(100, 5) })
}

func newBinds(tab *naming.Table, one func(r *rand.Rand) frame.Range) *Binds {
	return &Binds{tab: tab, one: one, r: rand.New(rand.NewPCG(7, 8)), events: make([]naming.Event, 0, 16)}
}

// Round binds once and unbinds once.
func (b *Binds) Round() error {
	x := naming.Binding{Range: b.one(b.r), Scope: frame.ClusterScope, Socket: frame.SocketAddr{Port: 1 << 20, Node: remote}, Key: 1 << 20}
	begin := time.Now()
	bound := b.tab.Insert(x)
	middle := time.Now()
	gone := b.tab.Remove(x)
	end := time.Now()
	if !bound || !gone {
		return fmt.Errorf("%v: bound %v, unbound %v", x, bound, gone)
	}
	b.events = b.tab.TakeEvents(b.events[:0])
	b.bind = append(b.bind, float64(middle.Sub(begin)))
	b.unbind = append(b.unbind, float64(end.Sub(middle)))
	return nil
}

// BindFigures are what it costs to bind and to unbind, in ns: medians, and what 99 of 100
// rounds stay below.
type BindFigures struct{ Bind, BindP99, Unbind, UnbindP99 float64 }

// Figures returns what the rounds so far have found; there is at least one.
func (b *Binds) Figures() BindFigures {
	bind, unbind := slices.Sorted(slices.Values(b.bind)), slices.Sorted(slices.Values(b.unbind))
	return BindFigures{quantile.Of(bind, 0.5), quantile.Of(bind, 0.99), quantile.Of(unbind, 0.5), quantile.Of(unbind, 0.99)}
}
