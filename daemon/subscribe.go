// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack"
)

// subscribe makes the connection a subscription to topology events.
func (x *session) subscribe(h *attach.Header) error {
	r, ok := h.Addr.Range()
	scope, err := scopeOf(h.Addr, 0)
	switch {
	case !ok || err != nil:
		return x.answer(h, syscall.EINVAL)
	case !x.claim():
		return x.answer(h, syscall.EISCONN)
	}
	if err := x.charge(subscriptions, 1); err != nil {
		x.unclaim()
		return x.answer(h, err)
	}
	kept := max(0, int(min(h.Arg1, mostEvents))-usualEvents) * eventSize
	if err := x.charge(queuedBytes, kept); err != nil {
		x.client.release(subscriptions, 1)
		x.unclaim()
		return x.answer(h, err)
	}
	cfg := stack.SubscriptionConfig{
		At: stack.NodeAddr(h.Arg0), Ranges: h.Flags&attach.FlagRanges != 0, Scope: scope,
		Changes: h.Flags&attach.FlagChanges != 0, Timeout: duration(h.Wide), Limit: int(min(h.Arg1, mostEvents)),
	}
	req := *h
	x.srv.wg.Go(func() {
		defer x.client.release(subscriptions, 1)
		defer x.client.release(queuedBytes, kept)
		s, err := cfg.Subscribe(x.ctx, x.srv.node, r)
		existed := 0 // that wait, beyond what is usual
		if err == nil {
			defer s.Close()
			existed = max(0, s.Pending()-usualEvents)
			if err = x.charge(queuedBytes, existed*eventSize); err != nil {
				existed = 0
			}
		}
		if err != nil {
			x.unclaim()
		}
		defer func() { x.client.release(queuedBytes, existed*eventSize) }()
		if x.tell(&req, told{err: err}) == nil && err == nil {
			x.events(s, &existed)
		}
	})
	return nil
}

// How many events of a subscription may wait. Room for more than is usual counts as
// queued bytes as long as the subscription lasts, and those of bindings that existed until
// they are read.
const (
	usualEvents = 4096
	mostEvents  = 1 << 16
	eventSize   = 64 // bytes
)

// claim makes the session something other than a socket; false when it is something.
func (x *session) claim() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.port != nil || x.other {
		return false
	}
	x.other = true
	return true
}

func (x *session) unclaim() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.other = false
}

// eventsAtOnce is how many events go in a record at most.
const eventsAtOnce = 128

// events tells of events until there are no more.
func (x *session) events(s *stack.Subscription, existed *int) {
	buf := make([]byte, 0, eventsAtOnce*attach.EventLen)
	for {
		ev, err := s.Next(x.ctx)
		buf = buf[:0]
		for k := 1; err == nil; k++ {
			e := eventOf(&ev)
			buf = e.Append(buf)
			if k == eventsAtOnce {
				break
			}
			ev, err = s.TryNext()
		}
		if len(buf) > 0 {
			if x.put(&attach.Header{Op: attach.OpEvent}, buf) != nil {
				return
			}
		}
		if read := min(*existed, len(buf)/attach.EventLen); read > 0 {
			x.client.release(queuedBytes, read*eventSize)
			*existed -= read
		}
		if err != nil && err != syscall.EAGAIN {
			x.over(err)
			return
		}
	}
}

func eventOf(ev *stack.Event) attach.Event {
	e := attach.Event{Kind: attach.EventPublished, Range: ev.Range, Port: ev.Socket.Port, Node: ev.Socket.Node, Scope: uint32(ev.Scope), Key: ev.Key}
	if ev.Withdrawn {
		e.Kind = attach.EventWithdrawn
	}
	return e
}

// over tells that nothing comes any more, and why.
func (x *session) over(err error) {
	if x.ctx.Err() != nil {
		return
	}
	errno, data := encode(err)
	if errno == syscall.ETIMEDOUT {
		errno = 0
	}
	x.put(&attach.Header{Op: attach.OpEnd, Errno: errno}, data)
}
