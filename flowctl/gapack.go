// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// emptyGapAck is a Gap ACK record without a block: its length, and two counts.
var emptyGapAck = []byte{0, 4, 0, 0}

// gapBlockLen is the length of a block, in bytes.
const gapBlockLen = 4

// withGapAck reports whether STATE messages of this link begin their data with a
// Gap ACK record: where both ends announce so, and then always.
// Source: docs/spec/02-link.md §5.
func (l *Link) withGapAck() bool {
	return l.cfg.Capabilities&l.caps&frame.CapGapAckBlock != 0
}

// holdsRecord reports whether the data of a STATE begin with a whole record where
// one must be. Source: docs/spec/02-link.md §4.5.
func (l *Link) holdsRecord(data []byte) bool {
	return !l.withGapAck() || len(data) >= len(emptyGapAck) && int(data[0])<<8|int(data[1]) <= len(data)
}

// writeBlocks queues a STATE that tells what came early: on this link where it reports
// a gap, and on the broadcast link always. The message is no longer than a packet may be.
// Source: docs/spec/02-link.md §5; docs/spec/04-broadcast.md §4.3.
func (l *Link) writeBlocks(now time.Duration, f *frame.StateFields) {
	room := (l.MTU() - frame.IntLen - len(emptyGapAck)) / gapBlockLen
	var bcast, unicast [frame.MaxGapBlocks]frame.GapBlock
	var r frame.GapAckFields
	r.Bcast = shorten(l.bcast.blocks(bcast[:0:min(frame.MaxGapBlocks, room)]))
	if f.Gap > 0 {
		r.Unicast = shorten(l.deferral.blocks(unicast[:0:min(frame.MaxGapBlocks, room-len(r.Bcast))]))
	}
	var record [4 + 2*frame.MaxGapBlocks*gapBlockLen]byte
	l.writeState(now, f, r.Append(record[:0]))
}

// shorten ends a list that was cut off before its longest as one that is complete.
func shorten(blocks []frame.GapBlock) []frame.GapBlock {
	if n := len(blocks); n > 0 && n < frame.MaxGapBlocks {
		blocks[n-1].Gap = 0
	}
	return blocks
}
