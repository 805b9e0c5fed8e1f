// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack"
)

// spawn does what a request asks for in a goroutine of its own, and answers. after is
// called when the answer is written, if it tells of no error; or is nil.
func (x *session) spawn(h attach.Header, f func(ctx context.Context) told, after func()) error {
	if err := x.charge(calls, 1); err != nil {
		return x.answer(&h, err)
	}
	ctx, cancel := context.WithCancel(x.ctx)
	if !x.enlist(h.ID, cancel) {
		cancel()
		x.client.release(calls, 1)
		return x.answer(&h, syscall.EALREADY)
	}
	x.srv.wg.Go(func() {
		t := f(ctx)
		x.delist(h.ID)
		cancel()
		err := x.tell(&h, t)
		x.client.release(calls, 1)
		if err == nil && t.err == nil && after != nil {
			after()
		}
	})
	return nil
}

// enlist notes a request that is under way; false when there is one of that ID.
func (x *session) enlist(id uint32, cancel context.CancelFunc) bool {
	if id == 0 {
		return true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.calls[id] != nil {
		return false
	}
	if x.calls == nil {
		x.calls = map[uint32]context.CancelFunc{}
	}
	x.calls[id] = cancel
	return true
}

func (x *session) delist(id uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.calls, id)
}

// cancel ends a request that is under way.
func (x *session) cancel(id uint32) {
	x.mu.Lock()
	stop, p := x.calls[id], x.port
	x.mu.Unlock()
	if stop != nil {
		stop()
	} else if p != nil {
		p.cancelAccept(id)
	}
}

// tell writes an answer, in as many records as it takes, and waits for room for them.
// The goroutine that reads does not call it.
func (x *session) tell(h *attach.Header, t told) error {
	if h.ID == 0 {
		return nil
	}
	r := h.Reply(0)
	r.Addr, r.Addr2, r.Arg0, r.Arg1, r.Wide = t.Addr, t.Addr2, t.Arg0, t.Arg1, t.Wide
	if t.err != nil {
		r = h.Reply(0)
		r.Errno, t.data = encode(t.err)
	}
	return attach.Split(r, t.data, x.c.Write)
}

// A gather is a request that comes in several records.
type gather struct {
	attach.Join
	open    bool
	op      attach.Op
	id      uint32
	charged int
	err     error // why it is read in vain
}

func (g *gather) drop(c *client) {
	c.release(queuedBytes, g.charged)
	*g = gather{}
}

// gathered adds a record to the request it belongs to; done when that is complete.
// Errors: errBroken; those of a request are told by its answer.
func (x *session) gathered(h *attach.Header, data []byte) (verb string, in []byte, done bool, err error) {
	g := &x.gather
	if g.open && (g.op != h.Op || g.id != h.ID) {
		return "", nil, false, errBroken
	}
	more := h.Flags&attach.FlagMore != 0
	if !g.open && more {
		g.open, g.op, g.id = true, h.Op, h.ID
	}
	if more && g.err == nil {
		if g.err = x.charge(queuedBytes, len(data)); g.err == nil {
			g.charged += len(data)
		}
	}
	var all []byte
	if g.err == nil {
		if all, done, err = g.Add(h, data, attach.MaxRequest); err != nil {
			g.err = syscall.EMSGSIZE
		}
	}
	if more {
		return "", nil, false, nil
	}
	err = g.err
	g.drop(x.client)
	if err != nil {
		return "", nil, false, x.answer(h, err)
	}
	if verb, in, err = attach.ParseCall(all); err != nil {
		return "", nil, false, x.answer(h, syscall.EINVAL)
	}
	return verb, append([]byte(nil), in...), true, nil
}

// call makes a management call.
func (x *session) call(h *attach.Header, data []byte) error {
	verb, in, done, err := x.gathered(h, data)
	if err != nil || !done {
		return err
	}
	v, ok := x.srv.verb(x, verb)
	if !ok {
		return x.answer(h, syscall.ENOSYS)
	}
	if !x.srv.cfg.Policy.Allows(v.Class, x.who) {
		x.refuse(verb)
		return x.answer(h, syscall.EPERM)
	}
	return x.spawn(*h, func(ctx context.Context) (t told) {
		t.data, t.err = v.Serve(ctx, x.who, in)
		if ctx.Err() != nil && errors.Is(t.err, context.Canceled) {
			t.err = syscall.ECANCELED
		}
		clear(in) // it may be a key
		return t
	}, nil)
}

