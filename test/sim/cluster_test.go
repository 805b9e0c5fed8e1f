// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"strings"
	"testing"

	"github.com/utipc/utipc/test/sim"
)

// Names agree, events are true, multicasts arrive: see sim.Cluster.
//
// Proves: names.simulated
func TestClusters(t *testing.T) {
	n := defaultClusters
	if testing.Short() {
		n = shortClusters
	}
	var all sim.ClusterReport
	for _, r := range sim.Clusters(sim.Cluster{Seed: 1}, n) {
		for _, v := range r.Violations {
			t.Errorf("%s", v)
		}
		if len(r.Violations) > 0 {
			t.Logf("%s; repeat with: utipc-lab sim names --seed %d --trace FILE", r.Setup, r.Seed)
		}
		all.Add(r)
	}
	t.Logf("%d clusters: %s", n, &all)
	if racing {
		return // a single cluster need not have had everything
	}
	for what, count := range map[string]uint64{
		"purges": all.Purges, "multicasts": all.Casts, "copies judged": all.Judged, "broadcasts": all.Broadcasts,
		"replicasts": all.Replicast, "switches": all.Barriers, "fragmented multicasts": all.Fragmented, "unbindings": all.Unbinds,
	} {
		if count == 0 {
			t.Errorf("no %s in %d clusters", what, n)
		}
	}
}

// Nodes that are suspended for hours, one by one or all together, find each other again as if
// they met: no timer makes up for what it missed. See sim.Cluster.Suspend.
//
// Mutations: discoveryTimeout adds its interval to when it was due, not to now, or goes on as
// slowly as before.
//
// Proves: names.simulated
func TestClustersSuspended(t *testing.T) {
	n := 32
	if testing.Short() || racing {
		n = 8
	}
	var all sim.ClusterReport
	for _, r := range sim.Clusters(sim.Cluster{Seed: 1, Suspend: true}, n) {
		for _, v := range r.Violations {
			t.Errorf("%s (%s)", v, r.Setup)
		}
		all.Add(r)
	}
	t.Logf("%d clusters, %d suspensions: %s", n, all.Suspended, &all)
	if all.Suspended == 0 || all.Lost == 0 {
		t.Error("no node was suspended, or none lost contact")
	}
}

// Clusters on three networks, of which first one fails for good, and then one more: between each
// two nodes are two links while two networks work, one while one does, and names agree. See
// sim.Cluster.Outage.
//
// Mutation: replace does nothing.
//
// Proves: names.simulated
func TestClustersOverThreeNetworks(t *testing.T) {
	n := 24
	if testing.Short() || racing {
		n = 4
	}
	var all sim.ClusterReport
	for _, r := range sim.Clusters(sim.Cluster{Seed: 1, Networks: 3, Rounds: 1, Outage: true}, n) {
		for _, v := range r.Violations {
			t.Errorf("%s (%s)", v, r.Setup)
		}
		t.Logf("seed %d: %v, %s", r.Seed, r.Slowest, r.Setup)
		all.Add(r)
	}
	t.Logf("%d clusters, well again after %v at the latest: %s", n, all.Slowest, &all)
}

// A hundred nodes of a hundred bindings begin at once, and agree.
//
// Proves: names.simulated
func TestClusterBoot(t *testing.T) {
	if testing.Short() || racing {
		t.Skip("too long here; test/run has it without the race detector")
	}
	r := sim.BigBoot(1)
	for _, v := range r.Violations {
		t.Errorf("%s", v)
	}
	t.Logf("%d nodes of %d bindings: all tables equal %v after the first began", sim.BootNodes, sim.BootBindings, r.Booted)
	if r.Booted == 0 {
		t.Error("they never agreed")
	}
}

// Proves: names.simulated
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
//
// Proves: names.simulated
func TestClusterSeesMistakes(t *testing.T) {
	if racing {
		t.Skip("too long here; test/run has it without the race detector")
	}
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
