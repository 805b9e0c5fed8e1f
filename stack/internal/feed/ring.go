// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"bytes"
	"context"
	"sync"

	"github.com/utipc/utipc/stack/admin"
)

// A ring holds frames for a reader, in memory of a fixed size: put never waits
// and makes nothing.
type ring struct {
	mu     sync.Mutex // guards the rest but for signal
	frames []heldFrame
	first  int // of those that wait
	n      int // that wait
	mem    []byte
	at     int // where the next one's data begins in mem
	used   int // bytes
	lost   uint64
	why    error // there will be no more
	signal chan struct{}
}

// A heldFrame is one that waits, with Data in the ring's memory.
type heldFrame struct {
	admin.CapturedFrame
	size int // bytes of memory: the data, and what was left free before it
}

func (r *ring) init(frames, memory int) {
	r.frames, r.mem = make([]heldFrame, frames), make([]byte, memory)
	r.signal = make(chan struct{}, 1)
}

// put adds a frame, of whose data it keeps a copy, or counts it as lost.
func (r *ring) put(f admin.CapturedFrame) {
	r.mu.Lock()
	if !r.add(f) {
		r.lost++
	}
	r.mu.Unlock()
	Signal(r.signal)
}

func (r *ring) add(f admin.CapturedFrame) bool {
	if r.n == 0 { // all of mem is free, in one piece
		r.at = 0
	}
	k, at := len(f.Data), r.at
	gap := 0 // at the end of mem: data is never cut in two
	if at+k > len(r.mem) {
		gap, at = len(r.mem)-at, 0
	}
	if r.why != nil || r.n == len(r.frames) || r.used+gap+k > len(r.mem) {
		return false
	}
	copy(r.mem[at:], f.Data)
	f.Data = r.mem[at : at+k]
	r.frames[(r.first+r.n)%len(r.frames)] = heldFrame{f, gap + k}
	r.n++
	r.used += gap + k
	r.at = at + k
	return true
}

// next takes the oldest frame out.
func (r *ring) next(ctx context.Context) (admin.CapturedFrame, error) {
	for {
		r.mu.Lock()
		if r.n > 0 {
			f := r.frames[r.first]
			r.frames[r.first] = heldFrame{}
			r.first = (r.first + 1) % len(r.frames)
			r.n--
			r.used -= f.size
			f.Data = bytes.Clone(f.Data)
			r.mu.Unlock()
			Signal(r.signal) // another may wait, too
			return f.CapturedFrame, nil
		}
		why := r.why
		r.mu.Unlock()
		if why != nil {
			Signal(r.signal)
			return admin.CapturedFrame{}, why
		}
		select {
		case <-r.signal:
		case <-ctx.Done():
			return admin.CapturedFrame{}, ctx.Err()
		}
	}
}

// Lose counts frames that were lost before they came here.
func (r *ring) Lose(k uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost += k
}

func (r *ring) dropped() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost
}

// end says that nothing more comes; with drop, what waits is gone.
func (r *ring) end(why error, drop bool) {
	r.mu.Lock()
	if r.why == nil {
		r.why = why
	}
	if drop {
		r.n, r.used, r.at = 0, 0, 0
		clear(r.frames)
	}
	r.mu.Unlock()
	Signal(r.signal)
}
