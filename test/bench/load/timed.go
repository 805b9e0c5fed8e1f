// SPDX-License-Identifier: Apache-2.0

package load

import (
	"encoding/binary"
	"runtime"
	"time"
)

// TimedSize is the least size of Job.Timed messages, in bytes: a round and a time.
const TimedSize = 12

// A Pace says when the messages of a sender with Job.Timed and Job.Offered are due, at a
// rate that does not depend on whether they can be sent: one that cannot be sent in time
// is sent later, and the receiver sees by how much.
type Pace struct {
	begin time.Time
	each  float64 // ns between two messages
	n     float64 // messages that were due
}

// NewPace begins now, at so many messages a second.
func NewPace(rate float64) *Pace { return &Pace{begin: time.Now(), each: 1e9 / rate} }

// Next waits until the next message is due, busily, and writes that time into b. It
// returns false when stop is set.
func (p *Pace) Next(b []byte, stop *Stop) bool {
	p.n++
	due := time.Duration(p.n * p.each)
	for time.Since(p.begin) < due {
		if stop.Load() {
			return false
		}
		runtime.Gosched()
	}
	binary.BigEndian.PutUint64(b[4:], uint64(p.begin.Add(due).UnixNano()))
	return !stop.Load()
}

// Offered is how many messages were due.
func (p *Pace) Offered() uint64 { return uint64(time.Since(p.begin).Seconds() * 1e9 / p.each) }

// Delays measures how late messages come: not at first, a fifth of the time, then for
// the time. Its memory is taken when it is made. Both ends must have one clock.
type Delays struct {
	samples    []uint32 // ns
	d          time.Duration
	first      time.Time // arrival
	begin, end time.Time // of what counts
	all        uint64
	bytes      uint64
	over       uint64 // messages for which there was no memory
}

// NewDelays measures for d.
func NewDelays(d time.Duration) *Delays {
	return &Delays{samples: make([]uint32, 0, maxTrips), d: d}
}

// Add takes message b. It returns false when the time is over.
func (l *Delays) Add(b []byte) bool {
	now := time.Now()
	l.all++
	switch {
	case l.first.IsZero():
		l.first = now
		return true
	case l.begin.IsZero():
		if now.Sub(l.first) >= l.d/5 {
			l.begin = now
		}
		return true
	}
	late := now.UnixNano() - int64(binary.BigEndian.Uint64(b[4:]))
	if len(l.samples) < cap(l.samples) {
		l.samples = append(l.samples, uint32(max(0, min(late, 1<<32-1))))
	} else {
		l.over++
	}
	l.bytes += uint64(len(b))
	l.end = now
	return now.Sub(l.begin) < l.d
}

// Result sums up.
func (l *Delays) Result() Result {
	r := Result{Count: uint64(len(l.samples)) + l.over, Bytes: l.bytes, All: l.all}
	if r.Count > 0 {
		r.Elapsed = l.end.Sub(l.begin)
		fill(&r, l.samples)
	}
	return r
}
