// SPDX-License-Identifier: Apache-2.0

package conns

import (
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/bench/load"
)

// buffered is a connection whose messages can go without a copy.
type buffered interface {
	NewBuffer(size int) (*stack.Buffer, error)
	WriteBuffer(b *stack.Buffer) error
	ReadBuffer() (*stack.Buffer, error)
}

// sendBuffers is send without a copy. Nobody writes the payload.
func sendBuffers(c buffered, stop *load.Stop, j load.Job) (r load.Result, err error) {
	var n load.Count
	defer func() { n.Fill(&r) }()
	for !stop.Load() {
		b, err := c.NewBuffer(j.Size)
		if err == nil {
			b.Pieces() // as whoever fills them asks for them; else they would be cleared
			err = c.WriteBuffer(b)
			b.Release()
		}
		if err != nil {
			return r, ended(err)
		}
		n.Add(1)
	}
	return r, nil
}

// receiveBuffers is receive without a copy.
func receiveBuffers(c buffered, stop *load.Stop, j load.Job) (load.Result, error) {
	return count(stop, j, func() (int, error) {
		b, err := c.ReadBuffer()
		if err != nil {
			return 0, err
		}
		defer b.Release()
		return b.Len(), nil
	})
}
