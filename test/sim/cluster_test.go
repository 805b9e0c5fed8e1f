// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"strings"
	"testing"

	"github.com/utipc/utipc/test/sim"
)

// Names agree, events are true, multicasts arrive: see sim.Cluster.
func TestClusters(t *testing.T) {
	n := max(4, seeds(t)/25)
	var all sim.ClusterReport
	for _, r := range sim.Clusters(1, n) {
		for _, v := range r.Violations {
			t.Errorf("%s", v)
		}
		if len(r.Violations) > 0 {
			t.Logf("%s; repeat with: utipc sim names --seed %d --trace FILE", r.Setup, r.Seed)
		}
		all.Add(r)
	}
	t.Logf("%d clusters: %s", n, &all)
	for what, count := range map[string]uint64{
		"purges": all.Purges, "multicasts": all.Casts, "copies judged": all.Judged, "broadcasts": all.Broadcasts,
		"replicasts": all.Replicast, "switches": all.Barriers, "fragmented multicasts": all.Fragmented, "unbindings": all.Unbinds,
	} {
		if count == 0 {
			t.Errorf("no %s in %d clusters", what, n)
		}
	}
}

func TestClusterSameSeedSameHash(t *testing.T) {
	a, b := sim.Cluster{Seed: 2, Rounds: 1}.Run(), sim.Cluster{Seed: 2, Rounds: 1}.Run()
	if a.Hash != b.Hash || a.Hash == 0 {
		t.Errorf("got hash %x, then %x", a.Hash, b.Hash)
	}
	if o := (sim.Cluster{Seed: 3, Rounds: 1}).Run(); o.Hash == a.Hash {
		t.Errorf("seeds 2 and 3 have the same hash %x", a.Hash)
	}
}

// Each deliberate mistake is seen within a few seeds, and without it there is nothing.
func TestClusterSeesMistakes(t *testing.T) {
	for _, x := range []struct {
		mutation sim.Mutation
		name     string
		kinds    []string // of the first violation
	}{
		{sim.OmitWithdrawal, "OmitWithdrawal", []string{"frames", "tables"}},
		{sim.SkipUpdate, "SkipUpdate", []string{"frames", "tables"}},
		{sim.CastTwice, "CastTwice", []string{"multicast"}},
		{sim.IgnoreBarrier, "IgnoreBarrier", []string{"multicast"}},
		{sim.ForgetPurge, "ForgetPurge", []string{"purge", "events"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= 12; seed++ {
				r := sim.Cluster{Seed: seed, Mutation: x.mutation}.Run()
				for _, v := range r.Violations {
					for _, kind := range x.kinds {
						if strings.HasPrefix(v, kind+",") {
							t.Log(v)
							return
						}
					}
				}
			}
			t.Errorf("no violation of %v", x.kinds)
		})
	}
}
