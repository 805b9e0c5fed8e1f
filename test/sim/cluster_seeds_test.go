// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"testing"

	"github.com/utipc/utipc/test/sim"
)

// Clusters of which the checkers once said what is not so, beyond the seeds that are always played:
// over three networks, what a node had sent through a tunnel did not count as sent when it came back
// (150, 354); a call that is to try again, of a node that is short of memory, was held to stand in no
// line (457). And one in which senders that need a place on the link and chunks made way for each
// other without end (89): who has waited longest is first in both lines now.
//
// Mutations: admits does not look at who has waited longer elsewhere; parallel does not look at the bearer; twins is always false; checkLine does not ask
// Called.
func TestConnectionsOfOtherSeeds(t *testing.T) {
	for _, seed := range []uint64{89, 150, 354, 457} {
		for _, v := range (sim.Cluster{Seed: seed, Connections: true}).Run().Violations {
			t.Errorf("seed %d: %s", seed, v)
		}
	}
}

// A node that ended while a device took nothing is not held to what it had said of broadcasts that were
// dropped then when it begins anew. Mutation: discovery leaves the claim.
func TestClustersOfOtherSeeds(t *testing.T) {
	r := sim.Cluster{Seed: 166, Networks: 3, Rounds: 1, Outage: true}.Run()
	for _, v := range r.Violations {
		t.Error(v)
	}
}
