// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// Carry sends a message of a socket that was built elsewhere, on the link which its
// originating port takes. It is for replays of what is not built here, connections.
// Errors: as for Port.Send, and those of frame.Parse.
func (e *Engine) Carry(now time.Duration, to frame.NodeAddr, msg []byte) error {
	m, err := frame.Parse(msg)
	if err != nil {
		return err
	}
	if p, err := frame.ParsePayload(m); err == nil {
		f := p.Fields()
		return e.post(now, to, &f, p.Data(), frame.Control)
	}
	c, err := frame.ParseConn(m)
	if err != nil {
		return err
	}
	n := e.reach(to)
	b := e.message(len(msg), frame.Control)
	switch {
	case b == nil:
		return ErrMemory
	case n == nil:
		b.Release()
		return ErrUnreachable
	}
	copy(b.Bytes()[frame.EthernetLen:], m.Bytes())
	l := n.route(c.Fields().OrigPort)
	err = e.transmit(now, l, b, frame.System)
	e.after(now, l)
	return err
}
