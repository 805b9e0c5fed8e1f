// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"syscall"

	"github.com/utipc/utipc/attach"
)

// spawn does what a request asks for in a goroutine of its own, and answers; not begun,
// it is answered with why. after is called when the answer is written, if it tells of no
// error; or is nil.
func (x *session) spawn(h attach.Header, f func(ctx context.Context) told, after func()) (begun bool, err error) {
	if err := x.charge(calls, 1); err != nil {
		return false, x.answer(&h, err)
	}
	ctx, cancel := context.WithCancel(x.ctx)
	if !x.enlist(h.ID, cancel) {
		cancel()
		x.client.release(calls, 1)
		return false, x.answer(&h, syscall.EALREADY)
	}
	x.srv.wg.Go(func() {
		t := f(ctx)
		x.delist(h.ID)
		cancel()
		err := x.tell(&h, t)
		x.client.release(queuedBytes, t.charged)
		x.client.release(calls, 1)
		if err == nil && t.err == nil && after != nil {
			after()
		}
	})
	return true, nil
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
	return attach.Split(r, t.data, x.put)
}
