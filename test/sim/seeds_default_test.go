// SPDX-License-Identifier: Apache-2.0

//go:build !race

package sim_test

const defaultSeeds, shortSeeds = 1000, 100
