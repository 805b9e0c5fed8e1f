// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/utipc/utipc/test/bench/load"
)

// stampLen is the bytes of a message that say its number, and then its job's. A shorter
// message has as much of them as fits; what is lost of such messages is not known.
const stampLen = 8

// stamp writes number and round into a message.
func stamp(b []byte, number, round uint32) {
	var s [stampLen]byte
	binary.LittleEndian.PutUint32(s[:], number)
	binary.LittleEndian.PutUint32(s[4:], round)
	copy(b, s[:])
}

// number returns a message's number if it is of the round.
func number(b []byte, round uint32) (n uint32, ok bool) {
	if len(b) < stampLen {
		return 0, true
	}
	return binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]) == round
}

// Run does one job.
func (d *Datagrams) Run(ctx context.Context, j load.Job) (load.Result, error) {
	if j.Size < 1 || j.Size > d.c.Longest {
		return load.Result{}, fmt.Errorf("%s: messages of %d bytes, not 1 to %d", d.c.Name, j.Size, d.c.Longest)
	}
	if err := d.connect(); err != nil {
		return load.Result{}, err
	}
	stop := load.StopOn(ctx)
	defer stop.Release()
	switch {
	case j.Timed && timed(j) != nil:
		return load.Result{}, timed(j)
	case j.Timed && j.Kind == load.Send:
		return d.pace(stop, j)
	case j.Timed && j.Kind == load.Receive:
		return d.delays(stop, j)
	}
	switch j.Kind {
	case load.Ping:
		return d.ping(stop, j)
	case load.Pong:
		return d.pong(stop, j)
	case load.Send:
		return d.send(stop, j)
	case load.Receive:
		return d.receive(stop, j)
	}
	return load.Result{}, fmt.Errorf("datagrams cannot %q", j.Kind)
}

// ping asks again what had no answer; such a round trip is as long as it took in all.
func (d *Datagrams) ping(stop *load.Stop, j load.Job) (load.Result, error) {
	d.drain()
	b, answer := make([]byte, j.Size), make([]byte, j.Size)
	t := load.NewTrips(j.For)
	for n, more := uint32(1), true; more && !stop.Load(); n++ {
		stamp(b, n, j.Round)
		answered, err := d.ask(stop, b, answer)
		if err != nil {
			return t.Result(j.Size), err
		}
		if !answered {
			t.Lost++
			continue
		}
		more = t.Next()
	}
	return t.Result(j.Size), nil
}

// ask sends b and reads until its answer comes, or nothing more.
func (d *Datagrams) ask(stop *load.Stop, b, answer []byte) (answered bool, err error) {
	if err = d.conn.Write(b, stop); err == nil {
		for !answered && err == nil {
			var n int
			n, err = d.conn.Read(answer, stop)
			head := min(n, stampLen)
			answered = err == nil && n == len(b) && string(answer[:head]) == string(b[:head])
		}
	}
	if err == errNothing {
		err = nil
	}
	return answered, err
}

// pong answers until it is stopped.
func (d *Datagrams) pong(stop *load.Stop, j load.Job) (r load.Result, err error) {
	var c load.Count
	defer func() { c.Fill(&r) }()
	b := make([]byte, d.c.Longest)
	for !stop.Load() {
		n, err := d.conn.Read(b, stop)
		if err == nil {
			err = d.conn.Write(b[:n], stop)
		}
		switch err {
		case nil:
			c.Add(2)
		case errNothing:
		default:
			return r, err
		}
	}
	return r, nil
}

// send sends one after the other, whether they arrive or not.
func (d *Datagrams) send(stop *load.Stop, j load.Job) (r load.Result, err error) {
	var c load.Count
	defer func() { c.Fill(&r) }()
	b := make([]byte, j.Size)
	for n := uint32(0); !stop.Load(); {
		stamp(b, n, j.Round)
		switch err := d.conn.Write(b, stop); err {
		case nil:
			n++
			c.Add(1)
		case errNothing:
		default:
			return r, err
		}
	}
	return r, nil
}

// receive counts what comes of the round; Lost is what did not come between the first and
// the last that did.
func (d *Datagrams) receive(stop *load.Stop, j load.Job) (r load.Result, err error) {
	d.drain()
	m := load.NewMeter(j.For)
	b := make([]byte, d.c.Longest)
	var seen, first, last uint32
	for more := true; more && !stop.Load(); {
		n, err := d.conn.Read(b, stop)
		if err == errNothing {
			continue
		}
		if err != nil {
			return m.Result(), err
		}
		k, ok := number(b[:n], j.Round)
		if !ok {
			continue
		}
		if seen == 0 {
			first = k
		}
		seen++
		last = k
		more = m.Add(1, n)
	}
	r = m.Result()
	if j.Size >= stampLen && seen > 0 {
		r.Lost = uint64(last - first + 1 - seen)
	}
	return r, nil
}
