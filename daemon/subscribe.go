// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/hosting"
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
	cfg := stack.SubscriptionConfig{
		At: stack.NodeAddr(h.Arg0), Ranges: h.Flags&attach.FlagRanges != 0, Scope: scope,
		Changes: h.Flags&attach.FlagChanges != 0, Complete: h.Flags&attach.FlagComplete != 0, Timeout: duration(h.Wide), Limit: int(min(h.Arg1, mostEvents)),
	}
	req := *h
	x.srv.wg.Go(func() {
		defer x.client.release(subscriptions, 1)
		s, err := cfg.Subscribe(hosting.Count(x.ctx, x.client.queued), x.srv.node, r)
		if err == nil {
			defer s.Close()
		} else {
			x.unclaim()
		}
		if x.tell(&req, told{err: err}) == nil && err == nil {
			x.events(s)
		}
	})
	return nil
}

// mostEvents is how many events of a subscription may wait at most.
const mostEvents = 1 << 16

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
func (x *session) events(s *stack.Subscription) {
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
		if err != nil && err != syscall.EAGAIN {
			x.over(err)
			return
		}
	}
}

func eventOf(ev *stack.Event) attach.Event {
	e := attach.Event{Kind: attach.EventPublished, Range: ev.Range, Port: ev.Socket.Port, Node: ev.Socket.Node, Scope: uint32(ev.Scope), Key: ev.Key}
	switch {
	case ev.Complete:
		e.Kind = attach.EventComplete
	case ev.Withdrawn:
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
