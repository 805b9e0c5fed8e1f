// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"hash/crc32"
	"math/rand/v2"

	"github.com/utipc/utipc/netdev"
)

// A linger is the frames that are sent and not complete yet.
type linger struct {
	longest int // calls
	dice    *rand.Rand
	frames  []sentFrame
}

type sentFrame struct {
	buf   *netdev.Buffer
	bytes []byte // as they were sent; of the chunk
	sum   uint32
	calls int // until it is complete
}

// set begins anew with other numbers. What lingers goes on as it was thrown.
func (l *linger) set(longest int, seed, stream uint64) {
	l.longest, l.dice = longest, rand.New(rand.NewPCG(seed, stream))
}

// add lends a frame that was sent.
func (l *linger) add(b *netdev.Buffer) {
	if l.longest <= 0 {
		return
	}
	b.Lend()
	l.frames = append(l.frames, sentFrame{b, b.Bytes(), checksum(b.Bytes()), 1 + l.dice.IntN(l.longest)})
}

// tick is a call of the Injector: what is due is complete. It returns how many of
// those were changed.
func (l *linger) tick() (changed uint64) {
	keep := l.frames[:0]
	for _, f := range l.frames {
		if f.calls--; f.calls > 0 {
			keep = append(keep, f)
		} else if f.complete() {
			changed++
		}
	}
	clear(l.frames[len(keep):])
	l.frames = keep
	return changed
}

// end completes everything.
func (l *linger) end() (changed uint64) {
	for _, f := range l.frames {
		if f.complete() {
			changed++
		}
	}
	l.frames = nil
	return changed
}

func (f *sentFrame) complete() (changed bool) {
	changed = checksum(f.bytes) != f.sum
	f.buf.Complete()
	return changed
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
