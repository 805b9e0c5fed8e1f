// SPDX-License-Identifier: Apache-2.0

//go:build linux

package engine

import (
	"syscall"
	"testing"
)

// cpuTime reports, at the end, the processor time of an iteration: on a busy machine
// the clock says little.
func cpuTime(b *testing.B) (end func()) {
	start := usage()
	return func() { b.ReportMetric(float64(usage()-start)/float64(b.N), "cpu-ns/op") }
}

func usage() int64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}
