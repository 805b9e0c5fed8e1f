// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"sync"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// batch is how many frames are taken from the device at a time.
const batch = 64

// An Injector is a device with faults. Transmit and Receive belong to the side
// that turns the engine; Set, Counts, Dropped and Close may be called beside
// them, from anywhere.
type Injector struct {
	dev   netdev.Device
	arena *netdev.Arena // set by Attach; of the engine's side

	mu     sync.Mutex // guards what follows; held while the device is called
	in     direction
	out    direction
	fates  []fate                // of frames offered and not taken yet
	pair   [2]*netdev.Buffer     // what flush and step hand to the device
	queue  []*netdev.Buffer      // received, waiting for room in the caller's batch
	fresh  [batch]*netdev.Buffer // just received
	linger linger                // sent frames whose completion is delayed
	late   error                 // what Receive says next, having had frames to give first
	closed bool
}

// New wraps dev, which then belongs to the Injector.
func New(dev netdev.Device, c Config) *Injector {
	j := &Injector{dev: dev}
	longest := dev.MTU() + frame.EthernetLen
	j.in.longest, j.out.longest = longest, longest
	j.Set(c)
	return j
}

// Set changes the faults, and starts the dice again from c.Seed. What was held
// back goes by with the next frame of its direction.
func (j *Injector) Set(c Config) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.in.set(c.In, c.Seed, 1)
	j.out.set(c.Out, c.Seed, 2)
	j.linger.set(c.Linger, c.Seed, 3)
	j.fates = j.fates[:0]
}

// Counts returns what happened so far.
func (j *Injector) Counts() (in, out Counts) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.in.counts, j.out.counts
}

// Name is the device's.
func (j *Injector) Name() string { return j.dev.Name() }

// Addr is the device's.
func (j *Injector) Addr() frame.MAC { return j.dev.Addr() }

// MTU is the device's.
func (j *Injector) MTU() int { return j.dev.MTU() }

// Unwrap returns the device within, for what else it can do.
func (j *Injector) Unwrap() any { return j.dev }

// FD is the device's.
func (j *Injector) FD() int { return j.dev.FD() }

// Attach attaches the device. The Injector takes chunks from arena for the
// frames that arrive twice.
func (j *Injector) Attach(arena *netdev.Arena, wake func()) error {
	if err := j.dev.Attach(arena, wake); err != nil {
		return err
	}
	j.arena = arena
	return nil
}

// Dropped is the device's count. What the Injector loses no device could know
// of; Counts has it.
func (j *Injector) Dropped() (in, out uint64) { return j.dev.Dropped() }

// Close closes the device and gives back what was held.
func (j *Injector) Close() error {
	err := j.dev.Close()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return err
	}
	j.closed = true
	if b := j.in.held; b != nil {
		j.in.held = nil
		b.Release()
	}
	if b := j.out.held; b != nil {
		j.out.held = nil
		b.Complete()
	}
	j.out.counts.Changed += j.linger.end()
	for i, b := range j.queue {
		j.queue[i] = nil
		b.Release()
	}
	j.queue = nil
	return err
}
