// SPDX-License-Identifier: Apache-2.0

package tipc

import (
	"net"

	"github.com/utipc/utipc/test/bench/load"
)

// sendBuffers is send without a copy. As at bare frames nobody writes the payload, but
// for its round.
func (e *End) sendBuffers(stop *load.Stop, j load.Job) (load.Result, error) {
	var r load.Result
	var c load.Count
	var to net.Addr = e.peer
	for {
		b, err := e.conn.NewBuffer(j.Size)
		if err == nil {
			mark(b.Pieces()[0], j.Round)
			err = e.conn.WriteBuffer(b, to)
			b.Release()
		}
		if err != nil {
			c.Fill(&r)
			return r, err
		}
		c.Add(1)
		if c.N%64 == 0 && stop.Load() {
			c.Fill(&r)
			return r, nil
		}
	}
}

// receiveBuffers is receive without a copy.
func (e *End) receiveBuffers(stop *load.Stop, j load.Job) (load.Result, error) {
	m := load.NewMeter(j.For)
	for more := true; more && !stop.Load(); {
		b, _, err := e.conn.ReadBuffer()
		if err != nil {
			return m.Result(), err
		}
		if belongs(b.Pieces()[0], j.Round) {
			more = m.Add(1, b.Len())
		}
		b.Release()
	}
	return m.Result(), nil
}
