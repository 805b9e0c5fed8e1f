// SPDX-License-Identifier: Apache-2.0

package local

import (
	"net"
	"syscall"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// A socket that has lost a name, see exclusive.go, returns that before what waits to be read.

// Read implements backend.Packet.
func (c *Packet) Read(b []byte) (k int, m backend.Envelope, err error) {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	var lost *engine.NameTakenError
	err = c.await(n, &c.closed, func() bool {
		if lost = c.port.Lost(); lost != nil || c.port.Pending() == 0 {
			return lost != nil
		}
		var r engine.Received
		var ok bool
		if k, r, ok = c.port.Read(b); ok {
			m = c.message(&r, k)
		}
		return ok
	}, func() bool { return c.port.Pending() > 0 })
	return k, m, lostOr(lost, err)
}

// message tells what is known of a message of which k bytes were read.
func (c *Packet) message(r *engine.Received, k int) backend.Envelope {
	if last, ok := c.from.(frame.SocketAddr); !ok || last != r.From {
		c.from = r.From
	}
	return backend.Envelope{
		From: r.From, Name: r.Name, Named: r.Named(), Importance: r.Importance,
		Truncated: k < r.Len, Error: r.Error, Receipt: r.Receipt, Addr: c.from,
	}
}

// ReadBatch implements backend.Packet.
func (c *Packet) ReadBatch(ms []socket.Message, wait bool) (int, error) {
	k, err := c.readBatch(ms, wait)
	if err != nil {
		return 0, backend.OpError("read", c.network, c.local, nil, err)
	}
	return k, nil
}

func (c *Packet) readBatch(ms []socket.Message, wait bool) (k int, err error) {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	var lost *engine.NameTakenError
	if !wait && c.port.Pending() == 0 && !c.closed && c.port.Lost() == nil {
		n.pollOnce(n.loop.Now(), true) // what has come and nobody took
		if c.port.Pending() == 0 {
			return 0, syscall.EAGAIN
		}
	}
	err = c.await(n, &c.closed, func() bool {
		if lost = c.port.Lost(); lost != nil {
			return true
		}
		for ; k < len(ms) && c.port.Pending() > 0; k++ {
			m := &ms[k]
			got, r, _ := c.port.Read(m.Data)
			e := c.message(&r, got)
			e.Fill(m, got)
		}
		return k > 0
	}, func() bool { return c.port.Pending() > 0 })
	return k, lostOr(lost, err)
}

// ReadBuffer implements backend.Packet.
func (c *Packet) ReadBuffer(b *backend.Buffer) (m backend.Envelope, err error) {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	var lost *engine.NameTakenError
	err = c.await(n, &c.closed, func() bool {
		if lost = c.port.Lost(); lost != nil || c.port.Pending() == 0 {
			return lost != nil
		}
		c.takeBuffer(b, &m)
		return true
	}, func() bool { return c.port.Pending() > 0 })
	return m, lostOr(lost, err)
}

// takeBuffer hands out the first message that waits.
func (c *Packet) takeBuffer(b *backend.Buffer, m *backend.Envelope) {
	counted := b.Open(&c.Lending, c)
	data, hold, r, _ := c.port.Take(b.Own)
	fillBuffer(b, data, hold, counted)
	*m = c.message(&r, r.Len)
}

// TryReadMsg implements backend.Packet.
func (c *Packet) TryReadMsg(b []byte) (int, backend.Envelope, error) {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	if c.closed {
		return 0, backend.Envelope{}, backend.OpError("read", c.network, c.local, nil, net.ErrClosed)
	}
	if lost := c.port.Lost(); lost != nil {
		return 0, backend.Envelope{}, backend.OpError("read", c.network, c.local, nil, lost)
	}
	k, r, ok := c.port.Read(b)
	if !ok {
		return 0, backend.Envelope{}, backend.ErrAgain
	}
	c.tried = r
	return k, c.message(&r, k), nil
}
