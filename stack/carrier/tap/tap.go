// SPDX-License-Identifier: Apache-2.0

package tap

import (
	"errors"
	"io"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A Config says how a Tap records; zero fields mean the defaults.
type Config struct {
	Now func() time.Time // the time of a frame; default time.Now
}

// A Tap is a device whose frames are recorded. It is as safe for concurrent use
// as the device beneath.
type Tap struct {
	dev netdev.Device
	w   *Writer
	now func() time.Time
}

// New wraps dev, which then belongs to the Tap, and begins a file on w. A file
// that cannot be written never troubles the traffic: Close tells.
func New(dev netdev.Device, w io.Writer, c Config) *Tap {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Tap{dev: dev, w: NewWriter(w, dev.Name(), dev.MTU()), now: c.Now}
}

// Name is the device's.
func (t *Tap) Name() string { return t.dev.Name() }

// Addr is the device's.
func (t *Tap) Addr() frame.MAC { return t.dev.Addr() }

// MTU is the device's.
func (t *Tap) MTU() int { return t.dev.MTU() }

// Unwrap returns the device within, for what else it can do.
func (t *Tap) Unwrap() any { return t.dev }

// FD is the device's.
func (t *Tap) FD() int { return t.dev.FD() }

// Attach attaches the device.
func (t *Tap) Attach(arena *netdev.Arena, wake func()) error { return t.dev.Attach(arena, wake) }

// Dropped is the device's count.
func (t *Tap) Dropped() (in, out uint64) { return t.dev.Dropped() }

// Receive receives from the device and records the frames, with the time at
// which the device gave them.
func (t *Tap) Receive(bufs []*netdev.Buffer) (n int, err error) {
	n, err = t.dev.Receive(bufs)
	if n > 0 {
		t.record(t.now(), In, bufs[:n], "")
	}
	return n, err
}

// Transmit hands bufs to the device and records the frames it took, with the
// time at which it was asked, and one it refused, with the reason as comment.
func (t *Tap) Transmit(bufs []*netdev.Buffer) (n int, err error) {
	if len(bufs) == 0 {
		return t.dev.Transmit(bufs)
	}
	now := t.now()
	n, err = t.dev.Transmit(bufs)
	t.record(now, Out, bufs[:n], "")
	if err != nil && n < len(bufs) && !errors.Is(err, net.ErrClosed) {
		t.record(now, Out, bufs[n:n+1], "refused: "+err.Error())
	}
	return n, err
}

// record writes what the caller still holds. The error stays in the Writer.
func (t *Tap) record(now time.Time, dir Direction, bufs []*netdev.Buffer, comment string) {
	for _, b := range bufs {
		_ = t.w.WriteFrame(now, dir, b.Bytes(), comment)
	}
}

// Close closes the device and ends the file. It returns the device's error and
// the first the file met; called again, the device's alone.
func (t *Tap) Close() error {
	err := t.dev.Close()
	return errors.Join(err, t.w.Close())
}
