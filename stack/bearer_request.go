// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net/netip"
	"time"

	"github.com/utipc/utipc/netdev"
)

// A BearerRequest asks for a bearer in the words of tipc(8) "bearer enable". The node's
// Config.OpenBearer makes a device of it; so a program attached to a daemon can ask for
// one as well.
type BearerRequest struct {
	Medium string `json:"medium"`           // "eth" or "udp"
	Device string `json:"device"`           // eth: the interface; udp: the interface whose address is the local one, unless LocalIP is given
	Name   string `json:"name,omitempty"`   // udp: the bearer's name, at most 15 characters
	Driver string `json:"driver,omitempty"` // eth: "auto", "af_xdp" or "af_packet"; empty: auto

	Domain    NodeAddr      `json:"domain,omitempty"`    // as of BearerConfig
	Priority  uint8         `json:"priority,omitempty"`  // 1 to 31; 0: the medium's
	Tolerance time.Duration `json:"tolerance,omitempty"` // nanoseconds; 0: the medium's
	Window    int           `json:"window,omitempty"`    // packets at most, 1 to 8191; 0: the medium's
	MTU       int           `json:"mtu,omitempty"`       // udp: bytes of a message; 0: the medium's

	LocalIP    netip.Addr   `json:"localip,omitzero"`     // udp
	LocalPort  uint16       `json:"localport,omitempty"`  // udp; 0: 6118
	RemoteIP   netip.Addr   `json:"remoteip,omitzero"`    // udp: one host or a multicast group; none: the standard group
	RemotePort uint16       `json:"remoteport,omitempty"` // udp; 0: 6118
	Remotes    []netip.Addr `json:"remotes,omitempty"`    // udp: more hosts, beside RemoteIP, if that is no group
}

// A BearerOpener makes the device of a request. The caller enables it, and closes it
// when that fails.
type BearerOpener func(ctx context.Context, r BearerRequest) (netdev.Device, error)

// RequestBearer enables the bearer that r describes; see EnableBearer, whose errors it
// has too.
// Errors, inside *net.OpError, beside those: a *Refusal with EOPNOTSUPP when the node has
// no Config.OpenBearer, with EINVAL for an unknown medium or a bearer there is already,
// or with ENODEV, "Failed to enable media.", for an interface that is not there.
func (n *Node) RequestBearer(ctx context.Context, r BearerRequest) error {
	return n.b.RequestBearer(ctx, r)
}
