// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"errors"

	"github.com/utipc/utipc/test/bench/load"
)

// exact reads len(b) bytes. It returns false at the end of the stream.
func exact(c conn, b []byte) bool {
	for len(b) > 0 {
		n, err := c.Read(b)
		if n <= 0 || err != nil {
			return false
		}
		b = b[n:]
	}
	return true
}

// whole writes all of b.
func whole(c conn, b []byte) error {
	for len(b) > 0 {
		n, err := c.Write(b)
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func ping(stop *load.Stop, c conn, j load.Job) (load.Result, error) {
	b := make([]byte, j.Size)
	t := load.NewTrips(j.For)
	for more := true; more && !stop.Load(); more = t.Next() {
		if err := whole(c, b); err != nil {
			return load.Result{}, err
		}
		if !exact(c, b) {
			return load.Result{}, errors.New("the other end closed the connection")
		}
	}
	return t.Result(j.Size), nil
}

// pong answers until the stream ends.
func pong(c conn, j load.Job) (load.Result, error) {
	var r load.Result
	var n load.Count
	b := make([]byte, j.Size)
	for exact(c, b) && whole(c, b) == nil {
		n.Add(2)
	}
	n.Fill(&r)
	return r, nil
}

// send writes until the other end has what it wants and closes. A message longer
// than a call is written in several.
func send(c conn, j load.Job) (load.Result, error) {
	var r load.Result
	var n load.Count
	b := make([]byte, min(j.Size, largest))
	for whole(c, b) == nil {
		n.Add(1)
	}
	n.Fill(&r)
	return r, nil
}

// receive counts bytes.
func receive(c conn, j load.Job) (load.Result, error) {
	m := load.NewMeter(j.For)
	b := make([]byte, largest)
	for {
		n, err := c.Read(b)
		if n <= 0 || err != nil {
			return m.Result(), err
		}
		// A read holds a whole message or not; bytes are what counts.
		if !m.Add(max(1, n/j.Size), n) {
			break
		}
	}
	r := m.Result()
	r.Count = r.Bytes / uint64(j.Size)
	return r, nil
}
