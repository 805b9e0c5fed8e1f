// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"context"
	"fmt"
	"net"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// Limits of captures.
const (
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
		return c, fmt.Errorf("%w: snap length %d is not 0 or %d and more", engine.ErrConfig, c.Snap, frame.EthernetLen)
	case c.Frames < 1 || c.Frames > mostCaptured:
		return c, fmt.Errorf("%w: %d captured frames, not in 1 to %d", engine.ErrConfig, c.Frames, mostCaptured)
	case c.Memory < 1<<16 || c.Memory > mostCaptureMem:
		return c, fmt.Errorf("%w: %d bytes for captured frames, not in %d to %d", engine.ErrConfig, c.Memory, 1<<16, mostCaptureMem)
	}
	return c, nil
}

// A Capture is an admin.Capture.
type Capture struct {
	Cfg  admin.CaptureConfig
	Ring ring
	Stop func()
}

// NewCapture makes a capture of nothing.
func NewCapture(cfg admin.CaptureConfig) (*Capture, error) {
	cfg, err := captureDefaults(cfg)
	if err != nil {
		return nil, err
	}
	c := &Capture{Cfg: cfg, Stop: func() {}}
	c.Ring.init(cfg.Frames, cfg.Memory)
	return c, nil
}

// Next implements admin.Capture.
func (c *Capture) Next(ctx context.Context) (admin.CapturedFrame, error) {
	return c.Ring.next(ctx)
}

// Lost implements admin.Capture.
func (c *Capture) Lost() uint64 { return c.Ring.dropped() }

// Close implements admin.Capture.
func (c *Capture) Close() error {
	c.Ring.end(net.ErrClosed, true)
	c.Stop()
	return nil
}

// End ends it once what waits is read.
func (c *Capture) End(why error) { c.Ring.end(why, false) }

// Put takes a frame of length bytes, of which data is kept as far as it is to be.
func (c *Capture) Put(f admin.CapturedFrame) {
	if c.Cfg.Snap > 0 && len(f.Data) > c.Cfg.Snap {
		f.Data = f.Data[:c.Cfg.Snap]
	}
	c.Ring.put(f)
}
