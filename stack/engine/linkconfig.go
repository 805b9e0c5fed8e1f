// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"time"

	"github.com/utipc/utipc/flowctl"
)

// A LinkConfig is what the links of a bearer begin with. Zero fields mean the node's
// defaults. Tolerance and priority are agreed with the peer, see flowctl.
type LinkConfig struct {
	Tolerance time.Duration // how long a peer may be silent, 50 ms to 30 s; 1.5 s
	Priority  uint8         // among parallel links, 1 to 31; 10
	Window    int           // packets sent and not acknowledged, 1 to 8191; 50, of which suit makes more over UDP
	MaxWindow int           // more than Window: it moves between the two, as a kernel's; Window
}

var linkDefaults = LinkConfig{
	Tolerance: flowctl.DefaultTolerance, Priority: 10, Window: flowctl.DefaultWindow,
}

// or fills zero fields in.
func (c LinkConfig) or(d LinkConfig) LinkConfig {
	if c.Tolerance == 0 {
		c.Tolerance = d.Tolerance
	}
	if c.Priority == 0 {
		c.Priority = d.Priority
	}
	if c.Window == 0 {
		c.Window, c.MaxWindow = d.Window, max(c.MaxWindow, d.MaxWindow)
	}
	c.MaxWindow = max(c.MaxWindow, c.Window)
	return c
}

// sizesWindow reports whether c says something of the window.
func (c LinkConfig) sizesWindow() bool { return c.Window != 0 || c.MaxWindow != 0 }

// check reports what cannot be. Errors: ErrConfig.
func (c LinkConfig) check() error {
	switch {
	case c.Tolerance < flowctl.MinTolerance || c.Tolerance > flowctl.MaxTolerance:
		return fmt.Errorf("%w: tolerance %v is not in %v to %v", ErrConfig, c.Tolerance, flowctl.MinTolerance, flowctl.MaxTolerance)
	case c.Window < 1 || c.MaxWindow > flowctl.MaxWindow:
		return fmt.Errorf("%w: window %d to %d is not in 1 to %d", ErrConfig, c.Window, c.MaxWindow, flowctl.MaxWindow)
	case c.Priority > 31:
		return fmt.Errorf("%w: priority %d is not in 1 to 31", ErrConfig, c.Priority)
	}
	return nil
}
