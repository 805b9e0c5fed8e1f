// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"testing"
	"time"
)

// What a spin policy says, call by call: look or came at so many microseconds, of a
// wait that began at since.
//
// Proves: poll.spin
func TestSpinPolicyTranscripts(t *testing.T) {
	type call struct {
		at, since int
		again     string // "" for came
	}
	for name, c := range map[string]struct {
		mode       Mode
		quota      float64
		spinBudget time.Duration
		calls      []call
		left       time.Duration // in the budget
	}{
		"sleep":                               {Sleep, 0, 0, []call{{1, 0, "no"}, {2, 0, "no"}, {3, 0, ""}}, 0},
		"spin":                                {Spin, 0, 0, []call{{1, 0, "yes"}, {9000000, 0, "yes"}}, 0},
		"spin, half a core":                   {Spin, 0.5, 0, []call{{1, 0, "yes"}, {9000000, 0, "yes"}}, 0},
		"adaptive, half a core":               {Adaptive, 0.5, 0, []call{{1, 0, "no"}}, 0},
		"adaptive, a core":                    {Adaptive, 1, 100e3, []call{{1, 0, "yes"}}, 100e3},
		"a spin in vain":                      {Adaptive, 0, 400e3, []call{{11, 10, "yes"}, {59, 10, "yes"}, {60, 10, "no"}, {61, 10, "no"}}, 350e3},
		"a spin that pays":                    {Adaptive, 0, 400e3, []call{{11, 10, "yes"}, {30, 10, "yes"}, {31, 0, ""}}, 425e3},
		"a full budget":                       {Adaptive, 0, 800e3, []call{{11, 10, "yes"}, {12, 0, ""}}, 800e3},
		"found at the first look":             {Adaptive, 0, 400e3, []call{{11, 0, ""}, {12, 0, ""}}, 400e3},
		"found at the time of the first look": {Adaptive, 0, 400e3, []call{{11, 10, "yes"}, {11, 0, ""}, {20, 10, "yes"}, {21, 10, "yes"}, {21, 0, ""}}, 425e3},
		"a frame for somebody else":           {Adaptive, 0, 400e3, []call{{11, 10, "yes"}, {40, 0, ""}, {89, 10, "yes"}, {90, 10, "no"}}, 375e3},
		"a frame after a sleep":               {Adaptive, 0, 400e3, []call{{11, 10, "yes"}, {60, 10, "no"}, {5000, 0, ""}, {5001, 10, "yes"}}, 350e3},
		"a wait given up":                     {Adaptive, 0, 400e3, []call{{11, 10, "yes"}, {21, 10, "yes"}, {5000, 4999, "yes"}}, 389e3},
		"a late first look":                   {Adaptive, 0, 400e3, []call{{60, 10, "no"}}, 400e3},
		"an empty budget, a try":              {Adaptive, 0, 0, []call{{11, 10, "yes"}, {159, 10, "yes"}, {160, 10, "no"}, {201, 200, "no"}, {10000, 9999, "no"}}, 0},
		"a try in vain, the next":             {Adaptive, 0, 0, []call{{11, 10, "yes"}, {160, 10, "no"}, {20000, 19999, "yes"}, {20149, 19999, "no"}, {40200, 40199, "no"}, {60300, 60299, "yes"}}, 0},
		"a try that pays":                     {Adaptive, 0, 0, []call{{11, 10, "yes"}, {40, 0, ""}, {51, 50, "yes"}, {100, 50, "no"}}, 375e3},
		"tries that find late":                {Adaptive, 0, 0, []call{{1, 0, "yes"}, {150, 0, ""}, {152, 151, "yes"}, {301, 0, ""}, {303, 302, "no"}, {8101, 8100, "no"}, {8103, 8102, "yes"}}, 0},
		"more tries that find late":           {Adaptive, 0, 0, []call{{1, 0, "yes"}, {140, 0, ""}, {142, 141, "yes"}, {281, 0, ""}, {283, 282, "yes"}, {330, 0, ""}}, 425e3},
		"an absence":                          {Adaptive, 0, 400e3, []call{{11, 10, "yes"}, {411, 10, "no"}, {8410, 8409, "no"}, {8411, 8410, "yes"}}, 400e3},
		"an absence, and a frame":             {Adaptive, 0, 400e3, []call{{11, 10, "yes"}, {411, 0, ""}, {412, 10, "no"}, {8410, 8409, "no"}, {8411, 8410, "yes"}}, 400e3},
		"two absences":                        {Adaptive, 0, 400e3, []call{{11, 10, "yes"}, {411, 0, ""}, {9001, 9000, "yes"}, {9401, 0, ""}, {25400, 25399, "no"}, {25401, 25400, "yes"}}, 400e3},
		"two absences, far apart":             {Adaptive, 0, 400e3, []call{{11, 10, "yes"}, {411, 0, ""}, {300001, 300000, "yes"}, {300401, 0, ""}, {308401, 308400, "yes"}}, 400e3},
		"no absence while it slept":           {Adaptive, 0, 400e3, []call{{11, 10, "yes"}, {60, 10, "no"}, {5000, 10, "no"}, {5001, 0, ""}, {5002, 10, "yes"}}, 350e3},
	} {
		t.Run(name, func(t *testing.T) {
			p := newSpinPolicy(c.mode, c.quota)
			p.spinBudget = c.spinBudget
			us := func(k int) time.Duration { return time.Duration(k) * time.Microsecond }
			for _, x := range c.calls {
				switch {
				case x.again == "":
					p.came(us(x.at))
				case p.look(us(x.at), us(x.since)) != (x.again == "yes"):
					t.Errorf("at %v of a wait since %v: look again? want %s", us(x.at), us(x.since), x.again)
				}
			}
			if p.spinBudget != c.left {
				t.Errorf("%v in the budget, want %v", p.spinBudget, c.left)
			}
		})
	}
}

// However often a leader was absent, it spins again within half a second.
//
// Proves: poll.spin
func TestSpinPolicyRestsWithinBounds(t *testing.T) {
	p := newSpinPolicy(Adaptive, 0)
	now := time.Second
	for i := range 20 {
		p.look(now, now-1)
		now += absence
		p.came(now)
		if rest := p.rested - now; rest > longRest || i > 10 && rest != longRest {
			t.Errorf("absence %d: rests for %v, at most %v wanted", i, rest, longRest)
		}
		now = p.rested
	}
}

// Who has found spinning good for a while tries again soon when it ceases to be.
//
// Proves: poll.spin
func TestSpinPolicyForgetsFailures(t *testing.T) {
	p := newSpinPolicy(Adaptive, 0)
	p.spinBudget, p.pause = 0, longWait
	now := time.Second
	for range fullBudget / saved {
		p.look(now, now-1)
		p.came(now + 2)
		now += 10
	}
	if p.pause != shortWait {
		t.Errorf("waits %v for a try, want %v", p.pause, shortWait)
	}
}

func BenchmarkSpinPolicy(b *testing.B) {
	p := newSpinPolicy(Adaptive, 0)
	now := time.Duration(0)
	b.ReportAllocs()
	for b.Loop() { // a trip: ten looks in vain, then what was waited for
		since := now + 1
		for range 10 {
			now += 200
			p.look(now, since)
		}
		now += 200
		p.came(now)
	}
}
