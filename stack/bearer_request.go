// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"syscall"
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
	if n.far != nil {
		return n.far.call(ctx, "enable-bearer", r, nil)
	}
	if err := n.requestBearer(ctx, r); err != nil {
		return opError("enable bearer", "tipc", nil, nil, refused(err))
	}
	return nil
}

func (n *Node) requestBearer(ctx context.Context, r BearerRequest) error {
	m, ok := parseMedium(r.Medium)
	switch {
	case !ok:
		return refuse(syscall.EINVAL, "Unknown medium.")
	case n.cfg.OpenBearer == nil:
		return refuse(syscall.EOPNOTSUPP, "This node opens no devices.")
	}
	name := r.Device
	if m == udpMedium && r.Name != "" {
		name = r.Name
	}
	n.mu.Lock()
	there, mtu := n.bearer(name) != nil, n.media[m].MTU
	n.unlock()
	if there { // before the device is opened: it could not be, a second time
		return refuse(syscall.EINVAL, "Already enabled.")
	}
	if m == udpMedium && r.MTU == 0 {
		r.MTU = mtu
	}
	dev, err := n.cfg.OpenBearer(ctx, r)
	if err != nil {
		return openRefusal(err)
	}
	c := BearerConfig{LinkConfig: LinkConfig{Tolerance: r.Tolerance, Priority: r.Priority}, Domain: r.Domain}
	if r.Window > 0 {
		c.Window, c.MaxWindow = min(r.Window, defaultWindow), r.Window
	}
	if err := n.enable(ctx, dev, c); err != nil {
		dev.Close()
		return err
	}
	return nil
}

// openRefusal gives the error of an opener the errno and text that a kernel has for it: of
// an interface that is not there ENODEV, of what has no errno EINVAL.
func openRefusal(err error) error {
	var r *Refusal
	if errors.As(err, &r) {
		return err
	}
	errno := syscall.EINVAL
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENXIO):
		errno = syscall.ENODEV
	default:
		errors.As(err, &errno)
	}
	return &Refusal{Errno: errno, Reason: "Failed to enable media.", Err: err}
}
