// SPDX-License-Identifier: Apache-2.0

package bare

import (
	"errors"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/test/bench/load"
)

// ping sends a frame and spins until its answer is there.
func (e *End) ping(stop *load.Stop, j load.Job, size int) (load.Result, error) {
	t := load.NewTrips(j.For)
	for more := true; more && !stop.Load(); {
		b := e.newFrame(size, j.Round)
		if b == nil {
			return load.Result{}, errors.New("no chunk left")
		}
		if err := e.post(b); err != nil {
			return load.Result{}, err
		}
		ok, err := e.await(j.Round)
		if err != nil {
			return load.Result{}, err
		}
		if !ok {
			t.Lost++
		}
		more = t.Next()
	}
	return t.Result(j.Size), nil
}

// await spins until a frame of the round has arrived, or the timeout is at its end.
func (e *End) await(round uint32) (ok bool, err error) {
	var since time.Time
	for turn := 1; ; turn++ {
		n, err := e.dev.Receive(e.in)
		if err != nil {
			return false, err
		}
		for _, b := range e.in[:n] {
			ok = ok || belongs(b.Bytes(), round)
			b.Release()
		}
		if ok {
			return true, nil
		}
		if turn%lookEvery == 0 {
			if since.IsZero() {
				since = time.Now()
			}
			if time.Since(since) > timeout {
				return false, nil
			}
			if err := e.flush(); err != nil { // room may have come
				return false, err
			}
		}
	}
}

// pong sends each frame back in its own chunk.
func (e *End) pong(stop *load.Stop) (load.Result, error) {
	var r load.Result
	var c load.Count
	for turn := 0; ; turn++ {
		n, err := e.dev.Receive(e.in[:len(e.out)])
		if err != nil {
			return r, err
		}
		for _, b := range e.in[:n] {
			f := b.Bytes()
			if len(f) < minFrame {
				b.Release()
				continue
			}
			frame.PutEthernet(f, frame.MAC(f[6:12]), e.dev.Addr())
			if err := e.post(b); err != nil {
				return r, err
			}
			c.Add(2)
		}
		if turn%256 == 0 && stop.Load() {
			c.Fill(&r)
			return r, nil
		}
	}
}

// send sends as fast as the device takes frames.
func (e *End) send(stop *load.Stop, j load.Job, size int) (load.Result, error) {
	var r load.Result
	var c load.Count
	var payload [2048]byte
	for !stop.Load() {
		for e.n < len(e.out) {
			b := e.newFrame(size, j.Round)
			if b == nil {
				break // all are under way; Receive looks for completions
			}
			if j.Per > 0 {
				putBundle(b.Bytes(), j, uint32(c.N), payload[:j.Size])
			}
			e.out[e.n] = b
			e.n++
			c.Add(max(1, j.Per))
		}
		before := e.n
		if err := e.flush(); err != nil {
			return r, err
		}
		if e.n == before { // full, or out of chunks: completions come with any call
			if err := e.drainIn(); err != nil {
				return r, err
			}
		}
	}
	c.Fill(&r)
	return r, nil
}

// drainIn takes what has come in and throws it away.
func (e *End) drainIn() error {
	n, err := e.dev.Receive(e.in)
	for _, b := range e.in[:n] {
		b.Release()
	}
	return err
}

// receive counts frames of the round.
func (e *End) receive(stop *load.Stop, j load.Job) (load.Result, error) {
	m := load.NewMeter(j.For)
	for more, turn := true, 0; more; turn++ {
		n, err := e.dev.Receive(e.in)
		if err != nil {
			return load.Result{}, err
		}
		k, bytes := 0, 0
		for _, b := range e.in[:n] {
			if f := b.Bytes(); belongs(f, j.Round) {
				k++
				bytes += len(f) - frame.EthernetLen
			}
			b.Release()
		}
		if k > 0 {
			more = m.Add(k, bytes)
		}
		if turn%256 == 0 && stop.Load() {
			break
		}
	}
	return m.Result(), nil
}
