// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"errors"
	"fmt"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// do carries out a call of the node's user.
func (r *run) do(c *Call) error {
	s := r.ports[c.port]
	switch c.Verb {
	case "open":
		if s != nil {
			return fmt.Errorf("port %d is open", c.port)
		}
		r.chance.port = c.port
		p := r.eng.OpenPort(engine.PortConfig{Importance: c.importance, Returnable: c.returnable, SrcDroppable: c.gram})
		if p == nil {
			return errors.New("the node has no address yet")
		}
		r.ports[c.port] = &socket{p, c.echo}
		return nil
	case "set":
		return r.set(c)
	}
	if s == nil {
		return fmt.Errorf("port %d is not open", c.port)
	}
	switch c.Verb {
	case "bind":
		return s.Bind(r.now, c.rng, c.scope)
	case "unbind":
		return s.Unbind(r.now, c.rng, c.scope)
	case "close":
		delete(r.ports, c.port)
		s.Close(r.now)
		return nil
	}
	data := c.data // it is a send
	if c.dataFrame != 0 {
		var err error
		if data, err = r.dataOf(c); err != nil {
			return err
		}
	}
	if c.to != (frame.SocketAddr{}) {
		return s.Send(r.now, c.to, data)
	}
	return s.SendService(r.now, c.service, data)
}

// dataOf returns the data that a call takes from a frame of the capture.
func (r *run) dataOf(c *Call) ([]byte, error) {
	f := r.frames[c.dataFrame]
	if f == nil || f.Bad != nil {
		return nil, fmt.Errorf("frame %d has no message", c.dataFrame)
	}
	if c.dataPart == 0 {
		return f.Message.Data(), nil
	}
	u, err := frame.ParseBundle(f.Message)
	if err != nil {
		return nil, fmt.Errorf("frame %d is no bundle", c.dataFrame)
	}
	n := 0
	for m, err := range u.Messages() {
		if n++; err == nil && n == c.dataPart {
			return m.Data(), nil
		}
	}
	return nil, fmt.Errorf("frame %d has no message %d", c.dataFrame, c.dataPart)
}

func (r *run) set(c *Call) error {
	if c.what == "priority" {
		return r.eng.SetPriority(r.now, c.addr, uint8(c.number))
	}
	return r.eng.SetTolerance(r.now, c.addr, time.Duration(c.number)*time.Millisecond)
}

// read takes what waits in a port, and returns it where that was asked for.
func (r *run) read(p *engine.Port) {
	var data [frame.MaxPayload]byte
	for {
		n, m, ok := p.Read(data[:])
		if !ok {
			return
		}
		if s := r.ports[p.Addr().Port]; s != nil && s.echo && m.Error == frame.OK {
			// What cannot be sent shows as a frame that is missing.
			s.Send(r.now, m.From, data[:n])
		}
	}
}
