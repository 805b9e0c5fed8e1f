// SPDX-License-Identifier: Apache-2.0

package cores

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"time"

	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/xdp"
)

// Options say what is measured and how.
type Options struct {
	Plan     Plan
	Only     *regexp.Regexp // of sets, those to measure; nil: all
	Driver   xdp.Config     // of interfaces
	Progress io.Writer
}

// A Plan says how much is measured.
type Plan struct {
	Rounds     int           // of each point, at least
	For        time.Duration // of a round
	Samples    int           // of the sending node's processor time, at least: else there are more rounds
	Goroutines []int         // of the points
}

// Plans.
var (
	Short = Plan{Rounds: 1, For: 200 * time.Millisecond, Samples: 20, Goroutines: []int{1, 2, 8}}
	Full  = Plan{Rounds: 5, For: 500 * time.Millisecond, Samples: 200, Goroutines: []int{1, 2, 3, 4, 6, 8}}
)

// A shape is how the goroutines of a point send.
type shape struct {
	own   bool // on a socket each, else on one
	peers int  // that each sends to by turns
}

var shapes = []shape{{true, 1}, {false, 1}, {true, 2}, {false, 2}}

func (s shape) id(goroutines int) string {
	socket, peers := "one", "peer"
	if s.own {
		socket = "own"
	}
	if s.peers > 1 {
		peers = "peers"
	}
	return fmt.Sprintf("%s-%d%s-%d", socket, s.peers, peers, goroutines)
}

func (s shape) what(goroutines int) string {
	from, to, who := "one socket", "one peer", "goroutines"
	if s.own {
		from = "a socket each"
	}
	if s.peers > 1 {
		to = fmt.Sprintf("%d peers by turns", s.peers)
	}
	if goroutines == 1 {
		who = "goroutine"
	}
	return fmt.Sprintf("%d %s, %s, to %s", goroutines, who, from, to)
}

// A point is what was measured of a shape with so many goroutines.
type point struct {
	shape
	goroutines int
	rates      []float64 // messages a second, of each round
	messages   float64   // of all rounds
	cpu        time.Duration
	samples    samples
}

// points are those of a plan, in the order of the table.
func (p Plan) points() (all []*point) {
	for _, s := range shapes {
		for _, g := range p.Goroutines {
			all = append(all, &point{shape: s, goroutines: g})
		}
	}
	return all
}

// share is the time of a message that n of all samples are of, in ns, and the error that comes
// of the number of samples: a standard deviation.
func (p *point) share(n int) (ns, deviation float64) {
	all := float64(p.samples.all)
	if all == 0 || p.messages == 0 {
		return 0, 0
	}
	each := float64(p.cpu) / p.messages
	part := float64(n) / all
	return each * part, each * math.Sqrt(part*(1-part)/all)
}

// rows are the point's rows of the table: a rate, and how long the lock is held for a message.
func (p *point) rows(set string) []sheet.Row {
	sender, _ := p.share(p.samples.sender)
	all, _ := p.share(p.samples.all)
	held, deviation := p.share(p.samples.held)
	rate := sheet.Row{
		ID: set + "-" + p.id(p.goroutines), What: p.what(p.goroutines), Value: sheet.Median(p.rates) / 1000, Unit: "k/s", Rounds: len(p.rates),
		Notes: fmt.Sprintf("processor time of a message: %.0f ns of the sending node, %.0f with its peers", sender, all),
	}
	lock := sheet.Row{ID: rate.ID + "-lock", What: "the lock is held for a message", Value: held, Unit: "ns"}
	if held > 0 {
		lock.Notes = fmt.Sprintf("+- %.0f ns, from %d samples; %.0f %% of the node's time; however many cores, at most %.2f M/s", deviation, p.samples.all, 100*held/sender, 1000/held)
	} else {
		lock.Error = fmt.Sprintf("none of %d samples held the lock", p.samples.all)
	}
	return []sheet.Row{rate, lock}
}
