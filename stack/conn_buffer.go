// SPDX-License-Identifier: Apache-2.0

package stack

// NewBuffer makes a message of size bytes, up to 66000, for WriteBuffer; see
// PacketConn.NewBuffer.
func (c *Conn) NewBuffer(size int) (*Buffer, error) {
	b := emptyBuffer()
	if err := c.b.NewBuffer(&b.m, size); err != nil {
		b.drop()
		return nil, err
	}
	return b, nil
}

// WriteBuffer is Write for a Buffer of NewBuffer, whose memory is the network's then: no
// data is copied, but within this node, where the packets to the peer are smaller than
// those the Buffer was made for, and of a stream that collects short messages. With a nil
// error b is void, and left to be Released; otherwise it is the caller's still. Errors as
// for Write; ErrVoid.
func (c *Conn) WriteBuffer(b *Buffer) error { return c.b.WriteBuffer(&b.m) }

// ReadBuffer is Read without a copy: it hands out the memory that the next message lies
// in, or of a stream its rest. Only messages of up to 2048 bytes are copied, and what is
// read while the connection has 64 Buffers out.
func (c *Conn) ReadBuffer() (*Buffer, error) {
	b := emptyBuffer()
	err := c.b.ReadBuffer(&b.m)
	if err == nil {
		return b, nil
	}
	b.drop()
	return nil, c.readError(err)
}
