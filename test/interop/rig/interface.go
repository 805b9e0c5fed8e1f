// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"context"
	"fmt"
)

// Unplug takes the carrier from an interface of a pluggable guest, as a cable
// that is pulled out does. What is on the cable is the test's business.
func (g *Guest) Unplug(ctx context.Context, iface string) error {
	return g.command(ctx, "ip2 link set dev %s protodown on", iface)
}

// Plug gives the carrier back.
func (g *Guest) Plug(ctx context.Context, iface string) error {
	return g.command(ctx, "ip2 link set dev %s protodown off", iface)
}

// DisableBearer takes TIPC's bearer off an interface.
func (g *Guest) DisableBearer(ctx context.Context, iface string) error {
	return g.command(ctx, "tipc bearer disable media eth device %s", iface)
}

// EnableBearer puts a bearer on an interface.
func (g *Guest) EnableBearer(ctx context.Context, iface string) error {
	return g.command(ctx, "tipc bearer enable media eth device %s", iface)
}

// SetLink changes a parameter of a link: "tolerance" in milliseconds, "priority",
// "window".
func (g *Guest) SetLink(ctx context.Context, link, parameter string, value int) error {
	return g.command(ctx, "tipc link set %s %d link %s", parameter, value, link)
}

// command carries out a command that prints nothing.
func (g *Guest) command(ctx context.Context, format string, args ...any) error {
	cmd := fmt.Sprintf(format, args...)
	if _, err := g.Run(ctx, cmd); err != nil {
		return fmt.Errorf("%s: %w", cmd, err)
	}
	return nil
}
