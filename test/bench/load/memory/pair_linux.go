// SPDX-License-Identifier: Apache-2.0

// Package memory runs both ends of a load in one process, on a network in memory.
package memory

import (
	"context"
	"errors"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/load/conns"
	"github.com/utipc/utipc/test/bench/load/gcm"
	"github.com/utipc/utipc/test/bench/load/tipc"
	"github.com/utipc/utipc/test/bench/load/within"
)

// A Config says what the two ends are.
type Config struct {
	MTU    int  // of the network, in bytes
	Stream bool // a connection of bytes, else messages by name
	Single bool // every message has a frame to itself
	Key    int  // bytes of the AES key both nodes have; 0: plain
}

// A Pair is both ends. The end that measures, of round trips and of what goes one way,
// runs both; the other does nothing.
type Pair struct {
	ends   [2]load.Load
	census [2]*gcm.Census
	cipher *gcm.Cipher
}

var _ load.Load = (*Pair)(nil)

// Open opens both ends.
func Open(ctx context.Context, c Config) (p *Pair, err error) {
	p = &Pair{}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	if p.cipher, err = gcm.New(max(c.Key, 16)); err != nil {
		return p, err
	}
	h := hub.New(hub.Config{MTU: c.MTU})
	peer := ""
	for _, end := range []int{1, 0} {
		port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(end + 1)})
		if err != nil {
			return p, err
		}
		var dev netdev.Device
		p.census[end], dev = gcm.Count(port)
		if c.Stream {
			e, err := conns.Open(ctx, conns.Config{Dev: dev, End: end, Network: "tipc", Wait: stack.Sleep, Key: gcm.Material(c.Key)})
			if err != nil {
				return p, err
			}
			p.ends[end] = e
			continue
		}
		e, err := tipc.Open(ctx, tipc.Config{Dev: dev, End: end, Wait: stack.Sleep, Single: c.Single, Key: gcm.Material(c.Key)}, peer)
		if err != nil {
			return p, err
		}
		p.ends[end], peer = e, e.Info().Socket
	}
	return p, nil
}

// Info tells of the network.
func (p *Pair) Info() load.Info { return load.Info{Driver: "in memory"} }

// Close ends both.
func (p *Pair) Close() (err error) {
	for _, e := range p.ends {
		if e != nil {
			err = errors.Join(err, e.Close())
		}
	}
	return err
}

// Run runs both ends of a job that measures; the result says what AES alone takes of
// the frames of both. Of one that serves it waits for ctx.
func (p *Pair) Run(ctx context.Context, j load.Job) (load.Result, error) {
	before := [2]gcm.Tally{p.census[0].Tally(), p.census[1].Tally()}
	r, served, err := within.Both(ctx, p.ends, j)
	if j.Kind != load.Ping && j.Kind != load.Receive {
		return r, err
	}
	for i, c := range p.census {
		t := c.Tally().Since(before[i])
		r.Sealed += t.Frames() / 2 // each leaves one end and comes to the other
		r.AES += p.cipher.Cost(t)
	}
	if j.Kind == load.Receive && served.All > 0 { // what was under way was sealed as well
		r.AES *= float64(r.All) / float64(max(r.All, served.All))
	}
	return r, err
}
