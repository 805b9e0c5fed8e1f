// SPDX-License-Identifier: Apache-2.0

package within

import (
	"context"
	"fmt"

	"github.com/utipc/utipc/test/bench/load"
)

// depth is how many messages a channel keeps: as many as a socket of the stack's would, or
// more.
const depth = 64

// A channel is one end of two of Go's channels, one each way: the least that two goroutines
// need to exchange messages. Each message is memory of its own, into which the sender and
// out of which the receiver copies, and which goes back by a third channel.
type channel struct {
	out, in chan []byte
	free    chan []byte
}

// NewChannels makes both ends, for messages of up to size bytes.
func NewChannels(size int) *Pair {
	there, back := make(chan []byte, depth), make(chan []byte, depth)
	free := make(chan []byte, 2*depth+2) // so that giving back never waits
	for range cap(free) {
		free <- make([]byte, 0, size)
	}
	return NewPair("channels", [2]load.Load{&channel{there, back, free}, &channel{back, there, free}}, nil)
}

func (c *channel) Info() load.Info { return load.Info{} }
func (c *channel) Close() error    { return nil }

// put sends a copy of b. It returns false when the job is over.
func (c *channel) put(ctx context.Context, b []byte) bool {
	var m []byte
	select {
	case m = <-c.free:
	case <-ctx.Done():
		return false
	}
	select {
	case c.out <- append(m[:0], b...):
		return true
	case <-ctx.Done():
		c.free <- m
		return false
	}
}

// get receives into b. It returns false when the job is over.
func (c *channel) get(ctx context.Context, b []byte) (n int, ok bool) {
	select {
	case m := <-c.in:
		n = copy(b, m)
		c.free <- m
		return n, true
	case <-ctx.Done():
		return 0, false
	}
}

// drain throws away what is left of the job before.
func (c *channel) drain() {
	for {
		select {
		case m := <-c.in:
			c.free <- m
		default:
			return
		}
	}
}

func (c *channel) Run(ctx context.Context, j load.Job) (r load.Result, err error) {
	var n load.Count
	b := make([]byte, j.Size)
	switch j.Kind {
	case load.Ping:
		c.drain()
		t := load.NewTrips(j.For)
		for more := true; more && c.put(ctx, b); more = t.Next() {
			if _, ok := c.get(ctx, b); !ok {
				break
			}
		}
		return t.Result(j.Size), nil
	case load.Pong:
		for {
			k, ok := c.get(ctx, b)
			if !ok || !c.put(ctx, b[:k]) {
				n.Fill(&r)
				return r, nil
			}
			n.Add(2)
		}
	case load.Send:
		for c.put(ctx, b) {
			n.Add(1)
		}
		n.Fill(&r)
		return r, nil
	case load.Receive:
		c.drain()
		m := load.NewMeter(j.For)
		for {
			k, ok := c.get(ctx, b)
			if !ok || !m.Add(1, k) {
				return m.Result(), nil
			}
		}
	}
	return r, fmt.Errorf("channels cannot %q", j.Kind)
}
