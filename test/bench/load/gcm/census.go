// SPDX-License-Identifier: Apache-2.0

package gcm

import (
	"sync/atomic"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// maxLen is the longest frame that is counted by its length, in bytes.
const maxLen = 1 << 16

// sealedVersion is what the first three bits of a sealed packet say.
// Source: docs/spec/09-security.md §1.
const sealedVersion = 7

// A Census is a device that counts the sealed frames through it.
type Census struct {
	netdev.Device
	in, out [maxLen]atomic.Uint32 // by the length behind the Ethernet header
}

// A peeker is a Census of a device that can be peeked at.
type peeker struct {
	*Census
	netdev.Peeker
}

// Count has a Census count the frames of dev. The node is to be given the device.
func Count(dev netdev.Device) (*Census, netdev.Device) {
	c := &Census{Device: dev}
	if p, ok := dev.(netdev.Peeker); ok {
		return c, peeker{c, p}
	}
	return c, c
}

// Unwrap returns the device within, for what else it can do.
func (c *Census) Unwrap() any { return c.Device }

// LevelTriggered is the device's.
func (c *Census) LevelTriggered() bool {
	l, ok := c.Device.(netdev.LevelTriggered)
	return ok && l.LevelTriggered()
}

// Receive receives from the device.
func (c *Census) Receive(bufs []*netdev.Buffer) (int, error) {
	n, err := c.Device.Receive(bufs)
	count(&c.in, bufs[:n])
	return n, err
}

// Transmit hands bufs to the device.
func (c *Census) Transmit(bufs []*netdev.Buffer) (int, error) {
	n, err := c.Device.Transmit(bufs)
	count(&c.out, bufs[:n])
	return n, err
}

func count(at *[maxLen]atomic.Uint32, bufs []*netdev.Buffer) {
	for _, b := range bufs {
		x := b.Bytes()
		if n := len(x) - frame.EthernetLen; n > 0 && n < maxLen && x[frame.EthernetLen]>>5 == sealedVersion {
			at[n].Add(1)
		}
	}
}

// A Tally is how many frames of each length came and left.
type Tally struct{ In, Out map[int]uint64 }

// Tally returns what was counted so far. It may be called by anybody at any time.
func (c *Census) Tally() Tally {
	t := Tally{map[int]uint64{}, map[int]uint64{}}
	for n := range maxLen {
		if k := c.in[n].Load(); k > 0 {
			t.In[n] = uint64(k)
		}
		if k := c.out[n].Load(); k > 0 {
			t.Out[n] = uint64(k)
		}
	}
	return t
}

// Since returns what was counted after an earlier Tally. Counts may have wrapped once.
func (t Tally) Since(before Tally) Tally {
	less := func(now, was map[int]uint64) map[int]uint64 {
		d := map[int]uint64{}
		for n, k := range now {
			if x := uint64(uint32(k) - uint32(was[n])); x > 0 {
				d[n] = x
			}
		}
		return d
	}
	return Tally{less(t.In, before.In), less(t.Out, before.Out)}
}

// Frames is the number of frames, both ways.
func (t Tally) Frames() (n uint64) {
	for _, way := range []map[int]uint64{t.In, t.Out} {
		for _, k := range way {
			n += k
		}
	}
	return n
}
