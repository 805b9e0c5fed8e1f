// SPDX-License-Identifier: Apache-2.0

//go:build !race

package poll

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// The bed on which the spin policy is tried: two processes that send each other messages,
// each on a core of its own or both on one, a scheduler that knows fair shares,
// slices, wake-ups, quotas and others who want the core; all in simulated time.

const (
	bedRound  = 250 * time.Nanosecond  // a poll that finds nothing, or finds a frame
	bedKick   = 1200 * time.Nanosecond // to send
	bedRing   = 700 * time.Nanosecond  // on top, when that wakes somebody
	bedPoll   = time.Microsecond       // into the kernel to sleep, and out of it
	bedSwitch = 1600 * time.Nanosecond // from one process to another
	bedIPI    = 12 * time.Microsecond  // until a core that is at work hears of a wake-up elsewhere
	bedSlice  = 3 * time.Millisecond
	bedPeriod = 100 * time.Millisecond // of quotas
	forever   = time.Duration(math.MaxInt64 / 4)
)

// A task is what a core runs: for left, then it does then.
type task struct {
	core  *core
	left  time.Duration
	then  func()
	used  time.Duration // CPU time so far
	fair  time.Duration // the same, as the scheduler reckons it
	quota *quota
}

// A quota is the CPU time of a group of tasks.
type quota struct {
	each, left time.Duration
	throttled  []*task
}

type core struct {
	bed     *bed
	running *task
	last    *task // to run
	queue   []*task
	since   time.Duration // up to when running is accounted for
	slice   time.Duration // when running's slice ends
	fair    time.Duration // how much who always wanted the core has had
}

type bedTimer struct {
	at time.Duration
	do func()
}

type bed struct {
	now      time.Duration
	cores    []*core
	timers   []bedTimer
	quotas   []*quota
	dice     *rand.Rand
	idleWake time.Duration // until a core that is halted runs what was woken
	preempt  bool          // who is woken goes first if it is owed time
	acting   *core         // whose task does something now
}

func newBed(cores int, idleWake time.Duration, seed uint64) *bed {
	b := &bed{dice: rand.New(rand.NewPCG(seed, 0)), idleWake: idleWake, preempt: true}
	for range cores {
		b.cores = append(b.cores, &core{bed: b})
	}
	var refill func()
	refill = func() {
		for _, q := range b.quotas {
			q.left = q.each
			for _, t := range q.throttled {
				t.core.enqueue(t)
			}
			q.throttled = nil
		}
		b.after(bedPeriod, refill)
	}
	b.after(bedPeriod, refill)
	return b
}

func (b *bed) after(d time.Duration, do func()) {
	b.timers = append(b.timers, bedTimer{b.now + d, do})
}

// about is d, give or take a tenth.
func (b *bed) about(d time.Duration) time.Duration {
	return d*9/10 + time.Duration(b.dice.Int64N(int64(d/5)+1))
}

// sendsInRow lets things happen for d.
func (b *bed) sendsInRow(d time.Duration) {
	for end := b.now + d; ; {
		next, c, timer := end, (*core)(nil), -1
		for i, t := range b.timers {
			if t.at < next {
				next, timer = t.at, i
			}
		}
		for _, x := range b.cores {
			if at := x.due(); at < next {
				next, c = at, x
			}
		}
		b.now = next
		switch {
		case c != nil:
			b.acting = c
			c.act()
			b.acting = nil
		case timer >= 0:
			do := b.timers[timer].do
			b.timers = slices.Delete(b.timers, timer, timer+1)
			do()
		default:
			for _, x := range b.cores {
				x.account()
			}
			return
		}
	}
}

// wake makes t runnable when its core has heard of it.
func (b *bed) wake(t *task) {
	switch c := t.core; {
	case c == b.acting:
		c.enqueue(t)
	case c.running == nil:
		b.after(b.about(b.idleWake), func() { c.enqueue(t) })
	default:
		b.after(b.about(bedIPI), func() { c.enqueue(t) })
	}
}

// due is when the core has to decide something.
func (c *core) due() time.Duration {
	t := c.running
	if t == nil {
		return forever
	}
	at := c.since + t.left
	if len(c.queue) > 0 {
		at = min(at, max(c.slice, c.since))
	}
	if t.quota != nil {
		at = min(at, c.since+t.quota.left)
	}
	return at
}

func (c *core) account() {
	d := c.bed.now - c.since
	c.since = c.bed.now
	if t := c.running; t != nil {
		t.left -= d
		t.used += d
		t.fair += d
		c.fair = max(c.fair, t.fair)
		if t.quota != nil {
			t.quota.left -= d
		}
	}
}

func (c *core) act() {
	c.account()
	t := c.running
	if t.quota != nil && t.quota.left <= 0 {
		t.quota.throttled = append(t.quota.throttled, t)
		c.running = nil
	} else if t.left <= 0 {
		t.then()
		if c.running == t && t.left <= 0 {
			c.running = nil // it sleeps
		}
	}
	if c.running == nil || len(c.queue) > 0 && c.bed.now >= c.slice {
		c.choose()
	}
}

// choose gives the core to the task that has had the least.
func (c *core) choose() {
	if c.running != nil {
		c.queue = append(c.queue, c.running)
		c.running = nil
	}
	if len(c.queue) == 0 {
		return
	}
	best := 0
	for i, t := range c.queue {
		if t.fair < c.queue[best].fair {
			best = i
		}
	}
	t := c.queue[best]
	c.queue = slices.Delete(c.queue, best, best+1)
	c.running, c.since, c.slice = t, c.bed.now, c.bed.now+bedSlice
	if c.last != t {
		t.left += bedSwitch
	}
	c.last = t
}

