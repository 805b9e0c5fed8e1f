// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"context"
	"time"

	"github.com/utipc/utipc/internal/control"
)

var (
	mediaCall     = query("media", Node.Media)
	setMediumCall = command("set-medium", control.Manage, func(n Node, in MediumConfig) error { return n.SetMedium(in.Name, in) })
)

// A MediumConfig is what bearers of a kind of network begin with.
type MediumConfig struct {
	Name      string        `json:"name"`      // "eth" or "udp"
	Priority  uint8         `json:"priority"`  // 1 to 31
	Tolerance time.Duration `json:"tolerance"` // nanoseconds
	Window    int           `json:"window"`    // packets at most
	MTU       int           `json:"mtu"`       // bytes of a message; 0: the interface's
}

// Media returns what bearers begin with, by the kind of their networks: Ethernet, UDP.
func (a *Admin) Media(ctx context.Context) ([]MediumConfig, error) {
	return mediaCall.Do(ctx, a.b, nothing)
}

// SetMedium changes what bearers of the medium of that name, "eth" or "udp", begin with that are
// enabled from now on; zero fields of c mean no change. Errors: a *Refusal with EINVAL, or
// EOPNOTSUPP for the MTU of an Ethernet.
func (a *Admin) SetMedium(ctx context.Context, name string, c MediumConfig) error {
	c.Name = name
	return done(setMediumCall.Do(ctx, a.b, c))
}
