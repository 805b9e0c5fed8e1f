// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package poll

// cpuQuota reports no limit: only Linux is known to set one.
func cpuQuota() (cores float64, ok bool) { return 0, false }
