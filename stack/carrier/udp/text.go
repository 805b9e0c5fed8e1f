// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/utipc/utipc/netdev"
)

// ParseConfig reads "IP[,TO...]": the own address, and those of the other nodes or a
// multicast group; without any the group of the network number netID, see Group. Each may
// have a port, 10.0.0.1:6118 or [fd00::1]:6118. Errors: *ConfigError; Open checks the rest.
func ParseConfig(text string, netID uint32) (c Config, err error) {
	var ends []netip.AddrPort
	for s := range strings.SplitSeq(text, ",") {
		a, err := parseEnd(s)
		if err != nil {
			return c, &ConfigError{"address", strconv.Quote(s), "not an IP address, with or without a port (want IP[,TO...], e.g. 10.0.0.1 or 10.0.0.1:6118,10.0.0.2)"}
		}
		ends = append(ends, a)
	}
	c.Local = ends[0]
	switch {
	case len(ends) == 1:
		c.Multicast = Group(netID, c.Local.Addr())
	case len(ends) == 2 && ends[1].Addr().IsMulticast():
		c.Multicast = ends[1]
	default:
		c.Remotes = ends[1:]
	}
	return c, nil
}

// parseEnd reads an IP address with or without a port.
func parseEnd(s string) (netip.AddrPort, error) {
	if a, err := netip.ParseAddrPort(s); err == nil {
		return a, nil
	}
	ip, err := netip.ParseAddr(s)
	return netip.AddrPortFrom(ip, 0), err
}

func init() { netdev.Register("udp", openText) }

// openText opens "udp:IP[,TO...]" with the options if, an interface, and mtu, in bytes.
func openText(t *netdev.Text) (netdev.Device, error) {
	c, err := ParseConfig(t.Place, t.NetID)
	if err != nil {
		return nil, err
	}
	c.Interface = t.Option("if")
	if mtu := t.Option("mtu"); mtu != "" {
		if c.MTU, err = strconv.Atoi(mtu); err != nil {
			return nil, fmt.Errorf("udp: mtu=%q is not a number of bytes", mtu)
		}
	}
	if err := t.Unknown(); err != nil {
		return nil, err
	}
	return Open(c)
}
