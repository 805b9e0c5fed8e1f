// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/station"
)

// An Outcome is all that was measured of a variant.
type Outcome struct {
	Set     string        `json:"set"`
	Variant string        `json:"variant"`
	MTU     int           `json:"mtu"`
	Opened  bool          `json:"opened"` // it could be
	Infos   [2]load.Info  `json:"infos"`  // what the ends say of themselves
	Runs    []station.Run `json:"runs"`
	Error   string        `json:"error,omitempty"` // why there are no more
	// Missing means that the Error is the machine's, or the site's: it has not what is measured.
	Missing bool `json:"missing,omitempty"`
}

// Run returns the run of an exchange in a round.
func (o *Outcome) Run(exchange, round int) (station.Run, bool) {
	for _, r := range o.Runs {
		if r.Exchange == exchange && r.Round == round {
			return r, true
		}
	}
	return station.Run{}, false
}

// Enough reports whether so many quiet rounds of all are enough to leave out the others.
func Enough(quiet, all int) bool { return 2*quiet >= all }

// Quiet returns the rounds in which all outcomes have a run of an exchange, and in which other
// programs left the cores alone. When that leaves fewer than half, it is all rounds that they
// have; busy is how many were left out.
func Quiet(exchange int, outcomes ...*Outcome) (rounds []int, busy int) {
	var all []int
	for _, x := range outcomes[0].Runs {
		if x.Exchange != exchange {
			continue
		}
		others, everywhere := x.Others, true
		for _, o := range outcomes[1:] {
			y, ok := o.Run(exchange, x.Round)
			others, everywhere = max(others, y.Others), everywhere && ok
		}
		if !everywhere {
			continue
		}
		all = append(all, x.Round)
		if others <= station.Busy {
			rounds = append(rounds, x.Round)
		}
	}
	if !Enough(len(rounds), len(all)) {
		return all, 0
	}
	return rounds, len(all) - len(rounds)
}
