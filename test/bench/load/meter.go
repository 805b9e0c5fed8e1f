// SPDX-License-Identifier: Apache-2.0

package load

import "time"

// A Meter looks at the clock after so many messages or bytes.
const (
	clockEvery = 64
	clockBytes = 1 << 20
)

// A Meter counts what arrives: not at first, a fifth of the time, then for the time.
type Meter struct {
	d          time.Duration
	first      time.Time // arrival
	begin, end time.Time // of the window
	n, bytes   uint64    // in the window
	all        uint64    // messages
	unread     int       // messages since the clock was read
	unreadLen  int       // bytes since then
	mallocs    Mallocs
}

// NewMeter counts for d.
func NewMeter(d time.Duration) *Meter { return &Meter{d: d, unread: clockEvery} }

// Add counts n messages of so many bytes together. It returns false when the time
// is over.
func (m *Meter) Add(n, bytes int) bool {
	m.n += uint64(n)
	m.all += uint64(n)
	m.bytes += uint64(bytes)
	m.unread += n
	m.unreadLen += bytes
	if m.unread < clockEvery && m.unreadLen < clockBytes {
		return true
	}
	m.unread, m.unreadLen = 0, 0
	now := time.Now()
	switch {
	case m.first.IsZero():
		m.first = now
	case m.begin.IsZero():
		if now.Sub(m.first) >= m.d/5 {
			m.mallocs.Begin()
			m.begin = time.Now()
			m.n, m.bytes = 0, 0
		}
	case now.Sub(m.begin) >= m.d:
		m.end = now
		return false
	}
	return true
}

// Result sums up. When the time was not over it counts up to now.
func (m *Meter) Result() Result {
	r := Result{Count: m.n, Bytes: m.bytes, All: m.all}
	if m.begin.IsZero() {
		return Result{}
	}
	if m.end.IsZero() {
		m.end = time.Now()
	}
	r.Elapsed = m.end.Sub(m.begin)
	r.Messages, r.Mallocs = r.Count, m.mallocs.End()
	return r
}
