// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"math/rand/v2"
	"net"
	"sync"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/test/interop/rig"
)

// A Line is a cable between two stations, ours or guests, on which faults can be
// put in each direction. The two are equal: what a pair of kernels meets on it is
// what we meet.
type Line struct {
	hub  *rig.Hub
	ends [2]*lineEnd
}

// NewLine makes a line and returns its two ends, which their maker closes.
func NewLine(a, b frame.MAC) (*Line, [2]rig.Link, error) {
	var l Line
	var links [2]rig.Link
	for i, mac := range []frame.MAC{a, b} {
		link, wire, err := rig.NewLink(net.HardwareAddr(mac[:]))
		if err != nil {
			return nil, links, err
		}
		links[i], l.ends[i] = link, &lineEnd{Port: wire}
	}
	l.Set(fault.Config{})
	l.hub = rig.NewHub(l.ends[0], l.ends[1])
	return &l, links, nil
}

// Set changes the faults and starts the dice again: Out are those of frames from
// the first end to the second, In the other way. Match and Linger are not for lines.
func (l *Line) Set(c fault.Config) {
	l.ends[1].set(c.Out, c.Seed, 1)
	l.ends[0].set(c.In, c.Seed, 2)
}

// Cut loses every frame, without either end being told.
func (l *Line) Cut() { l.Set(fault.Config{In: fault.Faults{Loss: 1}, Out: fault.Faults{Loss: 1}}) }

// Counts returns what happened since the line was made.
func (l *Line) Counts() (in, out fault.Counts) { return l.ends[0].count(), l.ends[1].count() }

// Close ends the line.
func (l *Line) Close() error { return l.hub.Close() }

// A lineEnd is a port of the hub; faults befall what is written to it.
type lineEnd struct {
	rig.Port
	mu     sync.Mutex // guards what follows
	faults fault.Faults
	dice   *rand.Rand
	held   []byte // a frame held back, or nil
	before int    // how many may still overtake it
	counts fault.Counts
}

func (e *lineEnd) set(f fault.Faults, seed, stream uint64) {
	if f.Span <= 0 {
		f.Span = 3
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.faults, e.dice, e.before = f, rand.New(rand.NewPCG(seed, stream)), 0
}

func (e *lineEnd) count() fault.Counts {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.counts
}

// WriteFrame implements rig.Port.
func (e *lineEnd) WriteFrame(b []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	hit := func(share float64) bool { return share > 0 && e.dice.Float64() < share }
	e.counts.Seen++
	e.before--
	var err error
	switch {
	case hit(e.faults.Loss):
		e.counts.Lost++
	case hit(e.faults.Duplicate):
		e.counts.Duplicated++
		e.Port.WriteFrame(b)
		err = e.Port.WriteFrame(b)
	case hit(e.faults.Reorder) && e.held == nil:
		e.counts.Reordered++
		e.held, e.before = append([]byte{}, b...), 1+e.dice.IntN(e.faults.Span)
		return nil
	default:
		err = e.Port.WriteFrame(b)
	}
	if e.held != nil && e.before <= 0 {
		err = e.Port.WriteFrame(e.held)
		e.held = nil
	}
	return err
}
