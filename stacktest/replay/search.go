// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"maps"
	"slices"
)

// Bounds of the search for the order in which frames arrived.
const (
	maxRuns = 4000
	maxBack = 6  // how many frames before a difference may have come behind it,
	maxRush = 20 // or so many, of those recorded behind the last but one own frame
)

// Replay replays one node of a capture. Errors: ErrNode, ErrMiddle, ErrSilent,
// ErrNotBuilt, and engine.ErrConfig for a node that cannot be. That answers do not
// agree is no error, but the Verdict's Diff.
func Replay(c *Capture, o Options) (*Verdict, error) {
	s, err := newSide(c, o)
	if err != nil {
		return nil, err
	}
	x := search{side: s}
	best, err := x.from(plan{})
	if err != nil {
		return nil, err
	}
	if best.diff != nil && isLink(best.diff.Recorded) {
		s.overtaking = true
		if best, err = x.from(best.plan); err != nil {
			return nil, err
		}
	}
	if best.diff != nil {
		best.diff.At -= s.shift
	}
	v := &Verdict{Node: Station{MAC: s.station.MAC, MACs: s.station.MACs, Addr: best.run.eng.Address()}, Notes: s.notes, Runs: x.runs, Of: len(s.own), Diff: best.diff}
	r := best.run
	v.Sent, v.Received, v.Calls = r.compared, len(r.fed), r.stats.calls
	v.Sealed, v.Whole = r.stats.sealed, r.stats.whole
	v.Timers, v.Latest, v.Allowed = r.stats.timers, r.stats.latest, r.stats.allowed
	for _, x := range r.fed {
		if x.compared > 0 && s.own[x.compared-1].At > s.in[x.in].At {
			v.Late++
		}
	}
	return v, nil
}

// A search finds a plan by which everything agrees.
type search struct {
	*side
	runs int
}

type result struct {
	run  *run
	diff *Difference
	plan plan
}

func (x *search) try(p plan) (result, error) {
	x.runs++
	r, err := newRun(x.side, p)
	if err != nil {
		return result{}, err
	}
	defer r.free() // frames that are compared are copies
	return result{r, r.all(), p}, nil
}

// from replays by a plan, and from the first difference on by others that let
// the last frames before it arrive later. It returns the replay that came
// farthest.
func (x *search) from(p plan) (result, error) {
	best, err := x.try(p)
	if err != nil {
		return best, err
	}
	return x.improve(best)
}

func (x *search) improve(from result) (result, error) {
	best := from
	if from.diff == nil {
		return best, nil
	}
	var better []result
	for _, p := range x.others(from) {
		if x.runs >= maxRuns {
			break
		}
		r, err := x.try(p)
		if err != nil {
			return best, err
		}
		if r.diff == nil {
			return r, nil
		}
		if r.diff.compared > from.diff.compared {
			better = append(better, r)
		}
	}
	slices.SortStableFunc(better, func(a, b result) int { return b.diff.compared - a.diff.compared })
	for _, r := range better {
		r, err := x.improve(r)
		if err != nil || r.diff == nil {
			return r, err
		}
		if r.diff.compared > best.diff.compared {
			best = r
		}
		if x.runs >= maxRuns {
			break
		}
	}
	return best, nil
}

// others returns plans that let one of the last frames received before a
// difference, and all behind it, arrive behind the own frame there, or one of the
// two before that.
func (x *search) others(from result) []plan {
	k := from.diff.compared // own frames before the difference
	var all []plan
	fed := from.run.fed
	for back := 1; back <= maxRush && back <= len(fed); back++ {
		if back > maxBack && (k < 2 || x.in[fed[len(fed)-back].in].No < x.own[k-2].No) {
			break
		}
		i, after := fed[len(fed)-back].in, fed[len(fed)-back].compared
		for _, to := range []int{k + 1, k, k - 1} {
			if to <= after || to > len(x.own) || x.own[to-1].At-x.in[i].At > ArrivesWithin {
				continue
			}
			p := maps.Clone(from.plan)
			p[i] = to
			all = append(all, p)
		}
	}
	return all
}
