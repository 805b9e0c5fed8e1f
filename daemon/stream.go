// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
)

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
	case !x.srv.cfg.Policy.Allows(v.Right, x.who):
		x.refuse(verb)
		return x.answer(h, syscall.EPERM)
	case !x.claim():
		return x.answer(h, syscall.EISCONN)
	}
	if err := x.charge(subscriptions, 1); err != nil {
		x.unclaim()
		return x.answer(h, err)
	}
	kind, limited := streamKinds[verb]
	if limited {
		if err := x.charge(kind, 1); err != nil {
			x.client.release(subscriptions, 1)
			x.unclaim()
			return x.answer(h, err)
		}
	}
	req := *h
	x.srv.wg.Go(func() {
		defer x.client.release(subscriptions, 1)
		if limited {
			defer x.client.release(kind, 1)
		}
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
			x.put(&attach.Header{Op: attach.OpEnd}, nil)
			return
		}
		x.over(err)
	})
	return nil
}

// streamKinds are the streams of which a node has only so many places.
var streamKinds = map[string]resource{"watch": watches, "capture": captures}

// streamOf finds a stream: one of the configuration's, one of the node's.
func (s *Server) streamOf(verb string) (Stream, bool) {
	if v, ok := s.cfg.Streams[verb]; ok {
		return v, true
	}
	v, ok := nodeStreams(s.node)[verb]
	return v, ok
}

// give writes an item.
func (x *session) give(i Item) error {
	h := attach.Header{Op: attach.OpItem, Arg0: i.Kind, Arg1: i.Lost}
	if !i.Time.IsZero() {
		h.Wide = uint64(max(0, i.Time.Sub(time.Unix(0, 0))))
	}
	return attach.Split(h, i.Data, x.put)
}
