// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"

	"github.com/utipc/utipc/frame"
)

// ErrEvent means a topology service that answers what it was not asked.
var ErrEvent = errors.New("naming: not an event of this subscription")

// A Remote is a subscription at another node's topology service, as its client sees
// it: the record that asks, and what the answers mean.
type Remote struct {
	Filter frame.Filter
	record []byte
}

// AskRemote makes the record for a subscription that is Legal, as a message to the
// topology service. The timeout is rounded up to a millisecond and ends after 49 days
// at most; 0 is for ever. The handle tells subscriptions of one connection apart. A
// filter without FilterPorts asks for FilterService.
// Source: docs/spec/06-topology.md §2.
func AskRemote(x *Subscription, timeout time.Duration, handle uint64) (r Remote, record []byte) {
	ms := uint32(frame.Forever)
	if timeout > 0 {
		ms = uint32(min((timeout-1)/time.Millisecond+1, frame.Forever-1))
	}
	return ask(x, ms, handle)
}

// AskOnce is AskRemote for the bindings that exist alone: the subscription is over when
// they were told.
// Source: docs/spec/06-topology.md §2.3.
func AskOnce(x *Subscription, handle uint64) (r Remote, record []byte) { return ask(x, 0, handle) }

func ask(x *Subscription, ms uint32, handle uint64) (r Remote, record []byte) {
	f := frame.SubscriptionFields{Order: frame.LittleEndian, Range: x.Range, Timeout: ms, Filter: x.Filter &^ frame.FilterCancel}
	if f.Filter&frame.FilterPorts == 0 {
		f.Filter |= frame.FilterService // without a bit of its own the order would not show
	}
	binary.LittleEndian.PutUint64(f.Handle[:], handle)
	b := f.Append(nil)
	return Remote{f.Filter, b}, bytes.Clone(b)
}

// HandleOf is the handle of the subscription that a message of the topology service is
// for. Errors: those of frame.ParseTopologyEvent.
func HandleOf(msg []byte) (handle uint64, err error) {
	e, err := frame.ParseTopologyEvent(msg, frame.LittleEndian)
	if err != nil {
		return 0, err
	}
	h := e.Subscription().Handle()
	return binary.LittleEndian.Uint64(h[:]), nil
}

// Cancel is the record that takes the subscription back.
// Source: docs/spec/06-topology.md §2.2.
func (r Remote) Cancel() []byte {
	s, _ := frame.ParseSubscription(r.record, frame.LittleEndian)
	f := s.Fields()
	f.Filter |= frame.FilterCancel
	return f.Append(nil)
}

// Event reads a message of the topology service. Over: it was the last, the time is
// over, and ev says nothing. A binding's scope and key are not told: they are zero.
// Errors: ErrEvent, also for a range that was not asked for; those of
// frame.ParseTopologyEvent.
// Source: docs/spec/06-topology.md §3.
func (r Remote) Event(msg []byte) (ev Event, over bool, err error) {
	e, err := frame.ParseTopologyEvent(msg, frame.LittleEndian)
	if err != nil {
		return Event{}, false, err
	}
	if len(msg) != frame.TopologyEventLen || !bytes.Equal(e.Subscription().Bytes(), r.record) {
		return Event{}, false, ErrEvent
	}
	if e.Type() == frame.TimedOut {
		return Event{}, true, nil
	}
	found := e.Found()
	if found.Lower > found.Upper || !found.Overlaps(e.Subscription().Range()) {
		return Event{}, false, ErrEvent
	}
	return Event{
		Withdrawn: e.Type() == frame.Withdrawn, Edge: r.Filter&frame.FilterService != 0,
		Binding: Binding{Range: found, Socket: e.Socket()},
	}, false, nil
}