// verb finds a management call: one about the session's socket, one of the server's, one
// of the configuration's, one of the node's.
func (s *Server) verb(x *session, name string) (Verb, bool) {
	if strings.HasPrefix(name, stack.SocketControlPrefix) {
		return Verb{stack.UseControl, func(ctx context.Context, _ attach.Credentials, in []byte) ([]byte, error) {
			x.mu.Lock()
			p := x.port
			x.mu.Unlock()
			if p == nil {
				return nil, syscall.ENOTSOCK
			}
			return stack.ServeSocketControl(ctx, p.is().any(), name, in)
		}}, true
	}
	if v, ok := serverVerbs[name]; ok {
		return Verb{stack.ShowControl, func(context.Context, attach.Credentials, []byte) ([]byte, error) { return v(s) }}, true
	}
	if v, ok := s.cfg.Verbs[name]; ok {
		return v, true
	}
	class, ok := stack.ControlClassOf(name)
	return Verb{class, func(ctx context.Context, _ attach.Credentials, in []byte) ([]byte, error) {
		return stack.ServeControl(ctx, s.node, name, in)
	}}, ok
}

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
		Changes: h.Flags&attach.FlagChanges != 0, Timeout: duration(h.Wide), Limit: int(min(h.Arg1, mostEvents)),
	}
	req := *h
	x.srv.wg.Go(func() {
		defer x.client.release(subscriptions, 1)
		s, err := cfg.Subscribe(x.ctx, x.srv.node, r)
		if err != nil {
			x.unclaim()
		} else {
			defer s.Close()
		}
		if x.tell(&req, told{err: err}) == nil && err == nil {
			x.events(s)
		}
	})
	return nil
}

// mostEvents is how many events of a subscription may wait.
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
			if x.c.Write(&attach.Header{Op: attach.OpEvent}, buf) != nil {
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
	x.c.Write(&attach.Header{Op: attach.OpEnd, Errno: errno}, data)
}

// stream makes the connection a stream of items.
func (x *session) stream(h *attach.Header, data []byte) error {
	verb, in, done, err := x.gathered(h, data)
	if err != nil || !done {
		return err
	}
	v, ok := x.srv.streamOf(verb)
	switch {
	case !ok:
		return x.answer(h, syscall.ENOSYS)
	case !x.srv.cfg.Policy.Allows(v.Class, x.who):
		x.refuse(verb)
		return x.answer(h, syscall.EPERM)
	case !x.claim():
		return x.answer(h, syscall.EISCONN)
	}
	if err := x.charge(subscriptions, 1); err != nil {
		x.unclaim()
		return x.answer(h, err)
	}
	req := *h
	x.srv.wg.Go(func() {
		defer x.client.release(subscriptions, 1)
		began := false
		err := v.Serve(x.ctx, in, func() error {
			began = true
			return x.tell(&req, told{})
		}, x.give)
		if !began {
			x.unclaim()
			x.tell(&req, told{err: err})
			return
		}
		if err == nil {
			x.c.Write(&attach.Header{Op: attach.OpEnd}, nil)
			return
		}
		x.over(err)
	})
	return nil
}

// streamOf finds a stream: one of the configuration's, one of the node's.
func (s *Server) streamOf(verb string) (Stream, bool) {
	if v, ok := s.cfg.Streams[verb]; ok {
		return v, true
	}
	class, ok := stack.StreamClassOf(verb)
	return Stream{class, func(ctx context.Context, in []byte, started func() error, give func(Item) error) error {
		return stack.ServeStream(ctx, s.node, verb, in, started, func(i stack.StreamItem) error {
			return give(Item{i.Kind, i.Lost, i.Time, i.Data})
		})
	}}, ok
}

// give writes an item.
func (x *session) give(i Item) error {
	h := attach.Header{Op: attach.OpItem, Arg0: i.Kind, Arg1: i.Lost}
	if !i.Time.IsZero() {
		h.Wide = uint64(max(0, i.Time.Sub(time.Unix(0, 0))))
	}
	return attach.Split(h, i.Data, x.c.Write)
}
