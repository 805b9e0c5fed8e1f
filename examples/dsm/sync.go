// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"runtime"
	"sync/atomic"
	"time"
)

// A program is one rank's part of a load, with what all ranks use to agree. Page 0 has the barrier's
// counter, page 1 the lock; a load's pages are from firstPage on.
type program struct {
	memory
	rank, ranks int
	met         uint64 // barriers so far
}

const (
	barrierPage = 0
	lockPage    = 1
	firstPage   = 2
)

// until waits for a word of the region to be what another rank makes it. Whoever looks without a
// pause keeps the processor from its own pager, and the page from who is to write to it.
func until(is func() bool) {
	for i := 0; !is(); i++ {
		if i < 10 {
			runtime.Gosched()
		} else {
			time.Sleep(time.Duration(min(i, 50)) * 10 * time.Microsecond)
		}
	}
}

// barrier returns when all ranks have called it.
func (p *program) barrier() {
	p.met++
	n := &p.words(barrierPage)[0]
	atomic.AddUint64(n, 1)
	until(func() bool { return atomic.LoadUint64(n) >= p.met*uint64(p.ranks) })
}

// locked calls f while no other rank does.
func (p *program) locked(f func()) {
	l := &p.words(lockPage)[0]
	until(func() bool { return atomic.LoadUint64(l) == 0 && atomic.CompareAndSwapUint64(l, 0, 1) })
	f()
	atomic.StoreUint64(l, 0)
}
