// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"flag"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
)

var sceneFlag = flag.String("script", "", "play only scripts whose name matches this `expression`")

// playedAtOnce is how many scripts a stage plays at the same time: most of them wait.
const playedAtOnce = 12

// newStage makes a stage of a pair; c is its end with that number.
func newStage(p *pair, c int) *stage {
	g := &stage{ctx: p.ctx}
	for i := range g.nodes {
		end := p.ends[(c+i)%2]
		g.nodes[i] = end.addr()
		switch e := end.(type) {
		case *theirs:
			g.open[i] = func(ctx context.Context) (part, error) { return openGuestPart(ctx, e.guest) }
			g.knows[i] = func(ctx context.Context, s stack.Service) error {
				return e.guest.WaitName(ctx, s.Type, s.Instance, s.Instance)
			}
		case *ours:
			g.ours[i] = true
			g.open[i] = func(context.Context) (part, error) { return openOurPart(e.node), nil }
			g.knows[i] = e.node.WaitFor
		}
	}
	g.cut = func(context.Context) error {
		p.lines[0].Cut()
		return nil
	}
	return g
}

// playAll plays scripts, many at once, and reports the one by one; at is the number of
// the first on its stage.
func playAll(t *testing.T, g *stage, all []script, at int) (results map[string]error) {
	t.Helper()
	only := regexp.MustCompile(*sceneFlag)
	results = map[string]error{}
	took := map[string]time.Duration{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	seats := make(chan struct{}, playedAtOnce)
	for i, s := range all {
		if !only.MatchString(s.name) || s.stalls && g.ours == [2]bool{} {
			continue
		}
		wg.Go(func() {
			seats <- struct{}{}
			defer func() { <-seats }()
			began := time.Now()
			err := g.perform(s, at+i)
			mu.Lock()
			defer mu.Unlock()
			results[s.name], took[s.name] = err, time.Since(began)
		})
	}
	wg.Wait()
	for _, s := range all {
		err, played := results[s.name]
		if !played {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Logf("%v", took[s.name].Round(time.Millisecond))
			if err != nil {
				t.Error(err)
			}
		})
	}
	return results
}

// resets counts links lost at either end.
func (p *pair) resets() (n int) {
	for _, s := range p.ends {
		for _, l := range s.links(p.t) {
			n += l.resets
		}
	}
	return n
}

// playPair plays all scripts between two stations, c being the one with that number.
func playPair(t *testing.T, p *pair, c, bulk, at int) {
	t.Helper()
	g := newStage(p, c)
	playAll(t, g, scripts(bulk), at)
	if n := p.resets(); n != 0 {
		t.Errorf("%d links were reset", n)
	}
}

// Two kernels behave as the scripts say.
func TestScriptsTwoKernels(t *testing.T) {
	p := newPair(t, twoKernels, 1, 3*time.Minute)
	playPair(t, p, 0, 4<<20, 0)
	playAll(t, newStage(p, 0), lastScripts, 500)
}
