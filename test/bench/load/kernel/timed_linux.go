// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"fmt"

	"github.com/utipc/utipc/test/bench/load"
)

// timed refuses messages that have no room for a time.
func timed(j load.Job) error {
	if j.Size < load.TimedSize {
		return fmt.Errorf("messages of %d bytes, not at least %d", j.Size, load.TimedSize)
	}
	return nil
}

// pace writes each message when it is due, or as soon after as it is taken, until the
// other end closes.
func pace(stop *load.Stop, c conn, j load.Job) (r load.Result, err error) {
	p := load.NewPace(j.Offered)
	var n load.Count
	b := make([]byte, j.Size)
	for p.Next(b, stop) && whole(c, b) == nil {
		n.Add(1)
	}
	n.Fill(&r)
	r.Offered = p.Offered()
	return r, nil
}

// delays measures how late messages come.
func delays(c conn, j load.Job) (load.Result, error) {
	d := load.NewDelays(j.For)
	b := make([]byte, j.Size)
	for exact(c, b) && d.Add(b) {
	}
	return d.Result(), nil
}

// pace sends each message when it is due, whether it arrives or not. Where its time
// stands, others have their round: it has none.
func (d *Datagrams) pace(stop *load.Stop, j load.Job) (r load.Result, err error) {
	p := load.NewPace(j.Offered)
	var n load.Count
	b := make([]byte, j.Size)
	for p.Next(b, stop) {
		switch err := d.conn.Write(b, stop); err {
		case nil:
			n.Add(1)
		case errNothing:
		default:
			return r, err
		}
	}
	n.Fill(&r)
	r.Offered = p.Offered()
	return r, nil
}

// delays measures how late messages come.
func (d *Datagrams) delays(stop *load.Stop, j load.Job) (load.Result, error) {
	d.drain()
	l := load.NewDelays(j.For)
	b := make([]byte, d.c.Longest)
	for more := true; more && !stop.Load(); {
		n, err := d.conn.Read(b, stop)
		switch {
		case err == errNothing:
		case err != nil:
			return l.Result(), err
		case n == j.Size:
			more = l.Add(b[:n])
		}
	}
	return l.Result(), nil
}
