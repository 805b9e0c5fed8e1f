// SPDX-License-Identifier: Apache-2.0

package tipc

import (
	"net"
	"os"
	"time"

	"github.com/utipc/utipc/test/bench/load"
)

// timeout is how long an answer may take before the question is asked again. The link
// loses nothing, but a socket does whose queue is full: what a flood has left there.
const timeout = 500 * time.Millisecond

// extendEvery is how many round trips use the same deadline, so that setting it is no part
// of what is measured.
const extendEvery = 256

// ping asks by name and is answered by address.
func (e *End) ping(stop *load.Stop, j load.Job) (load.Result, error) {
	t := load.NewTrips(j.For)
	var to net.Addr = service(1)
	b := make([]byte, j.Size)
	answer := make([]byte, j.Size)
	mark(b, j.Round)
	for n, more := 0, true; more && !stop.Load(); n++ {
		if n%extendEvery == 0 {
			e.extend(stop)
		}
		if _, err := e.conn.WriteTo(b, to); err != nil {
			return t.Result(j.Size), err
		}
		switch err := e.await(stop, j.Round, answer); {
		case err == nil:
			more = t.Next()
		case stopped(err) && !stop.Load():
			t.Lost++
		default:
			return t.Result(j.Size), err
		}
	}
	return t.Result(j.Size), nil
}

// extend moves the deadline of reading; that of a job that is over stays.
func (e *End) extend(stop *load.Stop) {
	e.conn.SetReadDeadline(time.Now().Add(timeout))
	if stop.Load() {
		e.conn.SetReadDeadline(time.Now())
	}
}

// await reads until the answer of a round comes: at least for the timeout, as the deadline
// may have been set for an earlier one.
func (e *End) await(stop *load.Stop, round uint32, answer []byte) error {
	for late := false; ; {
		n, _, err := e.conn.ReadFrom(answer)
		switch {
		case err == nil && belongs(answer[:n], round):
			return nil
		case err == nil:
		case os.IsTimeout(err) && !late && !stop.Load():
			late = true
			e.extend(stop)
		default:
			return err
		}
	}
}
