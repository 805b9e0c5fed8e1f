// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
)

// Limits of captures.
const (
	maxCaptures       = 8        // of one node
	defaultCaptured   = 4096     // frames that wait to be read
	mostCaptured      = 1 << 16  //
	defaultCaptureMem = 4 << 20  // bytes of them
	mostCaptureMem    = 64 << 20 //
)

// A CaptureConfig says what a Capture takes. The zero value takes all frames of all
// bearers, whole.
type CaptureConfig struct {
	Bearers []string `json:"bearers,omitempty"` // by name, "eth0" or "eth:eth0"; none: all, those too that are enabled later
	Snap    int      `json:"snap,omitempty"`    // bytes kept of a frame, its Ethernet header among them, 14 or more; 0: all
	Frames  int      `json:"frames,omitempty"`  // that may wait to be read, 1 to 65536; 0: 4096
	Memory  int      `json:"memory,omitempty"`  // bytes for them, 65536 to 64 MiB; 0: 4 MiB
}

func (c CaptureConfig) withDefaults() (CaptureConfig, error) {
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

// A CapturedFrame is a frame that came in or went out.
type CapturedFrame struct {
	Time    time.Time `json:"time"`
	Bearer  string    `json:"bearer"`
	Out     bool      `json:"out"`               // else in
	Length  int       `json:"length"`            // bytes it had, of which Data may be fewer
	Data    []byte    `json:"data"`              // from its Ethernet header on
	Comment string    `json:"comment,omitempty"` // what happened to it: "dropped: …" with the reasons that the node counted, "retransmission 2", "refused: …" by the device
}

// A Capture is the frames that pass through the bearers of a node, sealed as they are on
// the wire, from when it was begun until it is closed. Its queue is limited: frames
// beyond are lost, and counted. Its methods may be called by any number of goroutines.
type Capture struct {
	cfg  CaptureConfig
	ring captureRing
	stop func()
}

// Capture begins a capture on the running node. It ends with Close, or when ctx is done,
// or with the node. Without any it costs the node nothing.
// Errors, inside *net.OpError: a *Refusal with EINVAL for settings that cannot be, or a
// bearer that is not there, with EUSERS for more than eight captures; net.ErrClosed; the
// context's.
func (n *Node) Capture(ctx context.Context, cfg CaptureConfig) (*Capture, error) {
	return n.b.Capture(ctx, cfg)
}

// newCapture makes a capture of nothing.
func newCapture(cfg CaptureConfig) (*Capture, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Capture{cfg: cfg, stop: func() {}}
	c.ring.init(cfg.Frames, cfg.Memory)
	return c, nil
}

// Next returns the next frame; it waits for one until ctx is done. The frame's Data is
// the caller's.
// Errors: net.ErrClosed after Close and, once all frames are read, after the node's end;
// the context's.
func (c *Capture) Next(ctx context.Context) (CapturedFrame, error) { return c.ring.next(ctx) }

// Lost is the number of frames for which there was no room, so far.
func (c *Capture) Lost() uint64 { return c.ring.dropped() }

// Close ends the capture; frames that wait are gone. It always returns nil.
func (c *Capture) Close() error {
	c.ring.end(net.ErrClosed, true)
	c.stop()
	return nil
}

// end ends it once what waits is read.
func (c *Capture) end(why error) { c.ring.end(why, false) }

// put takes a frame of length bytes, of which data is kept as far as it is to be.
func (c *Capture) put(f CapturedFrame) {
	if c.cfg.Snap > 0 && len(f.Data) > c.cfg.Snap {
		f.Data = f.Data[:c.cfg.Snap]
	}
	c.ring.put(f)
}
