// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"
)

var scriptFlag = flag.String("script", "", "play only scripts whose name matches this `expression`")

// playedAtOnce is how many scripts a stage plays at the same time: most of them wait.
const playedAtOnce = 12

// newStage makes a stage of a pair; c is its end with that number.
func newStage(t *testing.T, p *pair, c int) *stage {
	t.Helper()
	g := &stage{ctx: p.ctx, slots: make(chan struct{}, playedAtOnce)}
	g.cut = func() error {
		p.lines[0].Cut()
		return p.tolerate(0, impatient) // nobody else tells the two of it
	}
	for i := range g.nodes {
		end := p.ends[(c+i)%2]
		g.nodes[i] = end.addr()
		switch e := end.(type) {
		case *theirs:
			all, err := newGuestProgram(p.ctx, e.guest)
			must(t, err)
			g.open[i] = func(n int, alone bool) (_ part, err error) {
				program := all
				if alone {
					program, err = newGuestProgram(p.ctx, e.guest)
				}
				return guestPart{program, fmt.Sprint(n), alone}, err
			}
		case *ours:
			g.ours[i] = true
			g.open[i] = func(int, bool) (part, error) { return openOurPart(p.ctx, e.node), nil }
		}
	}
	return g
}

// A result is what came of a script.
type result struct {
	err  error
	took time.Duration
}

// playAll plays scripts, many at once; at is the number of the first on its stage.
func playAll(g *stage, all []script, at int) map[string]result {
	only := regexp.MustCompile(*scriptFlag)
	results := map[string]result{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, s := range all {
		if !only.MatchString(s.name) || s.stalls && g.kernels() {
			continue
		}
		g.slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-g.slots }()
			began := time.Now()
			r := result{err: g.perform(s, at+i)}
			r.took = time.Since(began)
			mu.Lock()
			defer mu.Unlock()
			results[s.name] = r
		})
	}
	wg.Wait()
	return results
}

// report tells of the results one by one.
func report(t *testing.T, results map[string]result) {
	for _, name := range slices.Sorted(maps.Keys(results)) {
		t.Run(name, func(t *testing.T) {
			r := results[name]
			t.Logf("%v", r.took.Round(time.Millisecond))
			if r.err != nil {
				t.Error(r.err)
			}
		})
	}
}

// A casting says who plays the two parts.
type casting struct {
	name, pair string
	c          int // the end of the pair that plays c
	bulk       int // bytes that go each way through a connection
}

// longScripts reports whether the long run of the tests asks for more.
func longScripts() bool { return os.Getenv("UTIPC_LONG") != "" }

// scriptsTime is how long all scripts may take, and one step of them.
func scriptsTime() time.Duration {
	if longScripts() {
		return 45 * time.Minute
	}
	return 30 * time.Minute
}

// castings are those of the table.
func castings() []casting {
	const mega = 1 << 20
	bulk := 32 * mega
	if longScripts() {
		bulk = 1 << 30
	}
	return []casting{
		{"we dial a kernel", usAndKernel, 0, bulk},
		{"a kernel dials us", usAndKernel, 1, 4 * mega},
		{"a kernel dials a kernel", twoKernels, 0, 4 * mega},
	}
}

// Two kernels behave as the scripts say, and so do we, as either part, with a kernel as
// the other. No link is reset meanwhile. The table in docs/explanation/interop.md has all scripts.
//
// Proves: socket.scripts, group.kernels
func TestScripts(t *testing.T) {
	opened := map[string]*pair{}
	for _, name := range pairs {
		opened[name] = newPair(t, name, 1, scriptsTime())
	}
	var mu sync.Mutex
	played := map[string]map[string]result{}
	// play plays on all stages at once.
	play := func(at int, which func(c casting) []script) {
		var wg sync.WaitGroup
		for i, c := range castings() {
			all, g := which(c), newStage(t, opened[c.pair], c.c)
			wg.Go(func() {
				results := playAll(g, all, 1000*i+at)
				mu.Lock()
				defer mu.Unlock()
				if played[c.name] == nil {
					played[c.name] = map[string]result{}
				}
				maps.Copy(played[c.name], results)
			})
		}
		wg.Wait()
	}
	play(0, func(c casting) []script { return scripts(c.bulk) })
	for _, name := range pairs {
		for _, s := range opened[name].ends {
			for _, l := range s.links(t) {
				if l.resets != 0 {
					t.Errorf("%s: link %s was reset %d times", name, l.name, l.resets)
				}
			}
		}
	}
	play(500, func(c casting) []script {
		if c.c == 0 {
			return lastScripts
		}
		return nil
	})
	for _, c := range castings() {
		t.Run(c.name, func(t *testing.T) { report(t, played[c.name]) })
	}
	if *scriptFlag == "" {
		documentScripts(t, opened[usAndKernel].ends[1].(*theirs).guest.Release(), played)
	}
}
