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
	queue  Queue[*Lagging]
	bytes  int
	blocks int // of a member's window
}

// A Lagging is a message that waits for one member, or for several.
type Lagging struct {
	Data []byte
	held int
}

// Held is for how many members it waits.
func (x *Lagging) Held() int { return x.held }

// Len is the number of messages that wait.
func (l *GroupLag) Len() int { return int(l.queue.Len()) }

// Blocks is how much of a member's window they take, in blocks of 1 KiB.
func (l *GroupLag) Blocks() int { return l.blocks }

// Fits reports whether another message may wait where limit may.
func (l *GroupLag) Fits(n, limit int) bool {
	return l.queue.Len() < limit && l.bytes+n <= maxLagBytes
}

// Push has a message wait, and returns how many bytes more wait than did for any member.
func (l *GroupLag) Push(x *Lagging) (more int) {
	l.queue.Push(x)
	l.bytes += len(x.Data)
	l.blocks += GroupBlocks(len(x.Data))
	if x.held++; x.held == 1 {
		return len(x.Data)
	}
	return 0
}

// First is the oldest; there must be one.
func (l *GroupLag) First() *Lagging { return *l.queue.At(0) }

// Drop drops the oldest; there must be one. It returns how many bytes fewer wait for any
// member.
func (l *GroupLag) Drop() (fewer int) {
	x := l.queue.Pop()
	l.bytes -= len(x.Data)
	l.blocks -= GroupBlocks(len(x.Data))
	if x.held--; x.held == 0 {
		return len(x.Data)
	}
	return 0
}
