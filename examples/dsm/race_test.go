// SPDX-License-Identifier: Apache-2.0

//go:build linux && race

package main

// recovers is false: the race detector makes atomic accesses in C, where a SIGBUS ends the process.
func init() { recovers = false }
