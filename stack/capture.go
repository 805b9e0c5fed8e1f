// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"net"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/admin"
)

// Limits of captures.
const (
	maxCaptures       = 8        // of one node
	defaultCaptured   = 4096     // frames that wait to be read
	mostCaptured      = 1 << 16  //
	defaultCaptureMem = 4 << 20  // bytes of them
	mostCaptureMem    = 64 << 20 //
)

// captureDefaults is c with what it leaves open. Errors: ErrConfig.
func captureDefaults(c admin.CaptureConfig) (admin.CaptureConfig, error) {
	if c.Frames == 0 {
		c.Frames = defaultCaptured
	}
	if c.Memory == 0 {
		c.Memory = defaultCaptureMem
	}
	switch {
	case c.Snap != 0 && c.Snap < frame.EthernetLen || c.Snap < 0:
		return c, fmt.Errorf("%w: snap length %d is not 0 or %d and more", ErrConfig, c.Snap, frame.EthernetLen)
	case c.Frames < 1 || c.Frames > mostCaptured:
		return c, fmt.Errorf("%w: %d captured frames, not in 1 to %d", ErrConfig, c.Frames, mostCaptured)
	case c.Memory < 1<<16 || c.Memory > mostCaptureMem:
		return c, fmt.Errorf("%w: %d bytes for captured frames, not in %d to %d", ErrConfig, c.Memory, 1<<16, mostCaptureMem)
	}
	return c, nil
}

// A frameCapture is an admin.Capture.
type frameCapture struct {
	cfg  admin.CaptureConfig
	ring captureRing
	stop func()
}

// newCapture makes a capture of nothing.
func newCapture(cfg admin.CaptureConfig) (*frameCapture, error) {
	cfg, err := captureDefaults(cfg)
	if err != nil {
		return nil, err
	}
	c := &frameCapture{cfg: cfg, stop: func() {}}
	c.ring.init(cfg.Frames, cfg.Memory)
	return c, nil
}

// Next implements admin.Capture.
func (c *frameCapture) Next(ctx context.Context) (admin.CapturedFrame, error) {
	return c.ring.next(ctx)
}

// Lost implements admin.Capture.
func (c *frameCapture) Lost() uint64 { return c.ring.dropped() }

// Close implements admin.Capture.
func (c *frameCapture) Close() error {
	c.ring.end(net.ErrClosed, true)
	c.stop()
	return nil
}

// end ends it once what waits is read.
func (c *frameCapture) end(why error) { c.ring.end(why, false) }

// put takes a frame of length bytes, of which data is kept as far as it is to be.
func (c *frameCapture) put(f admin.CapturedFrame) {
	if c.cfg.Snap > 0 && len(f.Data) > c.cfg.Snap {
		f.Data = f.Data[:c.cfg.Snap]
	}
	c.ring.put(f)
}
