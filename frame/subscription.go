// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"
	"fmt"
	"strings"
)

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=EventType -linecomment

// Lengths of the topology service's records, in bytes.
const (
	SubscriptionLen  = 28
	TopologyEventLen = 48
)

// Forever is the timeout of a subscription that has none.
const Forever = 0xffffffff

// A Filter says which bindings a subscription is about.
// Source: docs/spec/06-topology.md §2.
type Filter uint32

const (
	FilterPorts        Filter = 0x01 // an event for every binding
	FilterService      Filter = 0x02 // an event for a range's first and last binding
	FilterCancel       Filter = 0x04 // takes an earlier subscription back
	FilterClusterScope Filter = 0x20
	FilterNodeScope    Filter = 0x40
	FilterNoStatus     Filter = 0x80 // nothing about bindings that are there already
)

// filterOrder has the bits of which one must be set, for the byte order to show.
const filterOrder = FilterPorts | FilterService | FilterCancel

// String returns the names of the bits, separated by commas.
func (f Filter) String() string {
	var s []string
	for i, n := range [...]string{"ports", "service", "cancel", "", "", "cluster", "node", "no-status"} {
		if n != "" && f&(1<<i) != 0 {
			s = append(s, n)
			f &^= 1 << i
		}
	}
	if f != 0 {
		s = append(s, fmt.Sprintf("%#x", uint32(f)))
	}
	return strings.Join(s, ",")
}

// An Order is the byte order a program writes its numbers in: its host's own.
type Order bool

const (
	LittleEndian Order = false
	BigEndian    Order = true
)

func (o Order) word(b []byte, i int) uint32 {
	if o == BigEndian {
		return binary.BigEndian.Uint32(b[4*i:])
	}
	return binary.LittleEndian.Uint32(b[4*i:])
}

func (o Order) append(b []byte, w uint32) []byte {
	if o == BigEndian {
		return binary.BigEndian.AppendUint32(b, w)
	}
	return binary.LittleEndian.AppendUint32(b, w)
}

// A Subscription is a view of a record by which a program asks the topology
// service for events.
//
//	|  type    |  lower   |  upper   |  timeout |  filter  |  handle, 8 bytes  |
//
// Source: docs/spec/06-topology.md §2.
type Subscription struct {
	b []byte
	o Order
}

// ParseSubscription reads the record in the first 28 bytes of b. It is in the
// order native unless its filter then has none of FilterPorts, FilterService and
// FilterCancel. What the record asks for is not judged. Errors: ErrTruncated.
// Source: docs/spec/06-topology.md §2.1.
func ParseSubscription(b []byte, native Order) (Subscription, error) {
	if len(b) < SubscriptionLen {
		return Subscription{}, ErrTruncated
	}
	s := Subscription{b[:SubscriptionLen:SubscriptionLen], native}
	if s.Filter()&filterOrder == 0 {
		s.o = !native
	}
	return s, nil
}

// Order is the order the record is written in, and events for it are.
func (s Subscription) Order() Order { return s.o }

// Bytes returns the record as received, by which it is cancelled.
func (s Subscription) Bytes() []byte { return s.b }

// Range is what the events are about. Lower may be greater than Upper.
func (s Subscription) Range() Range {
	return Range{s.o.word(s.b, 0), s.o.word(s.b, 1), s.o.word(s.b, 2)}
}

// Timeout is the time the subscription lasts, in milliseconds, or Forever.
func (s Subscription) Timeout() uint32 { return s.o.word(s.b, 3) }

// Filter says which bindings count.
func (s Subscription) Filter() Filter { return Filter(s.o.word(s.b, 4)) }

// Handle is what the program recognises the subscription by.
func (s Subscription) Handle() [8]byte { return [8]byte(s.b[20:]) }

// SubscriptionFields is what a subscription says, for writing.
type SubscriptionFields struct {
	Order   Order
	Range   Range
	Timeout uint32 // milliseconds, or Forever
	Filter  Filter
	Handle  [8]byte
}

// Fields returns what the record says.
func (s Subscription) Fields() SubscriptionFields {
	return SubscriptionFields{s.o, s.Range(), s.Timeout(), s.Filter(), s.Handle()}
}

// Append adds the record to b.
func (f *SubscriptionFields) Append(b []byte) []byte {
	for _, w := range [...]uint32{f.Range.Type, f.Range.Lower, f.Range.Upper, f.Timeout, uint32(f.Filter)} {
		b = f.Order.append(b, w)
	}
	return append(b, f.Handle[:]...)
}

// An EventType says what happened.
type EventType uint32

const (
	Published EventType = iota + 1 // published
	Withdrawn                      // withdrawn
	TimedOut                       // timed out
)

// A TopologyEvent is a view of a record by which the topology service answers a
// subscription.
//
//	|  event   |  lower   |  upper   |  port    |  node    |  subscription, 28 bytes |
//
// Source: docs/spec/06-topology.md §3.
type TopologyEvent struct {
	b []byte
	s Subscription
}

// ParseTopologyEvent reads the record in the first 48 bytes of b, in the order
// of the subscription in it; native is as in ParseSubscription. Errors:
// ErrTruncated; ErrUnknown for another event.
func ParseTopologyEvent(b []byte, native Order) (TopologyEvent, error) {
	if len(b) < TopologyEventLen {
		return TopologyEvent{}, ErrTruncated
	}
	b = b[:TopologyEventLen:TopologyEventLen]
	s, err := ParseSubscription(b[20:], native)
	if err != nil {
		return TopologyEvent{}, err
	}
	e := TopologyEvent{b, s}
	if t := e.Type(); t < Published || t > TimedOut {
		return TopologyEvent{}, ErrUnknown
	}
	return e, nil
}

// Type says what happened.
func (e TopologyEvent) Type() EventType { return EventType(e.s.o.word(e.b, 0)) }

// Found is the binding's whole range; its type is the subscription's. In TimedOut
// its bounds mean nothing.
func (e TopologyEvent) Found() Range {
	return Range{e.s.Range().Type, e.s.o.word(e.b, 1), e.s.o.word(e.b, 2)}
}

// Socket is the socket that is bound.
func (e TopologyEvent) Socket() SocketAddr {
	return SocketAddr{Port: e.s.o.word(e.b, 3), Node: NodeAddr(e.s.o.word(e.b, 4))}
}

// Subscription is the subscription answered.
func (e TopologyEvent) Subscription() Subscription { return e.s }

// TopologyEventFields is what an event says, for writing. Its order is that of
// the subscription.
type TopologyEventFields struct {
	Type         EventType
	Lower, Upper uint32
	Port         uint32
	Node         NodeAddr
	Subscription SubscriptionFields
}

// Fields returns what the record says.
func (e TopologyEvent) Fields() TopologyEventFields {
	r, a := e.Found(), e.Socket()
	return TopologyEventFields{e.Type(), r.Lower, r.Upper, a.Port, a.Node, e.s.Fields()}
}

// Append adds the record to b.
func (f *TopologyEventFields) Append(b []byte) []byte {
	for _, w := range [...]uint32{uint32(f.Type), f.Lower, f.Upper, f.Port, uint32(f.Node)} {
		b = f.Subscription.Order.append(b, w)
	}
	return f.Subscription.Append(b)
}
