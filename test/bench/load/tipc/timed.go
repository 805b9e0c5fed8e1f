// SPDX-License-Identifier: Apache-2.0

package tipc

import (
	"net"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/test/bench/load"
)

// pace sends each message when it is due, or as soon after as it is taken.
func (e *End) pace(stop *load.Stop, j load.Job) (load.Result, error) {
	p := load.NewPace(j.Offered)
	var c load.Count
	var r load.Result
	var to net.Addr = e.peer
	b := make([]byte, j.Size)
	mark(b, j.Round)
	var err error
	for err == nil && p.Next(b, stop) {
		if _, err = e.conn.WriteTo(b, to); err == nil {
			c.Add(1)
		}
	}
	c.Fill(&r)
	r.Offered = p.Offered()
	return r, err
}

// delays measures how late messages come.
func (e *End) delays(stop *load.Stop, j load.Job) (load.Result, error) {
	d := load.NewDelays(j.For)
	b := make([]byte, frame.MaxPayload)
	for !stop.Load() {
		n, _, err := e.conn.ReadFrom(b)
		if err != nil {
			return d.Result(), err
		}
		if belongs(b[:n], j.Round) && n >= load.TimedSize && !d.Add(b[:n]) {
			break
		}
	}
	return d.Result(), nil
}
