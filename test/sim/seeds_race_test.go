// SPDX-License-Identifier: Apache-2.0

//go:build race

package sim_test

// The race detector makes a run many times slower, and there is no concurrency
// in one: a few seeds show that it works.
const (
	defaultSeeds, shortSeeds               = 8, 4
	defaultClusters, shortClusters         = 1, 1
	defaultCallClusters, shortCallClusters = 1, 1
	racing                                 = true
)
