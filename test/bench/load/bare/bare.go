// SPDX-License-Identifier: Apache-2.0

// Package bare moves frames over a netdev.Device with no protocol at all: the limit
// of what a stack on this device can reach. All loops spin.
//
// A frame is an Ethernet header, the round it belongs to, and bytes nobody writes or
// reads. With messages bundled into it (bundle.go) there is a header for each, and
// the payload is copied at both ends, as any protocol has to.
package bare

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/test/bench/load"
)

const (
	batch = 32 // frames a kick, as one system call of the kernel takes
	take  = 64 // frames received at once
	// Of frames beyond 4 KiB so few are under way that they stay in a core's cache:
	// what is measured is the way, not the memory.
	fewBatch, fewTake, fewChunks = 4, 8, 24
	// roundAt is where a frame says its round, and minFrame the shortest that can.
	roundAt  = frame.EthernetLen
	minFrame = frame.EthernetLen + 4
	// timeout is how long a ping waits for an answer before it counts it lost.
	timeout = 100 * time.Millisecond
	// lookEvery is how many turns of an empty loop pass between looks at the clock.
	lookEvery = 1024
)

// An End is one end of a pair of stations.
type End struct {
	dev   netdev.Device
	info  load.Info
	peer  frame.MAC
	arena *netdev.Arena
	in    []*netdev.Buffer
	out   []*netdev.Buffer
	n     int // of out that the device has not taken
}

var _ load.Load = (*End)(nil)

// Open attaches dev, which it owns from now on, also when it fails. peer may be
// zero at an end that only answers.
func Open(dev netdev.Device, info load.Info, peer frame.MAC) (*End, error) {
	c := netdev.ArenaConfig{Small: 8192, Reserve: fewTake}
	e := &End{dev: dev, info: info, peer: peer, in: make([]*netdev.Buffer, take), out: make([]*netdev.Buffer, batch)}
	if size := dev.MTU() + frame.EthernetLen; size > netdev.SmallChunk-netdev.Headroom {
		c.Jumbo, c.JumboSize = fewChunks, size
		e.in, e.out = e.in[:fewTake], e.out[:fewBatch]
	}
	e.arena = netdev.NewArena(c)
	e.info.MAC = dev.Addr().String()
	if err := dev.Attach(e.arena, func() {}); err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	return e, nil
}

// Info tells the station's address.
func (e *End) Info() load.Info { return e.info }

// Close closes the device.
func (e *End) Close() error { return e.dev.Close() }

// Run does one job. Errors: the device's own.
func (e *End) Run(ctx context.Context, j load.Job) (load.Result, error) {
	stop := load.StopOn(ctx)
	defer stop.Release()
	if err := e.drain(); err != nil {
		return load.Result{}, err
	}
	size := frame.EthernetLen + j.Size
	if j.Per > 0 {
		size = frame.EthernetLen + j.Per*step(j.Size)
	}
	if size < minFrame || size > e.dev.MTU()+frame.EthernetLen {
		return load.Result{}, fmt.Errorf("a frame of %d bytes, the device takes %d to %d", size, minFrame, e.dev.MTU()+frame.EthernetLen)
	}
	in0, out0 := e.dev.Dropped()
	r, err := e.run(stop, j, size)
	in1, out1 := e.dev.Dropped()
	r.Dropped, r.MTU = in1-in0+out1-out0, e.dev.MTU()
	return r, err
}

func (e *End) run(stop *load.Stop, j load.Job, size int) (load.Result, error) {
	switch {
	case j.Kind == load.Ping:
		return e.ping(stop, j, size)
	case j.Kind == load.Pong:
		return e.pong(stop)
	case j.Kind == load.Send:
		return e.send(stop, j, size)
	case j.Kind == load.Receive && j.Per > 0:
		return e.receiveBundles(stop, j)
	case j.Kind == load.Receive:
		return e.receive(stop, j)
	}
	return load.Result{}, fmt.Errorf("bare frames cannot %q", j.Kind)
}

// drain throws away what an earlier round has left.
func (e *End) drain() error {
	for i := range e.n {
		e.out[i].Release()
	}
	e.n = 0
	for {
		n, err := e.dev.Receive(e.in)
		for _, b := range e.in[:n] {
			b.Release()
		}
		if n == 0 || err != nil {
			return err
		}
	}
}

// newFrame returns a frame of size bytes to the peer, or nil when all chunks are
// under way.
func (e *End) newFrame(size int, round uint32) *netdev.Buffer {
	b := e.arena.Get(size, netdev.Data)
	if b == nil {
		return nil
	}
	f := b.Extend(size)
	frame.PutEthernet(f, e.peer, e.dev.Addr())
	binary.BigEndian.PutUint32(f[roundAt:], round)
	return b
}

// belongs reports whether a frame is of this round.
func belongs(f []byte, round uint32) bool {
	return len(f) >= minFrame && binary.BigEndian.Uint32(f[roundAt:]) == round
}

// flush offers the frames that wait to the device.
func (e *End) flush() error {
	if e.n == 0 {
		return nil
	}
	k, err := e.dev.Transmit(e.out[:e.n])
	if err != nil {
		return err
	}
	for _, b := range e.out[:k] {
		b.Release()
	}
	copy(e.out[:], e.out[k:e.n])
	e.n -= k
	return nil
}

// post sends one frame, which may have to wait for room.
func (e *End) post(b *netdev.Buffer) error {
	e.out[e.n] = b
	e.n++
	for {
		if err := e.flush(); e.n < len(e.out) || err != nil {
			return err
		}
	}
}
