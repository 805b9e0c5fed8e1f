// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"syscall"
)

// SetBearer implements nodeBackend.
func (n *localNode) SetBearer(name string, c BearerConfig) error {
	return n.manage("set", func() error { return n.setBearer(name, c) })
}

func (n *localNode) setBearer(name string, c BearerConfig) error {
	a := n.bearer(name)
	if a == nil {
		return errNoBearer()
	}
	if err := checkMTU(a, c.MTU); err != nil {
		return err
	}
	now := n.now()
	if c.LinkConfig != (LinkConfig{}) {
		if err := n.eng.SetLink(now, 0, a.id, c.LinkConfig); err != nil {
			return err
		}
	}
	if c.MTU != 0 {
		a.limit = c.MTU
		n.eng.SetMTU(now, a.id, n.carriedOn(a))
	}
	n.lap(now, false)
	return nil
}

// BearerProperty implements nodeBackend.
func (n *localNode) BearerProperty(name string, p Property) (int, error) {
	n.mu.Lock()
	defer n.unlock()
	v, err := n.bearerProperty(name, p)
	return v, manageError("get", err)
}

func (n *localNode) bearerProperty(name string, p Property) (int, error) {
	a := n.bearer(name)
	if a == nil {
		return 0, errNoBearer()
	}
	c := n.eng.Bearer(a.id)
	switch {
	case p == PropertyPriority:
		return int(c.Priority), nil
	case p == PropertyTolerance:
		return int(c.Tolerance.Milliseconds()), nil
	case p == PropertyWindow:
		return c.MaxWindow, nil
	case p == PropertyMTU && a.medium() == udpMedium:
		return n.carriedOn(a), nil
	}
	return 0, p.refusal()
}

// SetBearerProperty implements nodeBackend.
func (n *localNode) SetBearerProperty(name string, p Property, value int) error {
	return n.manage("set", func() error { return n.setBearerProperty(name, p, value) })
}

func (n *localNode) setBearerProperty(name string, p Property, value int) error {
	a := n.bearer(name)
	if a == nil {
		return errNoBearer()
	}
	if err := p.check(value); err != nil {
		return err
	}
	if p == PropertyMTU {
		return n.setBearer(name, BearerConfig{MTU: value})
	}
	return n.setBearer(name, BearerConfig{LinkConfig: p.change(value, n.eng.Bearer(a.id).Window)})
}

// checkMTU reports an MTU, unless it is 0, that a bearer cannot be given.
func checkMTU(a *attachment, mtu int) error {
	switch {
	case mtu == 0:
		return nil
	case a.medium() != udpMedium:
		return PropertyMTU.refusal()
	case a.dev.MTU() > 0 && mtu > a.dev.MTU():
		return &Refusal{Errno: syscall.EINVAL, Err: fmt.Errorf("%w: %s was opened for messages of %d bytes", ErrConfig, a.dev.Name(), a.dev.MTU())}
	}
	return PropertyMTU.check(mtu)
}
