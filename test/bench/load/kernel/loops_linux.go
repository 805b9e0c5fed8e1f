// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/utipc/utipc/test/bench/load"
)

// largest is how many bytes are read in one call, at most.
const largest = 64 << 10

// runStream does one job on a connection, and closes it.
func runStream(ctx context.Context, c conn, j load.Job) (load.Result, error) {
	defer c.Close()
	defer load.OnStop(ctx, c.Shutdown)()
	stop := load.StopOn(ctx)
	defer stop.Release()
	if j.Size < 1 {
		return load.Result{}, fmt.Errorf("messages of %d bytes", j.Size)
	}
	switch {
	case j.Timed && timed(j) != nil:
		return load.Result{}, timed(j)
	case j.Timed && j.Kind == load.Send:
		return pace(stop, c, j)
	case j.Timed && j.Kind == load.Receive:
		return delays(c, j)
	}
	switch j.Kind {
	case load.Ping:
		return ping(stop, c, j)
	case load.Pong:
		return pong(c, j)
	case load.Send:
		return send(c, j)
	case load.Receive:
		return receive(c, j)
	}
	return load.Result{}, fmt.Errorf("a stream cannot %q", j.Kind)
}

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
			if stop.Load() {
				break
			}
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

// send writes until the other end has what it wants and closes.
func send(c conn, j load.Job) (load.Result, error) {
	var r load.Result
	var n load.Count
	b := make([]byte, j.Size)
	for whole(c, b) == nil {
		n.Add(1)
	}
	n.Fill(&r)
	return r, nil
}

// receive counts bytes, and a message when its last has come. What is counted begins and
// ends between two reads, and not between messages: its messages are what its bytes make.
func receive(c conn, j load.Job) (load.Result, error) {
	m := load.NewMeter(j.For)
	b := make([]byte, largest)
	for part := 0; ; part %= j.Size {
		n, err := c.Read(b)
		part += max(n, 0)
		if n <= 0 || err != nil || !m.Add(part/j.Size, n) {
			r := m.Result()
			r.Count = r.Bytes / uint64(j.Size)
			return r, err
		}
	}
}
