// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
)

// EnableBearer implements backend.Node.
func (n *Node) EnableBearer(ctx context.Context, r admin.BearerRequest) error {
	if err := n.requestBearer(ctx, r); err != nil {
		return backend.OpError("enable bearer", "tipc", nil, nil, backend.Refused(err))
	}
	return nil
}

func (n *Node) requestBearer(ctx context.Context, r admin.BearerRequest) error {
	m, ok := parseMedium(r.Medium)
	switch {
	case !ok:
		return backend.Refuse(syscall.EINVAL, "Unknown medium.")
	case n.cfg.OpenBearer == nil:
		return backend.Refuse(syscall.EOPNOTSUPP, "This node opens no devices.")
	}
	name := r.Device
	if m == udpMedium && r.Name != "" {
		name = r.Name
	}
	n.loop.Lock()
	there, mtu := n.bearer(name) != nil, n.media[m].MTU
	n.loop.Unlock()
	if there { // before the device is opened: it could not be, a second time
		return backend.Refuse(syscall.EINVAL, "Already enabled.")
	}
	if m == udpMedium && r.MTU == 0 {
		r.MTU = mtu
	}
	dev, err := n.cfg.OpenBearer(ctx, r)
	if err != nil {
		return openRefusal(err)
	}
	c := admin.BearerConfig{LinkConfig: engine.LinkConfig{Tolerance: r.Tolerance, Priority: r.Priority}, Domain: r.Domain}
	if r.Window > 0 {
		c.Window, c.MaxWindow = min(r.Window, defaultWindow), r.Window
	}
	return n.enable(ctx, dev, c)
}

// openRefusal gives the error of an opener the errno and text that a kernel has for it: of
// an interface that is not there ENODEV, of what has no errno EINVAL.
func openRefusal(err error) error {
	var r *admin.Refusal
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
	return &admin.Refusal{Errno: errno, Reason: "Failed to enable media.", Err: err}
}
