// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/test/sim"
	"github.com/utipc/utipc/test/tier"
)

var (
	seedFlag  = flag.Uint64("sim.seed", 0, "run this one seed")
	traceFlag = flag.String("sim.trace", "", "with -sim.seed: write every frame and event to this file")
	seedsFlag = flag.Int("sim.seeds", 0, "number of seeds; also UTIPC_SIM_SEEDS")
)

// seeds is how many to run.
func seeds(t *testing.T) int {
	n := defaultSeeds
	if testing.Short() {
		n = shortSeeds
	}
	if tier.First() {
		n = shortSeeds / 3
	}
	if s := os.Getenv("UTIPC_SIM_SEEDS"); s != "" {
		v, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("UTIPC_SIM_SEEDS: %v", err)
		}
		n = v
	}
	if *seedsFlag > 0 {
		n = *seedsFlag
	}
	return n
}

// runAll runs seeds from first on, as many at a time as there are cores, and
// adds up their reports.
func runAll(t *testing.T, first uint64, n int, config func(seed uint64) sim.Config) sim.Report {
	var (
		mu    sync.Mutex
		total sim.Report
		slots = make(chan struct{}, runtime.GOMAXPROCS(0))
	)
	start := time.Now()
	t.Run("seed", func(t *testing.T) {
		for i := range n {
			seed := first + uint64(i)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				r := sim.Run(config(seed))
				for _, v := range r.Violations {
					t.Errorf("%s", v)
				}
				if t.Failed() {
					t.Logf("%s\nrepeat with: go test ./test/sim -run '%s' -sim.seed=%d -sim.trace=FILE", r.Faults, parent(t), seed)
				}
				mu.Lock()
				defer mu.Unlock()
				total.Add(r)
			})
		}
	})
	t.Logf("%d seeds in %v, %v simulated each: %s", n, time.Since(start).Round(time.Second),
		(total.Simulated / time.Duration(n)).Round(time.Second), &total)
	return total
}

// parent is the name of the test that a subtest belongs to.
func parent(t *testing.T) string {
	name := t.Name()
	for i := range name {
		if name[i] == '/' {
			return name[:i]
		}
	}
	return name
}

// one runs the seed asked for by a flag, with its trace, and reports whether
// there was one.
func one(t *testing.T, c sim.Config) bool {
	if *seedFlag == 0 {
		return false
	}
	c.Seed = *seedFlag
	if *traceFlag != "" {
		f, err := os.Create(*traceFlag)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		c.Trace = f
	}
	r := sim.Run(c)
	for _, v := range r.Violations {
		t.Errorf("%s", v)
	}
	t.Logf("%s\n%s, hash %x", r.Faults, &r, r.Hash)
	return true
}

// Proves: link.bundles, link.simulated, wire.lint, link.failover, names.simulated
func TestSeeds(t *testing.T) {
	if one(t, sim.Config{}) {
		return
	}
	if r := runAll(t, 1, seeds(t), func(seed uint64) sim.Config { return sim.Config{Seed: seed} }); r.CastsJudged == 0 {
		t.Error("no multicast had to be read by anybody")
	}
}

// Proves: link.simulated, hostile.docs
func TestHostile(t *testing.T) {
	if one(t, sim.Config{Hostile: true}) {
		return
	}
	r := runAll(t, 1_000_001, max(4, seeds(t)/16), func(seed uint64) sim.Config { return sim.Config{Seed: seed, Hostile: true} })
	if r.Injected == 0 {
		t.Error("nothing was injected")
	}
}

// Proves: link.simulated
func TestSameSeedSameHash(t *testing.T) {
	last := uint64(6)
	if tier.First() {
		last = 2
	}
	for seed := uint64(1); seed <= last; seed++ {
		for _, hostile := range []bool{false, true} {
			c := sim.Config{Seed: seed, Hostile: hostile, Duration: 5 * time.Second, Calm: 10 * time.Second}
			a, b := sim.Run(c), sim.Run(c)
			if a.Hash != b.Hash || a.Hash == 0 {
				t.Errorf("seed %d, hostile %v: got hash %x, then %x", seed, hostile, a.Hash, b.Hash)
			}
			c.Seed += 1000
			if o := sim.Run(c); o.Hash == a.Hash {
				t.Errorf("seeds %d and %d have the same hash %x", seed, c.Seed, a.Hash)
			}
		}
	}
}
