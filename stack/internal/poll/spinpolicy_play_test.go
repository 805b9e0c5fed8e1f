// SPDX-License-Identifier: Apache-2.0

//go:build !race

package poll

import (
	"fmt"
	"testing"
	"time"
)

// The plays have no second goroutine, so the race detector would only make them
// slow.

// both plays with the same mode at both ends.
func both(mode Mode, c play) *game {
	c.mode, c.peer = mode, mode
	return newGame(c)
}

// doubt makes both ends as reluctant as they can be.
func (g *game) doubt() {
	for _, e := range []*end{g.client, g.server} {
		e.pat.spinBudget, e.pat.pause = 0, longWait
		e.pat.next = g.now + time.Duration(g.dice.Int64N(int64(2*longWait)))
	}
}

// Alone on two cores, adaptive ends are as fast as spinning ones from the first
// trip on, and ten times as fast as sleeping ones.
//
// Proves: poll.spin
func TestSpinPolicyAlone(t *testing.T) {
	const d = 50 * time.Millisecond
	asleep, spun, got := both(Sleep, play{}).watch(d), both(Spin, play{}).watch(d), both(Adaptive, play{}).watch(d)
	t.Logf("sleep %+v\nspin %+v\nadaptive %+v", asleep, spun, got)
	if got.rate < spun.rate/1.2 || got.rate < 10*asleep.rate || got.mean > spun.mean*6/5 {
		t.Errorf("got %+v beside %+v spinning, %+v asleep", got, spun, asleep)
	}
}

// Two ends that both sleep take two wake-ups a trip, more than any of them would
// spin for: each alone sees no reason to spin. They get out all the same.
//
// Proves: poll.spin
func TestSpinPolicyLeavesTrap(t *testing.T) {
	spun := both(Spin, play{}).watch(20 * time.Millisecond)
	for _, wake := range []time.Duration{25, 45, 60, 100} {
		for seed := range uint64(8) {
			t.Run(fmt.Sprintf("wake-up %d µs, seed %d", wake, seed), func(t *testing.T) {
				g := both(Adaptive, play{idleWake: wake * time.Microsecond, seed: seed})
				g.doubt()
				for took := time.Duration(0); ; took += 20 * time.Millisecond {
					if got := g.watch(20 * time.Millisecond); got.rate > spun.rate/1.2 {
						t.Logf("after %v", took)
						break
					}
					if took > 3*time.Second {
						t.Fatalf("still asleep after %v", took)
					}
				}
			})
		}
	}
}

// A peer that always sleeps is waited for awake if its wake-up is short: that
// saves one of two.
//
// Proves: poll.spin
func TestSpinPolicyBesideSleeper(t *testing.T) {
	asleep := both(Sleep, play{}).watch(100 * time.Millisecond)
	got := newGame(play{mode: Adaptive, peer: Sleep}).watch(100 * time.Millisecond)
	if got.mean > asleep.mean*6/10 {
		t.Errorf("round trip %v, %v with both asleep", got.mean, asleep.mean)
	}
}

// On one core, spinning only keeps the other end from answering. Whether the
// scheduler lets who is woken go first or not, adaptive ends learn to sleep.
//
// Proves: poll.spin
func TestSpinPolicyOnOneCore(t *testing.T) {
	for _, lazy := range []bool{false, true} {
		c := play{cores: 1, lazy: lazy}
		asleep := both(Sleep, c).watch(200 * time.Millisecond)
		g := both(Adaptive, c)
		first, then := g.watch(200*time.Millisecond), g.watch(200*time.Millisecond)
		t.Logf("lazy %v: sleep %+v\nfirst %+v\nthen %+v", lazy, asleep, first, then)
		if first.rate < 0.95*asleep.rate || then.rate < 0.99*asleep.rate {
			t.Errorf("lazy %v: %.0f trips/s at first, then %.0f; asleep %.0f", lazy, first.rate, then.rate, asleep.rate)
		}
	}
}

// burning plays warm for a while, then with somebody on the cores given who never
// sleeps.
func burning(mode Mode, cores ...int) (g *game, stop func()) {
	g = both(mode, play{})
	g.watch(20 * time.Millisecond)
	var stops []func()
	for _, i := range cores {
		stops = append(stops, g.cores[i].burn())
		g.sendsInRow(1300 * time.Microsecond) // so that the slices do not begin together
	}
	return g, func() {
		for _, f := range stops {
			f()
		}
	}
}

// With somebody else on the core, adaptive ends behave as sleeping ones; when he
// leaves they spin again within a second.
//
// Proves: poll.spin
func TestSpinPolicyBesideBurners(t *testing.T) {
	const d = 500 * time.Millisecond
	for _, cores := range [][]int{{0, 1}, {0}, {1}} {
		asleep, _ := burning(Sleep, cores...)
		g, stop := burning(Adaptive, cores...)
		for i := range 4 {
			want, got := asleep.watch(d), g.watch(d)
			t.Logf("cores %v, part %d: sleep %+v\nadaptive %+v", cores, i, want, got)
			if got.rate < 0.95*want.rate {
				t.Errorf("cores %v, part %d: %.0f trips/s, asleep %.0f", cores, i, got.rate, want.rate)
			}
			if i > 0 && got.longest > 2*bedSlice+time.Millisecond {
				t.Errorf("cores %v, part %d: a trip of %v", cores, i, got.longest)
			}
			if i > 1 && len(cores) == 2 && got.burnt > want.burnt+0.05 {
				t.Errorf("cores %v, part %d: %.2f cores used, asleep %.2f", cores, i, got.burnt, want.burnt)
			}
		}
		stop()
		g.sendsInRow(time.Second)
		if got, want := g.watch(20*time.Millisecond), both(Spin, play{}).watch(20*time.Millisecond); got.rate < want.rate/1.2 {
			t.Errorf("cores %v: %.0f trips/s a second after, want %.0f", cores, got.rate, want.rate)
		}
	}
}

