// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"syscall"
)

// SetBearer changes the bearer of that name, "eth0" or "eth:eth0": all its links, at
// once, and those to come. The MTU, of bearers over UDP only, resets the links; Domain
// does not change. Errors, inside *net.OpError: a *Refusal with EINVAL, "Bearer not
// found." or ErrConfig; with EOPNOTSUPP for the MTU of an Ethernet.
func (n *Node) SetBearer(name string, c BearerConfig) error {
	if n.far != nil {
		return tellFar(n, "set-bearer", bearerWords{name, c})
	}
	return n.manage("set", func() error { return n.setBearer(name, c) })
}

func (n *Node) setBearer(name string, c BearerConfig) error {
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

// BearerProperty returns one value of a bearer, in the units of Property: of its links
// what new ones begin with. Errors as of SetBearer.
func (n *Node) BearerProperty(name string, p Property) (int, error) {
	if n.far != nil {
		return getFar(n, "bearer-property", name, p)
	}
	n.mu.Lock()
	defer n.unlock()
	v, err := n.bearerProperty(name, p)
	return v, manageError("get", err)
}

func (n *Node) bearerProperty(name string, p Property) (int, error) {
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

// SetBearerProperty changes one value of a bearer as SetBearer does, within the bounds of
// Property. Errors as there.
func (n *Node) SetBearerProperty(name string, p Property, value int) error {
	if n.far != nil {
		return tellFar(n, "set-bearer-property", propertyWords{name, p, value})
	}
	return n.manage("set", func() error { return n.setBearerProperty(name, p, value) })
}

func (n *Node) setBearerProperty(name string, p Property, value int) error {
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
