// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"bytes"
	"slices"

	"github.com/utipc/utipc/frame"
)

// groupAhead is how far the number of a message may be beyond the one expected.
const groupAhead = 1024

// A GroupItem is a message of a member, or its leaving, that has a place among the
// others.
type GroupItem struct {
	Number     frame.Seq // of a broadcast its own; else that of the next one
	Numbered   bool      // a broadcast or multicast
	Event      bool      // the member leaves
	AckRequest bool
	Type       frame.PayloadType
	Instance   uint32 // that it is for, of a multicast
	Importance frame.Importance
	Data       []byte
}

// A GroupOrder puts the messages of one member into the order in which that sent them:
// its broadcasts come by another way than its unicasts. What comes early waits. Flow
// control limits how much that is. Source: docs/spec/08-groups.md §5.1.
type GroupOrder struct {
	next  frame.Seq // broadcast expected
	items []GroupItem
}

// Next is the number of the broadcast expected.
func (o *GroupOrder) Next() frame.Seq { return o.next }

// Waiting is the number of items that wait for others.
func (o *GroupOrder) Waiting() int { return len(o.items) }

// Sync makes n the number expected. Broadcasts before it that wait are dropped; Dropped
// is called for each, if not nil.
func (o *GroupOrder) Sync(n frame.Seq, dropped func(*GroupItem)) {
	o.next = n
	o.items = slices.DeleteFunc(o.items, func(it GroupItem) bool {
		gone := it.Numbered && it.Number.Before(n)
		if gone && dropped != nil {
			dropped(&it)
		}
		return gone
	})
}

// Leaves reports whether the member's leaving waits for messages before it.
func (o *GroupOrder) Leaves() bool {
	return slices.ContainsFunc(o.items, func(it GroupItem) bool { return it.Event })
}

// Put gives an item its place. now means that it is its turn, and nothing is kept;
// kept that it waits, its data copied; neither that it is a repetition, or too far
// ahead.
func (o *GroupOrder) Put(it *GroupItem) (now, kept bool) {
	switch {
	case it.Numbered && it.Number.Before(o.next), it.Number.After(o.next) && o.next.Distance(it.Number) >= groupAhead:
		return false, false
	case it.Number.AtMost(o.next): // what waits comes after it
		if it.Numbered {
			o.next++
		}
		return true, false
	}
	at := len(o.items)
	for i, x := range o.items {
		if it.Numbered && x.Numbered && x.Number == it.Number {
			return false, false
		}
		if x.Number.After(it.Number) {
			at = min(at, i)
			break
		}
	}
	x := *it
	x.Data = bytes.Clone(it.Data)
	o.items = slices.Insert(o.items, at, x)
	return false, true
}

// Take returns the next item that waits, if it is its turn.
func (o *GroupOrder) Take() (it GroupItem, ok bool) {
	if len(o.items) == 0 || o.items[0].Number.After(o.next) {
		return GroupItem{}, false
	}
	it = o.items[0]
	o.items = slices.Delete(o.items, 0, 1)
	if len(o.items) == 0 {
		o.items = nil
	}
	if it.Numbered {
		o.next++
	}
	return it, true
}

// Clear drops what waits, and calls dropped for each.
func (o *GroupOrder) Clear(dropped func(*GroupItem)) {
	for i := range o.items {
		dropped(&o.items[i])
	}
	o.items = nil
}