// Beside somebody who takes half a millisecond now and then, as any system does,
// spinning goes on.
//
// Proves: poll.spin
func TestSpinPolicyBesideDaemon(t *testing.T) {
	g := both(Adaptive, play{})
	var daemon func()
	daemon = func() {
		x := &task{core: g.cores[0], left: 500 * time.Microsecond, then: func() {}}
		g.wake(x)
		g.after(time.Second, daemon)
	}
	daemon()
	got, want := g.watch(1500*time.Millisecond), both(Spin, play{}).watch(20*time.Millisecond)
	if got.rate < 0.95*want.rate {
		t.Errorf("%.0f trips/s, spinning and undisturbed %.0f", got.rate, want.rate)
	}
}

// With half a core each, ends that know it never use up their quota; ends that do
// not are stopped now and then, and are no slower than sleeping ones for it.
//
// Proves: poll.spin
func TestSpinPolicyWithinQuota(t *testing.T) {
	throttled := func(mode Mode, known float64) *game {
		g := both(mode, play{quota: known})
		for _, e := range []*end{g.client, g.server} {
			e.quota = &quota{each: bedPeriod / 2, left: bedPeriod / 2}
			g.quotas = append(g.quotas, e.quota)
		}
		return g
	}
	const d = time.Second
	asleep, knows, unaware := throttled(Sleep, 0.5).watch(d), throttled(Adaptive, 0.5).watch(d), throttled(Adaptive, 0).watch(d)
	t.Logf("sleep %+v\nknowing %+v\nunaware %+v", asleep, knows, unaware)
	if knows != asleep {
		t.Errorf("knowing the quota: %+v, asleep %+v", knows, asleep)
	}
	if unaware.rate < asleep.rate {
		t.Errorf("not knowing the quota: %+v, asleep %+v", unaware, asleep)
	}
}

// Where spinning does not pay it costs little; where it pays now and then it goes on.
//
// Proves: poll.spin
func TestSpinPolicyByTraffic(t *testing.T) {
	const ms = time.Millisecond
	us300 := func(*game) time.Duration { return 300 * time.Microsecond }
	for name, c := range map[string]struct {
		play
		waste float64 // at most so many cores of both ends, beyond what sleeping ends use
		gain  float64 // at least so many times their round trips, of the time waited
	}{
		"idle":                  {play{burst: 1, gap: 100 * ms}, 0.01, 0.99},
		"a message each 10 ms":  {play{burst: 1, gap: 10 * ms}, 0.01, 0.99},
		"a message each ms":     {play{burst: 1, gap: ms}, 0.03, 1.8},
		"never in time":         {play{burst: 1, gap: ms, delay: us300}, 0.01, 0.99},
		"bursts of 20":          {play{burst: 20, gap: ms}, 0.15, 10},
		"each tenth reply late": {play{delay: func(g *game) time.Duration { return us300(g) * time.Duration(g.trips%10/9) }}, 0.3, 2},
		"a peer that answers soon only when it is tried": {play{burst: 1, gap: ms / 2, delay: func(g *game) time.Duration {
			if p := g.client.pat; p.state == spinning && p.limit == longSpin {
				return 0
			}
			return 300 * time.Microsecond
		}}, 0.01, 0.99},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := both(Sleep, c.play), both(Adaptive, c.play)
			a.watch(500 * ms)
			first := b.watch(500 * ms)
			want, got := a.watch(500*ms), b.watch(500*ms)
			t.Logf("sleep %+v\nfirst %+v\nthen %+v", want, first, got)
			if got.burnt-want.burnt > c.waste || c.waste <= 0.05 && first.burnt-want.burnt > 0.05 {
				t.Errorf("%.3f cores used at first, then %.3f; asleep %.3f", first.burnt, got.burnt, want.burnt)
			}
			if float64(want.mean) < c.gain*float64(got.mean) {
				t.Errorf("round trip %v, asleep %v", got.mean, want.mean)
			}
		})
	}
}

// After replies that took long for a while, the ends are fast again within a
// second of the replies being so.
//
// Proves: poll.spin
func TestSpinPolicyAfterSlowReplies(t *testing.T) {
	slow := true
	g := both(Adaptive, play{idleWake: 40 * time.Microsecond, delay: func(*game) time.Duration {
		if slow {
			return time.Millisecond
		}
		return 0
	}})
	g.sendsInRow(3 * time.Second)
	slow = false
	g.sendsInRow(time.Second)
	if got, want := g.watch(20*time.Millisecond), both(Spin, play{}).watch(20*time.Millisecond); got.rate < want.rate/1.2 {
		t.Errorf("%.0f trips/s, want %.0f", got.rate, want.rate)
	}
}

// The bed gives what was measured between two virtual cores, or the rest means
// nothing.
//
// Proves: poll.spin
func TestSpinPolicyBed(t *testing.T) {
	for _, c := range []struct {
		name string
		mode Mode
		play
		low, high time.Duration
	}{
		{"spinning", Spin, play{}, 2400, 3400},
		{"asleep on two cores", Sleep, play{}, 48e3, 60e3},
		{"asleep on one core", Sleep, play{cores: 1}, 7800, 12e3},
		{"spinning on one core", Spin, play{cores: 1}, bedSlice, 3 * bedSlice},
	} {
		if mean := both(c.mode, c.play).watch(100 * time.Millisecond).mean; mean < c.low || mean > c.high {
			t.Errorf("%s: a round trip of %v, not of %v to %v", c.name, mean, c.low, c.high)
		}
	}
}
