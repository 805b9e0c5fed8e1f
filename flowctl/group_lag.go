// SPDX-License-Identifier: Apache-2.0

package flowctl

// MaxGroupLag is the most messages that may wait for one slow member, and maxLagBytes the
// most bytes.
const (
	MaxGroupLag = 4096
	maxLagBytes = 4 << 20
)

// A GroupLag is the messages that wait for one member which reads too slowly, while the
// others get theirs. Where several members lag they share the data, so it is not to be
// changed. The zero value is empty.
type GroupLag struct {
	queue Queue[Lagging]
	bytes int
}

// A Lagging is a message that waits for one member.
type Lagging struct {
	Data []byte
}

// Len is the number of messages that wait.
func (l *GroupLag) Len() int { return int(l.queue.Len()) }

// Fits reports whether another message may wait where limit may.
func (l *GroupLag) Fits(n, limit int) bool {
	return l.queue.Len() < limit && l.bytes+n <= maxLagBytes
}

// Push has a message wait.
func (l *GroupLag) Push(x Lagging) {
	l.queue.Push(x)
	l.bytes += len(x.Data)
}

// First is the oldest; there must be one.
func (l *GroupLag) First() *Lagging { return l.queue.At(0) }

// Drop drops the oldest; there must be one.
func (l *GroupLag) Drop() {
	l.bytes -= len(l.queue.At(0).Data)
	l.queue.Drop()
}

// Clear drops all.
func (l *GroupLag) Clear() { *l = GroupLag{} }
