// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"syscall"

	"github.com/utipc/utipc/stack/admin"
)

// SetBearer implements nodeBackend.
func (n *localNode) SetBearer(name string, c admin.BearerConfig) error {
	return n.manage("set", func() error { return n.setBearer(name, c) })
}

func (n *localNode) setBearer(name string, c admin.BearerConfig) error {
	a := n.bearer(name)
	if a == nil {
		return errNoBearer()
	}
	if err := checkMTU(a, c.MTU); err != nil {
		return err
	}
	now := n.loop.Now()
	if c.LinkConfig != (LinkConfig{}) {
		if err := n.eng.SetLink(now, 0, a.id, c.LinkConfig); err != nil {
			return err
		}
	}
	if c.MTU != 0 {
		a.limit = c.MTU
		n.eng.SetMTU(now, a.id, n.carriedOn(a))
	}
	n.pollOnce(now, false)
	return nil
}

// BearerProperty implements nodeBackend.
func (n *localNode) BearerProperty(name string, p admin.Property) (int, error) {
	n.loop.Lock()
	defer n.loop.Unlock()
	v, err := n.bearerProperty(name, p)
	return v, manageError("get", err)
}

func (n *localNode) bearerProperty(name string, p admin.Property) (int, error) {
	a := n.bearer(name)
	if a == nil {
		return 0, errNoBearer()
	}
	c := n.eng.Bearer(a.id)
	switch {
	case p == admin.PropertyPriority:
		return int(c.Priority), nil
	case p == admin.PropertyTolerance:
		return int(c.Tolerance.Milliseconds()), nil
	case p == admin.PropertyWindow:
		return c.MaxWindow, nil
	case p == admin.PropertyMTU && a.medium() == udpMedium:
		return n.carriedOn(a), nil
	}
	return 0, noProperty(p)
}

// SetBearerProperty implements nodeBackend.
func (n *localNode) SetBearerProperty(name string, p admin.Property, value int) error {
	return n.manage("set", func() error { return n.setBearerProperty(name, p, value) })
}

func (n *localNode) setBearerProperty(name string, p admin.Property, value int) error {
	a := n.bearer(name)
	if a == nil {
		return errNoBearer()
	}
	if err := checkProperty(p, value); err != nil {
		return err
	}
	if p == admin.PropertyMTU {
		return n.setBearer(name, admin.BearerConfig{MTU: value})
	}
	return n.setBearer(name, admin.BearerConfig{LinkConfig: changeOf(p, value, n.eng.Bearer(a.id).Window)})
}

// checkMTU reports an MTU, unless it is 0, that a bearer cannot be given.
func checkMTU(a *attachment, mtu int) error {
	switch {
	case mtu == 0:
		return nil
	case a.medium() != udpMedium:
		return noProperty(admin.PropertyMTU)
	case a.Device.MTU() > 0 && mtu > a.Device.MTU():
		return &admin.Refusal{Errno: syscall.EINVAL, Err: fmt.Errorf("%w: %s was opened for messages of %d bytes", ErrConfig, a.Device.Name(), a.Device.MTU())}
	}
	return checkProperty(admin.PropertyMTU, mtu)
}
