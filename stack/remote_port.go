// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
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

// runFar takes the messages one by one, while the daemon is away too.
func (a *ActivePort) runFar() {
	defer close(a.done)
	a.runner.Store(goroutine())
	defer a.runner.Store(0)
	n, s := a.pc.n, a.pc.far
	buf := make([]byte, frame.MaxPayload)
	for {
		k, m, err := a.pc.readFar(context.Background(), buf, nil)
		if err != nil {
			if refused := s.refused.Load(); refused != nil {
				n.mu.Lock()
				a.err = refused
				n.mu.Unlock()
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
