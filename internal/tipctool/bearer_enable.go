// SPDX-License-Identifier: Apache-2.0

package tipctool

import (
	"net/netip"

	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

func (c *call) enableBearer() error {
	r, err := c.bearerRequest()
	if err != nil {
		return err
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	return n.Admin().EnableBearer(c.ctx, r)
}

// bearerRequest reads what a bearer is to be.
func (c *call) bearerRequest() (r admin.BearerRequest, err error) {
	o, err := c.options("domain", "priority", "media", "device", "name", "driver", "localip", "localport", "remoteip", "remoteport")
	if err != nil {
		return r, err
	}
	r = admin.BearerRequest{Medium: o["media"], Device: o["device"], Name: o["name"], Driver: o["driver"]}
	key, err := nameKey(r.Medium)
	switch {
	case err != nil:
		return r, err
	case o[key] == "":
		return r, said("missing bearer %s", key)
	case r.Medium == "udp" && o["localip"] == "" && o["device"] == "":
		return r, c.usageBehind(said("udp bearer localip/device missing"))
	}
	if s := o["domain"]; s != "" {
		if r.Domain, err = domain(s); err != nil {
			return r, err
		}
	}
	if s := o["priority"]; s != "" {
		v, err := number(s, 31)
		if err != nil {
			return r, err
		}
		r.Priority = uint8(v)
	}
	for _, x := range []struct {
		key string
		ip  *netip.Addr
	}{{"localip", &r.LocalIP}, {"remoteip", &r.RemoteIP}} {
		if s := o[x.key]; s != "" {
			if *x.ip, err = address(s); err != nil {
				return r, err
			}
		}
	}
	for _, x := range []struct {
		key  string
		port *uint16
	}{{"localport", &r.LocalPort}, {"remoteport", &r.RemotePort}} {
		if s := o[x.key]; s != "" {
			v, err := number(s, 65535)
			if err != nil {
				return r, err
			}
			*x.port = uint16(v)
		}
	}
	return r, nil
}

// domain reads which nodes discovery is for.
func domain(s string) (stack.NodeAddr, error) {
	d, err := stack.ParseNodeAddr(s)
	if err != nil {
		return 0, said("invalid domain %q", printable.Prefix(s, 32))
	}
	return d, nil
}

// address reads an IP address. Names of hosts are none: what they stand for changes.
func address(s string) (netip.Addr, error) {
	ip, err := netip.ParseAddr(s)
	if err != nil {
		return ip, said("invalid IP address %q", printable.Prefix(s, 64))
	}
	return ip, nil
}
