// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/stack/carrier/fault"
)

// A parting is a way to lose one of two lines, and to get it back.
type parting struct {
	name        string
	target      time.Duration // without a message
	cut, repair func(p *pair, line int)
}

const (
	defaultTolerance = impatient
	defaultInterval  = defaultTolerance / 4
	failoverTarget   = 50 * time.Millisecond
)

var partings = []parting{
	{"carrier lost", failoverTarget, func(p *pair, i int) {
		p.atBoth(func(s station) error { return s.unplug(i) })
	}, func(p *pair, i int) {
		p.atBoth(func(s station) error { return s.plug(i) })
	}},
	{"bearer disabled", failoverTarget, func(p *pair, i int) {
		k := p.ends[1].(*theirs)
		must(p.t, k.guest.DisableBearer(p.ctx, ifaces[i]))
	}, func(p *pair, i int) {
		k := p.ends[1].(*theirs)
		must(p.t, k.guest.EnableBearer(p.ctx, ifaces[i]))
	}},
	{"our bearer disabled", failoverTarget, func(p *pair, i int) {
		must(p.t, p.ends[0].(*ours).node.Admin().DisableBearer(p.ctx, ifaces[i]))
	}, func(p *pair, i int) {
		must(p.t, p.ends[0].(*ours).enable(i))
	}},
	{"silent cut", defaultTolerance + 2*defaultInterval + failoverTarget, func(p *pair, i int) {
		p.lines[i].Cut()
		must(p.t, p.tolerate(i, impatient)) // each is silent to the other, and nobody else tells of it
	}, func(p *pair, i int) {
		must(p.t, p.tolerate(i, patient))
		p.lines[i].Set(fault.Config{})
	}},
}

// Two links carry four streams, two each way. Each line is lost in each way and
// comes back: nothing is lost, doubled or reordered, and the longest time in which
// a stream brings nothing is printed beside the target. Ours fails where silence had to tell
// it what its own device or the peer had told.
//
// Proves: link.failover, socket.bearers
func TestFailover(t *testing.T) {
	for _, name := range pairs {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, name, 2, 15*time.Minute)
			streams := p.fourStreams()
			for _, part := range partings {
				for line := range p.lines {
					if part.name == "our bearer disabled" && !p.us() {
						continue
					}
					if line == 0 || p.us() { // one line will do to see what kernels do
						p.part(part, line, streams)
					}
				}
			}
			endAll(streams)
		})
	}
}

// The same with a link that stands by, because the other has a higher priority, which
// is given to it while both are up.
//
// Proves: link.failover
func TestStandby(t *testing.T) {
	for _, name := range pairs {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, name, 2, 15*time.Minute)
			kernel := p.ends[1].(*theirs)
			streams := p.fourStreams()
			// A kernel says its new priority in one STATE, which nothing repeats: on a line
			// that loses frames, as a full one does, it has to be told again.
			p.untilTold(func() {
				must(t, kernel.guest.SetLink(p.ctx, kernel.links(t)[0].name, "priority", 20))
			}, func() bool {
				return !slices.ContainsFunc(p.ends[:], func(s station) bool {
					l := s.links(t)
					return len(l) != 2 || !l[0].up || !l[0].active || !l[1].up || l[1].active
				})
			}, "both stations have an active link and one that stands by")
			for line := range p.lines {
				if line == 0 || p.us() {
					p.part(partings[0], line, streams)
				}
			}
			endAll(streams)
		})
	}
}

// fourStreams are two each way, of which each link gets one if both are active.
func (p *pair) fourStreams() (all []*stream) {
	const pace = 4 * time.Millisecond // kernels without time to spare would hide the gap
	for from := range p.ends {
		for parity := range 2 {
			all = append(all, p.stream(from, parity, pace))
		}
	}
	return all
}

func endAll(streams []*stream) {
	for _, s := range streams {
		s.p.t.Helper()
		r, _ := s.end()
		s.p.t.Logf("from station %d: %d messages, %s", s.from, r.Messages, rate(r.Goodput()))
	}
}

// part loses a line and gets it back, under the streams.
func (p *pair) part(part parting, line int, streams []*stream) {
	p.t.Helper()
	const settled = 300 * time.Millisecond
	gap := func() (longest time.Duration) {
		for _, s := range streams {
			longest = max(longest, s.mark(p.t).Gap)
		}
		return longest
	}
	p.run(settled)
	before := gap()
	part.cut(p, line)
	p.linksAre(1)
	p.run(settled)
	during := gap()
	// What is still on its way over the other link is late: messages over the new
	// one must not overtake it.
	late := fault.Faults{Loss: 0.05}
	p.lines[1-line].Set(fault.Config{Seed: 7, In: late, Out: late})
	part.repair(p, line)
	p.linksAre(2)
	p.run(settled)
	p.lines[1-line].Set(fault.Config{})
	after := gap()
	p.t.Logf("%s, %s: nothing for %v (target %v), %v before, %v as it came back", part.name, ifaces[line],
		ms(during), part.target, ms(before), ms(after))
	if p.us() && part.target == failoverTarget && during >= patient-patient/4 {
		p.t.Errorf("%s, %s: nothing came for %v", part.name, ifaces[line], during)
	}
}

func ms(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
