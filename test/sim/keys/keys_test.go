// SPDX-License-Identifier: Apache-2.0

package keys_test

import (
	"testing"

	"github.com/utipc/utipc/test/sim/keys"
)

// TestKeys runs clusters of each kind of keys.
//
// Proves: keys.simulated
func TestKeys(t *testing.T) {
	n := uint64(seeds)
	if testing.Short() {
		n /= 2
	}
	var all keys.Report
	for seed := uint64(1); seed <= n; seed++ {
		r := keys.Config{Seed: seed}.Run()
		if r.Violations > 0 {
			t.Logf("seed %d: %s: %s", seed, r.Setup, &r)
		}
		for _, v := range r.Findings {
			t.Error(v)
		}
		all.Add(r)
	}
	t.Logf("%d clusters: %s", all.Clusters, &all)
	if n >= 30 && (all.Taken == 0 || all.Switched == 0 || all.Crashes == 0 || all.Meddled == 0 || all.Read == 0) {
		t.Error("something that is to happen did not")
	}
}

// TestChecksFind makes mistakes, and sees the checks tell.
//
// Proves: keys.simulated
func TestChecksFind(t *testing.T) {
	for m, seed := range map[keys.Mutation]uint64{
		keys.SameStart: 5, keys.Forget: 5, keys.Deaf: 7, keys.Insider: 10, keys.Silence: 6, keys.Swallow: 5, keys.Again: 5, keys.SendMaster: 7, keys.Keep: 5,
	} {
		r := keys.Config{Seed: seed, Mutation: m}.Run()
		if r.Violations == 0 {
			t.Errorf("%v: nothing was found in %s", m, r.Setup)
			continue
		}
		t.Logf("%v: %d found, first: %s", m, r.Violations, r.Findings[0])
	}
}
