// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"strings"
	"testing"

	"github.com/utipc/utipc/test/sim"
)

// Connections carry all, in order, end as they were ended, and nobody waits for ever: see
// sim.Cluster and its checks in cluster_call.go.
//
// Proves: socket.simulated
func TestClusterConnections(t *testing.T) {
	n := defaultCallClusters
	if testing.Short() {
		n = shortCallClusters
	}
	var all sim.ClusterReport
	ran := 0
	run := func(n int) {
		for _, r := range sim.Clusters(sim.Cluster{Seed: 1 + uint64(ran), Connections: true}, n) {
			for _, v := range r.Violations {
				t.Errorf("%s", v)
			}
			if len(r.Violations) > 0 {
				t.Logf("%s; repeat with: utipc-lab sim connections --seed %d --trace FILE", r.Setup, r.Seed)
			}
			all.Add(r)
		}
		ran += n
	}
	run(n)
	if racing {
		n = 0 // a single cluster need not have had everything
	}
	for len(missing(&all)) > 0 && ran < 4*n { // few clusters may happen to miss something
		run(1)
	}
	t.Logf("%d clusters: %s\n%s", ran, &all, &all.CallReport)
	if what := missing(&all); n > 0 && len(what) > 0 {
		t.Errorf("none of %v in %d clusters", what, ran)
	}
}

// missing lists what has not happened.
func missing(all *sim.ClusterReport) (what []string) {
	for name, count := range map[string]uint64{
		"connections": all.Connected, "storms": all.Storms, "dials refused": all.Refused, "dials not answered": all.Timeouts,
		"ends read": all.Shutdowns, "resets read": all.Resets, "lost contacts": all.CallsLost, "waits for a window": all.WindowWaits,
		"long pauses": all.Pauses, "accounts": all.Accounts, "lost bytes": all.LostBytes, "refused chunks": all.ChunksRefused, "full devices": all.Jams,
		"waits in message mode": all.MessageWaits, "waits for links and memory": all.CallWaits, "ends behind the tolerance": all.EndsLooked,
	} {
		if count == 0 {
			what = append(what, name)
		}
	}
	return what
}

func TestClusterConnectionsSameSeedSameHash(t *testing.T) {
	if racing {
		t.Skip("too long here; test/run has it without the race detector")
	}
	c := sim.Cluster{Seed: 2, Connections: true, Rounds: 1, Nodes: 3}
	a, b := c.Run(), c.Run()
	c.Seed = 3
	if o := c.Run(); a.Hash != b.Hash || a.Hash == 0 || a.Hash == o.Hash {
		t.Errorf("got hash %x, then %x; of another seed %x", a.Hash, b.Hash, o.Hash)
	}
}

// Each deliberate mistake is seen within a few seeds.
//
// Proves: socket.simulated
func TestClusterSeesMistakesInConnections(t *testing.T) {
	if racing {
		t.Skip("too long here; test/run has it without the race detector")
	}
	for _, x := range []struct {
		mutation sim.Mutation
		name     string
		kinds    []string // of the first violation
	}{
		{sim.ForgetWriter, "ForgetWriter", []string{"waits"}},
		{sim.ForgetLoss, "ForgetLoss", []string{"connections"}}, // as when lost does not call loseUnacked
	} {
		t.Run(x.name, func(t *testing.T) {
			for seed := uint64(1); seed <= 12; seed++ {
				r := sim.Cluster{Seed: seed, Connections: true, Mutation: x.mutation}.Run()
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
