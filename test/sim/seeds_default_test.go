// SPDX-License-Identifier: Apache-2.0

//go:build !race

package sim_test

const (
	defaultSeeds, shortSeeds               = 150, 60
	defaultClusters, shortClusters         = 250, 4
	defaultCallClusters, shortCallClusters = 40, 4
	racing                                 = false
)
