// SPDX-License-Identifier: Apache-2.0

package poll

import "time"

// What spinning costs and earns. A sleep's end is late by the time a halted core
// takes to wake, some 25 to 50 µs on a virtual machine: who spins up to about
// that long never pays more than twice what the best choice would have cost.
const (
	shortSpin   = 50 * time.Microsecond  // how long a leader spins that trusts in spinning
	longSpin    = 150 * time.Microsecond // how long one spins that tries whether it would pay
	saved       = 25 * time.Microsecond  // what a spin earns that made a sleep needless
	fullBudget  = 16 * shortSpin         // the most that spins in vain may cost in a row
	trialBudget = fullBudget / 2         // what a try that paid off puts in
	trySpin     = 2 * longSpin           // the length of tries in a row that neither paid nor failed
	tryShare    = 25                     // such tries take at most one part in so many of the time
	shortWait   = 10 * time.Millisecond  // from when spinning did not pay to the first try
	longWait    = 500 * time.Millisecond // between tries that all failed
	absence     = 400 * time.Microsecond // between two looks: somebody else had the core
	shortRest   = 8 * time.Millisecond   // without spinning, after an absence
	longRest    = 512 * time.Millisecond // the same, when absences go on
	trial       = 250 * time.Millisecond // after a rest; an absence in it makes the next one longer
)

// A spinPolicy decides whether a leader that found nothing looks again at once or
// goes to sleep.
//
//	          ┌──(in vain until the budget is empty)──► doubting ──┐
//	trusting ─┤                                          │        │(in vain: later
//	   ▲      └──(absent)──► resting ──(rest over)──► as before   │ again, ever later)
//	   └───────────────(a try finds frames within shortSpin)──────┘
//
// While trusting, a wait begins with a spin of at most shortSpin. It is paid from
// a budget: one in vain takes out what it cost, one that made a sleep needless puts
// something in. With the budget empty, waits are sleeps but for a rare try. A try
// spins for longer, because the other end may be asleep too: it wakes, answers,
// sleeps again, and both would find sleeping the best they can have for ever.
// What comes late in a try is no reason to trust, but to try on for a little, in
// case that the other end tries as well: then both find the answer in a few
// microseconds.
//
// A leader that was absent between two looks shares its core with somebody, or has
// used up a quota. Spinning makes that worse: the scheduler prefers who sleeps.
// So it rests from spinning, for twice as long each time that happens again.
//
// A stretch of waiting begins with the wait or with the last frame that came, as
// a frame for somebody else speaks for spinning too. a spin policy has no clock and
// no lock: times are arguments, and only the leader uses it. In the modes Sleep and
// Spin it learns nothing.
type spinPolicy struct {
	mode  Mode
	state stretch
	from  time.Duration // when the stretch began
	first time.Duration // the first look in it
	last  time.Duration // the last one, while spinning
	limit time.Duration // of this stretch's spin

	spinBudget time.Duration // what spins in vain may still cost
	next       time.Duration // when to try, with the budget empty
	pause      time.Duration // the last one before a try
	tried      time.Duration // length of the tries in a row that neither paid nor failed

	rested time.Duration // when the last rest ends
	rest   time.Duration // its length
}

// A stretch is how far a leader is in one stretch of waiting.
type stretch uint8

const (
	fresh stretch = iota
	spinning
	sleeping // and when woken without a frame, asleep again
)

// newSpinPolicy makes a spin policy for one leader. quota is the CPU time it may use,
// in cores; 0: no limit. Below one core an adaptive leader never spins: it would
// only use up what it needs to answer.
func newSpinPolicy(mode Mode, quota float64) spinPolicy {
	if mode == Adaptive && quota > 0 && quota < 1 {
		mode = Sleep
	}
	return spinPolicy{mode: mode, spinBudget: fullBudget, pause: shortWait, rest: shortRest, rested: -trial}
}

// look is called by a leader that has waited since then and found nothing, or is
// about to look for the first time. It reports whether to look at once, and again
// if there is nothing; if not, the leader is to sleep.
func (p *spinPolicy) look(now, since time.Duration) (again bool) {
	if p.mode != Adaptive {
		return p.mode == Spin
	}
	if since > p.from {
		p.abandon(since)
	}
	switch {
	case p.state == fresh:
		p.limit = p.allowed(now)
		p.state, p.first = spinning, now
		if now-p.from >= p.limit {
			p.state = sleeping // without having spun
		}
	case p.state == sleeping:
	case p.absent(now):
		p.state = sleeping
	case now-p.from >= p.limit:
		p.inVain(now)
		p.state = sleeping
	}
	p.last = now
	return p.state == spinning
}

// came is called when frames have come, or the leader was roused. At the time of the
// stretch's first look they were there before: no spin was needed.
func (p *spinPolicy) came(now time.Duration) {
	if p.state == spinning && !p.absent(now) && now > p.first {
		p.found(now)
	}
	p.from, p.state = now, fresh
}

// left is called when the leader waits no longer, for a reason of its own or because
// it was roused: a spin it was in was neither in vain nor worth it.
func (p *spinPolicy) left() { p.state = fresh }

// abandon begins a stretch though the last one came to no end: its wait was over
// before.
func (p *spinPolicy) abandon(since time.Duration) {
	if p.state == spinning {
		p.inVain(p.last)
	}
	p.from, p.state = since, fresh
}

// allowed is how long a stretch that begins now may spin.
func (p *spinPolicy) allowed(now time.Duration) time.Duration {
	switch {
	case now < p.rested:
		return 0
	case p.spinBudget > 0:
		return shortSpin
	case now >= p.next:
		return longSpin
	}
	return 0
}

// absent reports whether somebody else had the core since the last look, and
// rests if so.
func (p *spinPolicy) absent(now time.Duration) bool {
	if now-p.last < absence {
		return false
	}
	if now-p.rested < trial {
		p.rest = min(2*p.rest, longRest)
	} else {
		p.rest = shortRest
	}
	p.rested = now + p.rest
	return true
}

// found accounts for a spin that something ended.
func (p *spinPolicy) found(now time.Duration) {
	took := now - p.from
	switch {
	case took < shortSpin:
		if p.limit == longSpin {
			p.spinBudget, p.tried = trialBudget, 0
		}
		if p.spinBudget = p.spinBudget + saved; p.spinBudget >= fullBudget {
			p.spinBudget, p.pause = fullBudget, shortWait
		}
	case p.limit == longSpin:
		if p.tried += took; p.tried >= trySpin {
			p.tryAfter(now, tryShare*p.tried)
		}
	}
}

// inVain accounts for a spin that ended without anything.
func (p *spinPolicy) inVain(now time.Duration) {
	if p.limit == shortSpin {
		if p.spinBudget -= now - p.from; p.spinBudget > 0 {
			return
		}
	}
	p.tryAfter(now, p.pause)
	p.pause = min(2*p.pause, longWait)
}

// tryAfter puts the next try off, by up to twice the given time: the clock's
// position serves as a die, lest two ends that try in step always miss each other.
func (p *spinPolicy) tryAfter(now, pause time.Duration) {
	p.next = now + pause + now%pause
	p.tried = 0
}
