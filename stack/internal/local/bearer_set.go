// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"syscall"

	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
)

// SetBearer implements backend.Node.
func (n *Node) SetBearer(name string, c admin.BearerConfig) error {
	return n.manage("set", func() error { return n.setBearer(name, c) })
}

func (n *Node) setBearer(name string, c admin.BearerConfig) error {
	a := n.bearer(name)
	if a == nil {
		return errNoBearer()
	}
	if err := checkMTU(a, c.MTU); err != nil {
		return err
	}
	now := n.loop.Now()
	if c.LinkConfig != (engine.LinkConfig{}) {
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

// BearerProperty implements backend.Node.
func (n *Node) BearerProperty(name string, p control.Property) (int, error) {
	n.loop.Lock()
	defer n.loop.Unlock()
	v, err := n.bearerProperty(name, p)
	return v, backend.ManageError("get", err)
}

func (n *Node) bearerProperty(name string, p control.Property) (int, error) {
	a := n.bearer(name)
	if a == nil {
		return 0, errNoBearer()
	}
	c := n.eng.Bearer(a.id)
	switch {
	case p == control.PropertyPriority:
		return int(c.Priority), nil
	case p == control.PropertyTolerance:
		return int(c.Tolerance.Milliseconds()), nil
	case p == control.PropertyWindow:
		return c.MaxWindow, nil
	case p == control.PropertyMTU && a.medium() == udpMedium:
		return n.carriedOn(a), nil
	}
	return 0, noProperty(p)
}

// SetBearerProperty implements backend.Node.
func (n *Node) SetBearerProperty(name string, p control.Property, value int) error {
	return n.manage("set", func() error { return n.setBearerProperty(name, p, value) })
}

func (n *Node) setBearerProperty(name string, p control.Property, value int) error {
	a := n.bearer(name)
	if a == nil {
		return errNoBearer()
	}
	if err := checkProperty(p, value); err != nil {
		return err
	}
	if p == control.PropertyMTU {
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
		return noProperty(control.PropertyMTU)
	case a.Device.MTU() > 0 && mtu > a.Device.MTU():
		return &admin.Refusal{Errno: syscall.EINVAL, Err: fmt.Errorf("%w: %s was opened for messages of %d bytes", engine.ErrConfig, a.Device.Name(), a.Device.MTU())}
	}
	return checkProperty(control.PropertyMTU, mtu)
}
