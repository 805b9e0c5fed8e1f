// SPDX-License-Identifier: Apache-2.0

package genetlink

import (
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/internal/netlink"
	"github.com/utipc/utipc/internal/tipcshow"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

var errNoBearer = &admin.Refusal{Errno: syscall.EINVAL, Reason: "Bearer not found."}

const udpMedium = "udp"

// bearers are those of the node.
func (r *request) bearers() ([]admin.BearerStatus, error) { return r.node.Admin().Bearers(r.ctx) }

// bearer is the one that a request is about, which has attrs for it.
func (r *request) bearer() (name string, attrs []byte, err error) {
	attrs = netlink.Attribute(r.attrs, ofBearer)
	name = netlink.Text(attrs, bearerName)
	if name == "" {
		err = syscall.EINVAL
	}
	return name, attrs, err
}

// putBearer tells how a bearer stands.
func (r *request) putBearer(b *admin.BearerStatus) {
	r.item(bearerGet, ofBearer, func(a *attributes) {
		a.text(bearerName, tipcshow.BearerName(b))
		a.nest(bearerProperties, func(a *attributes) {
			putProperties(a, b.Links.Priority, b.Links.Tolerance, max(b.Links.Window, b.Links.MaxWindow))
			if b.Medium == udpMedium {
				a.number(propertyMTU, uint32(b.MTU))
			}
		})
		if b.Medium == udpMedium {
			a.nest(bearerUDP, func(a *attributes) {
				a.bytes(udpLocal, sockaddr(b.Local))
				a.bytes(udpRemote, sockaddr(b.Remote))
			})
		}
	})
}

// putProperties tells what links begin with.
func putProperties(a *attributes, priority uint8, tolerance time.Duration, window int) {
	a.number(propertyPriority, uint32(priority))
	a.number(propertyTolerance, uint32(tolerance.Milliseconds()))
	a.number(propertyWindow, uint32(window))
}

func dumpBearers(r *request) error {
	all, err := r.bearers()
	for i := range all {
		r.putBearer(&all[i])
	}
	return err
}

// theBearer finds the bearer that a request is about.
func (r *request) theBearer() (*admin.BearerStatus, error) {
	name, _, err := r.bearer()
	if err != nil {
		return nil, err
	}
	all, err := r.bearers()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(b admin.BearerStatus) bool { return tipcshow.BearerName(&b) == name })
	if i < 0 {
		return nil, errNoBearer
	}
	return &all[i], nil
}

func getBearer(r *request) error {
	b, err := r.theBearer()
	if err == nil {
		r.putBearer(b)
	}
	return err
}

// dumpRemotes tells where the broadcasts of a bearer over UDP go: of several hosts the first.
func dumpRemotes(r *request) error {
	b, err := r.theBearer()
	switch {
	case err != nil:
		return err
	case b.Medium != udpMedium:
		return syscall.EINVAL
	}
	r.message(bearerGet, flagMulti, func(a *attributes) { a.bytes(udpRemote, sockaddr(b.Remote)) })
	return nil
}

// properties are what may be set of a bearer, a link or a medium, in the order in which that is done.
var properties = [...]struct {
	typ      uint16
	property control.Property
}{
	{propertyTolerance, control.PropertyTolerance},
	{propertyPriority, control.PropertyPriority},
	{propertyWindow, control.PropertyWindow},
	{propertyMTU, control.PropertyMTU},
}

// setProperties sets what attrs has of a thing of that kind and name, by the call of that kind.
func (r *request) setProperties(verb, name string, attrs []byte) error {
	for _, p := range properties {
		v, ok := number(attrs, p.typ)
		if !ok {
			continue
		}
		in := control.PropertyParams{Name: name, Property: p.property, Value: int(v)}
		if err := r.node.Admin().Call(r.ctx, verb, in, nil); err != nil {
			return err
		}
	}
	return nil
}

func setBearer(r *request) error {
	name, attrs, err := r.bearer()
	if err != nil {
		return err
	}
	return r.setProperties("set-bearer-property", name, netlink.Attribute(attrs, bearerProperties))
}

func disableBearer(r *request) error {
	name, _, err := r.bearer()
	if err != nil {
		return err
	}
	return r.node.Admin().DisableBearer(r.ctx, name)
}

func enableBearer(r *request) error {
	name, attrs, err := r.bearer()
	if err != nil {
		return err
	}
	medium, rest, ok := strings.Cut(name, ":")
	if !ok || rest == "" {
		return syscall.EINVAL
	}
	q := admin.BearerRequest{Medium: medium, Domain: stack.NodeAddr(netlink.Number(attrs, bearerDomain))}
	wish := netlink.Attribute(attrs, bearerProperties)
	priority := netlink.Number(wish, propertyPriority)
	if priority > 31 {
		return syscall.EINVAL
	}
	q.Priority = uint8(priority)
	q.Tolerance = time.Duration(netlink.Number(wish, propertyTolerance)) * time.Millisecond
	q.Window, q.MTU = int(netlink.Number(wish, propertyWindow)), int(netlink.Number(wish, propertyMTU))
	if medium != udpMedium {
		q.Device = rest
		return r.node.Admin().EnableBearer(r.ctx, q)
	}
	q.Name = rest
	ends := netlink.Attribute(attrs, bearerUDP)
	local, ok1 := parseSockaddr(netlink.Attribute(ends, udpLocal))
	remote, ok2 := parseSockaddr(netlink.Attribute(ends, udpRemote))
	if !ok1 || !ok2 {
		return syscall.EINVAL
	}
	q.LocalIP, q.LocalPort, q.RemoteIP, q.RemotePort = local.Addr(), local.Port(), remote.Addr(), remote.Port()
	return r.node.Admin().EnableBearer(r.ctx, q)
}

func addRemote(r *request) error {
	name, attrs, err := r.bearer()
	if err != nil {
		return err
	}
	remote, ok := parseSockaddr(netlink.Attribute(netlink.Attribute(attrs, bearerUDP), udpRemote))
	if !ok {
		return syscall.EINVAL
	}
	return r.node.Admin().AddRemote(r.ctx, name, netip.AddrPortFrom(remote.Addr(), 0))
}
