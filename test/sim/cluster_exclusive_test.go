// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"testing"

	"github.com/utipc/utipc/test/sim"
)

// Whatever happens to nodes and networks, no two sockets have an exclusive name once it is quiet. See
// sim.Cluster.Exclusive.
//
// Proves: names.simulated
func TestClustersExclusive(t *testing.T) {
	n := 32
	if testing.Short() || racing {
		n = 8
	}
	var all sim.ClusterReport
	for _, r := range sim.Clusters(sim.Cluster{Seed: 1, Exclusive: true}, n) {
		for _, v := range r.Violations {
			t.Errorf("%s (%s)", v, r.Setup)
		}
		all.Add(r)
	}
	t.Logf("%d clusters, %d exclusive bindings, %d lost: %s", n, all.Sole, all.SoleLost, &all)
	if all.Sole == 0 || all.SoleLost == 0 {
		t.Error("no name was exclusive, or none was lost")
	}
}
