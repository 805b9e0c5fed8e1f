// SPDX-License-Identifier: Apache-2.0

// Package sealed measures what encryption costs besides the way of a message: dropping
// frames that no key opens, and going over to another key under load.
package sealed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/test/bench/load/gcm"
	"github.com/utipc/utipc/test/bench/load/tipc"
	"github.com/utipc/utipc/test/bench/sheet"
)

const (
	groups = 21  // of which the median counts
	group  = 500 // frames
)

// Drop is what a frame of end 0, with a message of so many bytes, takes of the engine of
// end 1, in ns, when it was sealed with another key than the cluster's: no device, no poll,
// no lock. The frame is copied to the engine's memory first, which counts. beside is what
// the same frame takes when it comes twice under the right key: dropped as a replay, or of a
// sender that has not proved itself as a duplicate, by the link.
func Drop(ctx context.Context, size int) (wrong, beside float64, err error) {
	p, err := newPair()
	if err != nil {
		return 0, 0, err
	}
	right, err := p.frames(size, 0)
	if err != nil {
		return 0, 0, err
	}
	other, err := p.frames(size, 1)
	if err != nil {
		return 0, 0, err
	}
	counted := func() (tags, orders uint64) {
		c := p.engines[1].Counters()
		return c.Drops[engine.DropTag], c.Drops[engine.DropOrder] + c.Drops[engine.DropReplay]
	}
	before, orders := counted()
	var bad, good []float64
	for range groups {
		bad = append(bad, p.feed(other))
		good = append(good, p.feed(right))
		if ctx.Err() != nil {
			return 0, 0, ctx.Err()
		}
	}
	after, duplicates := counted()
	if after-before != groups*group || duplicates-orders != groups*group {
		return 0, 0, fmt.Errorf("of %d frames each, %d were dropped for their key, %d as duplicates", groups*group, after-before, duplicates-orders)
	}
	return sheet.Median(bad), sheet.Median(good), nil
}

// A pair is two engines with the cluster's key and a link.
type pair struct {
	engines [2]*engine.Engine
	arenas  [2]*netdev.Arena
	now     time.Duration
}

func mac(i int) frame.MAC { return frame.MAC{2, 0, 0, 0, 0, byte(i + 1)} }

// newPair makes contact.
func newPair() (*pair, error) {
	p := &pair{}
	for i := range p.engines {
		p.arenas[i] = netdev.NewArena(netdev.ArenaConfig{Small: 1024})
		e, err := engine.New(engine.Config{Address: tipc.Address(i), Arena: p.arenas[i], Chance: engine.NewSeeded(uint64(i), 1), Sealed: true})
		if err != nil {
			return nil, err
		}
		k, err := seal.NewKey(frame.ClusterKey, gcm.Material(16))
		if err == nil {
			err = e.SetKey(0, engine.Key{Key: k})
		}
		if err == nil {
			_, err = e.AddBearer(0, engine.BearerConfig{Name: "eth0", MAC: mac(i), MTU: 1500})
		}
		if err != nil {
			return nil, err
		}
		p.engines[i] = e
	}
	for p.now < 10*time.Second {
		for p.carry(0) || p.carry(1) {
		}
		for n := range p.engines[1].Neighbours {
			if l := n.Links[0]; l != nil && l.IsUp() && p.now > 2*time.Second {
				return p, nil
			}
		}
		p.now = max(p.now, min(p.engines[0].Deadline(), p.engines[1].Deadline()))
		for _, e := range p.engines {
			e.HandleTimeout(p.now)
		}
	}
	return nil, errors.New("two engines make no contact")
}

// carry brings what engine i sends to the other, and reports whether there was any.
func (p *pair) carry(i int) (any bool) {
	for f := p.engines[i].NextFrame(0); f != nil; f = p.engines[i].NextFrame(0) {
		p.hear(1-i, f.Bytes())
		f.Release()
		any = true
	}
	return any
}

// hear gives engine i a frame.
func (p *pair) hear(i int, b []byte) {
	g := p.arenas[i].Get(len(b), netdev.Data)
	if g == nil {
		return // of 1024 chunks hardly one is in use
	}
	copy(g.Extend(len(b)), b)
	p.engines[i].HandleFrame(p.now, 0, g)
	g.Release()
}

// frames makes frames of end 0 to end 1 that the link had already, sealed with the
// cluster's key if flip is 0.
func (p *pair) frames(size int, flip byte) (all [][]byte, err error) {
	b := gcm.Material(16)
	b[0] ^= flip
	k, err := seal.NewKey(frame.ClusterKey, b)
	if err != nil {
		return nil, err
	}
	s, err := seal.NewSender(k, 1<<40)
	if err != nil {
		return nil, err
	}
	h := seal.Header{TX: 1, RX: 1, Destined: true, Dest: tipc.Address(1)}
	f := frame.PayloadFields{Type: frame.DirectMsg, OrigNode: tipc.Address(0), DestNode: tipc.Address(1)}
	f.Prev, f.Seq = tipc.Address(0), 1
	for range group {
		plain := f.Append(nil, make([]byte, size))
		x := make([]byte, frame.EthernetLen+seal.SealedSize(plain))
		frame.PutEthernet(x, mac(1), mac(0))
		if _, err := s.Seal(x[frame.EthernetLen:], plain, &h); err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// feed gives engine 1 frames, and returns what each takes, in ns.
func (p *pair) feed(frames [][]byte) float64 {
	begin := time.Now()
	for _, b := range frames {
		p.hear(1, b)
	}
	return float64(time.Since(begin)) / float64(len(frames))
}
