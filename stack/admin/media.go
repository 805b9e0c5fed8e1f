// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"context"
	"time"
)

var (
	mediaCall             = query("media", localNode.Media)
	mediumPropertyCall    = get("medium-property", localNode.MediumProperty)
	setMediumPropertyCall = set("set-medium-property", localNode.SetMediumProperty)
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

// MediumProperty returns one value of a medium, "eth" or "udp", in the units of Property.
// Errors: a *Refusal with EINVAL, or EOPNOTSUPP for the MTU of an Ethernet.
func (a *Admin) MediumProperty(ctx context.Context, name string, p Property) (int, error) {
	return mediumPropertyCall.Do(ctx, a.b, propertyParams{Name: name, Property: p})
}

// SetMediumProperty changes what bearers that are enabled from now on begin with, in the
// units and bounds of Property. Errors as of MediumProperty.
func (a *Admin) SetMediumProperty(ctx context.Context, name string, p Property, value int) error {
	return done(setMediumPropertyCall.Do(ctx, a.b, propertyParams{name, p, value}))
}