// enqueue makes t runnable: who has slept is owed at most a slice.
func (c *core) enqueue(t *task) {
	c.account()
	t.fair = max(t.fair, c.fair-bedSlice)
	if r := c.running; r != nil {
		c.queue = append(c.queue, t)
		if c.bed.preempt && t.fair < r.fair {
			c.slice = c.bed.now // at the next decision, which is now
		}
		return
	}
	c.queue = append(c.queue, t)
	c.choose()
}

// burn starts somebody who never sleeps on c, and returns how to end him.
func (c *core) burn() (stop func()) {
	t := &task{core: c, left: forever, then: func() {}}
	c.bed.wake(t)
	return func() {
		c.account()
		c.queue = slices.DeleteFunc(c.queue, func(q *task) bool { return q == t })
		if c.running == t {
			c.running = nil
			c.choose()
		}
	}
}

// An end is one of the two processes.
type end struct {
	task
	bed    *bed
	peer   *end
	pat    spinPolicy
	since  time.Duration
	inbox  int
	asleep bool
	got    func() // a message was read
	sent   func()

	doLook, doSleep, doSend, doWait func()
}

func newEnd(b *bed, c *core, p spinPolicy) *end {
	e := &end{task: task{core: c}, bed: b, pat: p}
	e.doLook = func() {
		switch {
		case e.inbox > 0:
			e.inbox--
			e.pat.came(b.now)
			e.got()
		case e.pat.look(b.now, e.since):
			e.work(bedRound, e.doLook)
		default:
			e.work(bedPoll, e.doSleep)
		}
	}
	e.doSleep = func() {
		if e.asleep = e.inbox == 0; !e.asleep {
			e.work(bedPoll, e.doLook)
		}
	}
	e.doSend = func() {
		e.peer.inbox++
		e.peer.rouse()
		e.sent()
	}
	e.doWait = e.wait
	return e
}

func (e *end) work(d time.Duration, then func()) { e.left, e.then = d, then }

func (e *end) wait() {
	e.since = e.bed.now
	e.work(bedRound, e.doLook)
}

func (e *end) rouse() {
	if e.asleep {
		e.asleep = false
		e.work(bedPoll, e.doLook)
		e.bed.wake(&e.task)
	}
}

func (e *end) send() {
	d := e.bed.about(bedKick)
	if e.peer.asleep {
		d += bedRing
	}
	e.work(d, e.doSend)
}

// pause does something else than TIPC for d, without the core.
func (e *end) pause(d time.Duration, then func()) {
	e.left = 0
	e.bed.after(d, func() {
		e.work(bedPoll, then)
		e.bed.wake(&e.task)
	})
}

// A game is a client that asks and a server that answers.
type game struct {
	*bed
	client, server *end
	trips          int
	waited         time.Duration // round trips in all
	longest        time.Duration
}

// A play says how the game goes. Zero fields mean nothing special.
type play struct {
	mode, peer Mode    // the client's, the server's
	quota      float64 // that both know
	cores      int     // 1: shared; else one each
	idleWake   time.Duration
	lazy       bool                        // who is woken never goes first
	burst      int                         // questions in a row, before a pause of gap
	gap        time.Duration               // of the client
	seed       uint64                      // of the dice
	delay      func(g *game) time.Duration // until the server has an answer
}

func newGame(c play) *game {
	if c.cores == 0 {
		c.cores = 2
	}
	if c.idleWake == 0 {
		c.idleWake = 25 * time.Microsecond
	}
	g := &game{bed: newBed(c.cores, c.idleWake, c.seed)}
	g.preempt = !c.lazy
	a := newEnd(g.bed, g.cores[0], newSpinPolicy(c.mode, c.quota))
	b := newEnd(g.bed, g.cores[c.cores-1], newSpinPolicy(c.peer, c.quota))
	a.peer, b.peer, g.client, g.server = b, a, a, b
	var began time.Duration
	ask := func() { began = g.now; a.send() }
	a.sent, b.sent = a.doWait, b.doWait
	a.got = func() {
		took := g.now - began
		g.trips++
		g.waited += took
		g.longest = max(g.longest, took)
		if c.burst > 0 && g.trips%c.burst == 0 {
			a.pause(c.gap, ask)
			return
		}
		a.work(200*time.Nanosecond, ask)
	}
	b.got = func() {
		if c.delay != nil {
			if d := c.delay(g); d > 0 {
				b.pause(d, b.send)
				return
			}
		}
		b.work(200*time.Nanosecond, b.send)
	}
	b.work(bedRound, b.doWait)
	g.wake(&b.task)
	a.work(bedRound, ask)
	g.wake(&a.task)
	return g
}

// A tally is what happened in a part of a game.
type tally struct {
	trips   int
	mean    time.Duration // of a round trip
	longest time.Duration
	rate    float64 // trips a second
	burnt   float64 // CPU time of both ends, in cores
}

// watch plays on for d and tells what happened.
func (g *game) watch(d time.Duration) tally {
	trips, waited, used := g.trips, g.waited, g.client.used+g.server.used
	g.longest = 0
	g.sendsInRow(d)
	k := g.trips - trips
	return tally{
		k, (g.waited - waited) / time.Duration(max(k, 1)), g.longest, float64(k) / d.Seconds(),
		(g.client.used + g.server.used - used).Seconds() / d.Seconds(),
	}
}
