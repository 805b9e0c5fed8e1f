// SPDX-License-Identifier: Apache-2.0

//go:build !race

package stack_test

const raceEnabled = false
