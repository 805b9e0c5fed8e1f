// SPDX-License-Identifier: Apache-2.0

//go:build race

package device

// raceEnabled says that allocations cannot be counted.
const raceEnabled = true
