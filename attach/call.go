// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"bytes"
	"encoding/binary"

	"github.com/utipc/utipc/frame"
)

const (
	// MaxVerb is the length of the longest name of a verb, in bytes.
	MaxVerb = 64
	// MaxRequest is the most data the request of an OpCall or OpStream may have, all its
	// records together, in bytes.
	MaxRequest = 1 << 20
	// MaxAnswer is the most data an answer to OpCall may have, all its records together.
	MaxAnswer = 512 << 20
)

// AppendCall appends the data of an OpCall or OpStream: the verb's name, a zero byte,
// and what it takes, JSON.
func AppendCall(b []byte, verb string, in []byte) []byte {
	return append(append(append(b, verb...), 0), in...)
}

// ParseCall takes such data apart; in shares memory with it. Errors: ErrRecord, for a
// name that is empty, longer than MaxVerb, or of other characters than a-z, 0-9, '.', '-'
// and '_'.
func ParseCall(data []byte) (verb string, in []byte, err error) {
	name, in, ok := bytes.Cut(data, []byte{0})
	if !ok || len(name) == 0 || len(name) > MaxVerb {
		return "", nil, ErrRecord
	}
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '-' && c != '_' {
			return "", nil, ErrRecord
		}
	}
	return string(name), in, nil
}

// Join gathers data that comes in several records, each but the last with FlagMore.
// It belongs to one call. Its zero value has gathered nothing.
type Join struct {
	data []byte
	over bool
}

// Add adds the data of the next record, which it copies, unless it is the only one.
// Once it returns done all is there; the result is then the caller's. Errors:
// ErrTooLong as soon as there is more than limit; what is gathered is dropped then, and
// so is all that follows until the last record, which is told by done.
func (j *Join) Add(h *Header, data []byte, limit int) (all []byte, done bool, err error) {
	done = h.Flags&FlagMore == 0
	switch {
	case j.over, len(j.data)+len(data) > limit:
		*j = Join{over: !done}
		return nil, done, ErrTooLong
	case done && len(j.data) == 0:
		return data, true, nil
	}
	j.data = append(j.data, data...)
	if !done {
		return nil, false, nil
	}
	all = j.data
	*j = Join{}
	return all, true, nil
}

// Split calls write with the records of data: one, or several that each but the last
// have FlagMore. It stops at the first error.
func Split(h Header, data []byte, write func(*Header, []byte) error) error {
	for len(data) > MaxData {
		part := h
		part.Flags |= FlagMore
		if err := write(&part, data[:MaxData]); err != nil {
			return err
		}
		data = data[MaxData:]
	}
	h.Flags &^= FlagMore
	return write(&h, data)
}

// An Event is a topology event: of bindings that overlap what was subscribed to, or
// the end of the subscription's time. In a record it is eight u32, in this order.
type Event struct {
	Kind  uint32 // EventPublished, EventWithdrawn, EventTimeout, EventComplete
	Range frame.Range
	Port  uint32 // of the socket
	Node  frame.NodeAddr
	Scope uint32
	Key   uint32
}

// Kinds of event. Source: linux/tipc.h.
const (
	EventPublished = 1   // TIPC_PUBLISHED
	EventWithdrawn = 2   // TIPC_WITHDRAWN
	EventTimeout   = 3   // TIPC_SUBSCR_TIMEOUT
	EventComplete  = 256 // with FlagComplete: the bindings that existed were told; nothing else in it

	// EventLen is the length of an event in a record, in bytes.
	EventLen = 32
	// MaxEvents is how many fit in a record.
	MaxEvents = MaxData / EventLen
)

// Append appends the event to the data of an OpEvent.
func (ev *Event) Append(b []byte) []byte {
	for _, v := range [...]uint32{ev.Kind, ev.Range.Type, ev.Range.Lower, ev.Range.Upper, ev.Port, uint32(ev.Node), ev.Scope, ev.Key} {
		b = binary.NativeEndian.AppendUint32(b, v)
	}
	return b
}

// ParseEvents reads the events in a record's data into into, which it returns from the
// beginning. Errors: ErrRecord.
func ParseEvents(data []byte, into []Event) ([]Event, error) {
	if len(data)%EventLen != 0 || len(data) > EventLen*MaxEvents {
		return nil, ErrRecord
	}
	into = into[:0]
	for ; len(data) > 0; data = data[EventLen:] {
		u := func(i int) uint32 { return binary.NativeEndian.Uint32(data[4*i:]) }
		into = append(into, Event{u(0), frame.Range{Type: u(1), Lower: u(2), Upper: u(3)}, u(4), frame.NodeAddr(u(5)), u(6), u(7)})
	}
	return into, nil
}
