// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"net"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
)

// openFar begins an active port of an attached node: its handler has a goroutine, as one
// that is too slow for the laps has.
func (a *ActivePort) openFar(r Range, bound bool, scope Scope) error {
	a.apart = true
	if bound {
		if err := a.pc.far.bind(attach.OpBind, r, scope); err != nil {
			a.pc.Close()
			return inner(err)
		}
	}
	if !a.pc.far.f.background(a.runFar) {
		close(a.done)
		return net.ErrClosed // which closes the socket, too
	}
	return nil
}

// runFar takes the messages one by one. When the daemon is gone it waits for Reattach.
func (a *ActivePort) runFar() {
	defer close(a.done)
	a.runner.Store(goroutine())
	defer a.runner.Store(0)
	n, s := a.pc.n, a.pc.far
	buf := make([]byte, frame.MaxPayload)
	for {
		life := s.life.Load()
		k, m, err := a.pc.readFar(context.Background(), buf, nil)
		if err != nil {
			if gone := (*GoneError)(nil); errors.As(err, &gone) && s.another(life) {
				continue
			}
			return
		}
		if m.Error != frame.OK {
			continue
		}
		a.in = Incoming{Data: buf[:k], From: m.From, Name: m.Name, Named: m.Named, Importance: m.Importance}
		a.reply.to, a.reply.open = m.From, true
		began := n.now()
		err = a.call()
		a.reply.open = false
		n.mu.Lock()
		a.judge(n.now(), began)
		if err != nil {
			a.err = err
			a.tellPanic()
		}
		n.mu.Unlock()
		if err != nil {
			s.close("close", true)
			return
		}
	}
}

// another waits until the socket has another life; false says that it is closed.
func (s *farSocket) another(old *farLife) bool {
	s.mu.Lock()
	reborn := s.reborn
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return false
	}
	if s.life.Load() == old {
		<-reborn
	}
	return !s.isClosed()
}

func (s *farSocket) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}
