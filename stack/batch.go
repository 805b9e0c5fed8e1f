// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
	"syscall"
)

// DontWait is a flag of ReadBatch and WriteBatch: rather than wait they fail with
// syscall.EAGAIN.
const DontWait = 0x40

// A MessageBuffer is one message of a batch.
type MessageBuffer struct {
	Data []byte   // that is sent, or the room for what is read
	N    int      // bytes of Data that were sent or filled in
	Addr net.Addr // to whom it is sent, or from whom it came
	Message
}

// ReadBatch waits for a message as ReadMsg does, and reads all others too that wait
// already, as many as ms has room for: with one turn of the lock, and no further
// wait. It returns how many it has read, at least one without an error. Errors, inside
// *net.OpError: net.ErrClosed, os.ErrDeadlineExceeded, syscall.EAGAIN.
func (c *PacketConn) ReadBatch(ms []MessageBuffer, flags int) (int, error) {
	if len(ms) == 0 {
		return 0, nil
	}
	if c.far != nil {
		return c.readBatchFar(ms, flags)
	}
	k, err := c.readBatch(ms, flags)
	if err != nil {
		return 0, opError("read", c.network, c.local, nil, err)
	}
	return k, nil
}

func (c *PacketConn) readBatch(ms []MessageBuffer, flags int) (k int, err error) {
	n := c.n
	n.mu.Lock()
	defer n.unlock()
	if flags&DontWait != 0 && c.port.Pending() == 0 && !c.closed {
		n.lap(n.now(), true) // what has come and nobody took
		if c.port.Pending() == 0 {
			return 0, syscall.EAGAIN
		}
	}
	err = c.await(n, &c.closed, func() bool {
		for ; k < len(ms) && c.port.Pending() > 0; k++ {
			m := &ms[k]
			got, r, _ := c.port.Read(m.Data)
			m.N, m.Message = got, c.message(&r, got)
			m.Addr = m.addr
		}
		return k > 0
	}, func() bool { return c.port.Pending() > 0 })
	return k, err
}

// WriteBatch sends messages, each as WriteTo does, with one turn of the lock and, as far
// as they have room there, in common packets and with one call of each device. It waits
// for room for the first alone, and returns how many it has sent: fewer than all where
// one would have to wait, or cannot be sent, which the next call with that one tells. An
// Addr of nil is the default destination. Errors, of the first message only, as of
// WriteTo, and syscall.EAGAIN.
func (c *PacketConn) WriteBatch(ms []MessageBuffer, flags int) (int, error) {
	k, err := c.reachable(ms)
	if err == nil && k > 0 && c.far != nil {
		return c.writeBatchFar(ms[:k], flags)
	}
	if err == nil && k > 0 {
		k, err = c.writeBatch(ms[:k], flags)
	}
	if err != nil {
		return 0, c.sendError(ms[0].Addr, err)
	}
	return k, nil
}

// reachable is how many of the messages have an address that can be, from the first on;
// the error is that of the first one.
func (c *PacketConn) reachable(ms []MessageBuffer) (int, error) {
	for i := range ms {
		if _, err := c.destOr(ms[i].Addr); err != nil {
			if i == 0 {
				return 0, err
			}
			return i, nil
		}
	}
	return len(ms), nil
}

// destOr is destOf but for the default destination.
func (c *PacketConn) destOr(addr net.Addr) (dest, error) {
	if addr == nil && c.remote != nil {
		return c.to, nil
	}
	return destOf(addr)
}

func (c *PacketConn) writeBatch(ms []MessageBuffer, flags int) (int, error) {
	k, err := c.sendBatch(ms)
	if k > 0 || err == nil {
		return k, nil
	}
	d, _ := c.destOr(ms[0].Addr)
	if flags&DontWait != 0 && c.waits(d, err) {
		return 0, syscall.EAGAIN
	}
	if err := c.n.retry(context.Background(), c, d, ms[0].Data, err); err != nil {
		return 0, err
	}
	ms[0].N = len(ms[0].Data)
	k, _ = c.sendBatch(ms[1:])
	return 1 + k, nil
}

// sendBatch sends what goes at once, and returns why the next message does not.
func (c *PacketConn) sendBatch(ms []MessageBuffer) (k int, err error) {
	n := c.n
	n.mu.Lock()
	defer n.unlock()
	now := n.now()
	n.latest = now
	n.eng.Hold(len(ms) > 1)
	for k < len(ms) && err == nil {
		m := &ms[k]
		d, _ := c.destOr(m.Addr) // it was looked at before: nothing is called
		if err = n.send(now, c, d, m.Data); err == nil {
			m.N = len(m.Data)
			k++
		}
	}
	n.turn(now, false, true)
	return k, err
}
