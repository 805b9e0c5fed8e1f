// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"time"

	"golang.org/x/sys/unix"
)

// A processorTime is what a thread has had of a processor.
type processorTime struct {
	thread int
	at     time.Duration
}

// threadTime is that of the thread which runs the calling goroutine now.
func threadTime() processorTime {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return processorTime{}
	}
	return processorTime{unix.Gettid(), time.Duration(t.Nano())}
}

// since is the processor time since an earlier one; ok is false if that was another thread's.
func (t processorTime) since(began processorTime) (d time.Duration, ok bool) {
	return t.at - began.at, t.thread != 0 && t.thread == began.thread
}
