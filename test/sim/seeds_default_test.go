// SPDX-License-Identifier: Apache-2.0

//go:build !race

package sim_test

const (
	defaultSeeds, shortSeeds       = 500, 60
	defaultClusters, shortClusters = 1000, 4
	racing                         = false
)
