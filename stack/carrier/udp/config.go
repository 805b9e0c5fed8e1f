// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"fmt"
	"net/netip"
)

// DefaultPort is TIPC's port. Source: docs/spec/01-wire.md §1.2.
const DefaultPort = 6118

// Bounds of a message, in bytes. Source: docs/spec/01-wire.md §1.2.
const (
	defaultMTU4 = 14000 // in fragments of IP, where the network takes no such datagram
	defaultMTU6 = 1280
	maxMTU      = 65487       // what a datagram over IPv6 takes
	minMTU      = 100 + 28    // TIPC's least, and the headers of IPv4
	defaultTTL  = 64          // of unicast and multicast
	maxRemotes  = 1024        // configured
	buffer      = 8 * 1 << 20 // of each socket, in bytes, where the system allows
)

// A Config says where a bearer is. Local, and Multicast or Remotes, must be set.
type Config struct {
	Name string // of the bearer, as peers see it, 1 to 15 characters; default "UDP1"

	// Local is the own address, which peers are told. It must be one of this host
	// and not the wildcard. Port 0 is DefaultPort.
	Local netip.AddrPort
	// Multicast is the group that broadcasts go to, see Group. Port 0 is
	// DefaultPort. The zero value is none.
	Multicast netip.AddrPort
	// Remotes are who gets the broadcasts, one by one, when there is no group; at
	// most 1024. Port 0 is DefaultPort.
	Remotes []netip.AddrPort

	Interface string // for multicast; default: the one that has Local
	TTL       int    // 1 to 255; default 64

	// MTU is the longest message, in bytes, 128 to 65487. The default is the
	// kernel's: 14000 on IPv4, 1280 on IPv6. Less than the interface's MTU by 28
	// bytes on IPv4, or 48 on IPv6, and no datagram has to travel in fragments, of
	// which one lost is all lost, and segmentation offload can be used.
	MTU int

	NoGSO bool // do without segmentation offload
	NoGRO bool // do without receive offload
}

// A ConfigError says which field of a Config cannot be so, and why.
type ConfigError struct {
	Field string
	Value any
	Why   string
}

func (e *ConfigError) Error() string { return fmt.Sprintf("udp: %s %v: %s", e.Field, e.Value, e.Why) }

// withDefaults fills in what was left out and refuses what cannot be.
func (c Config) withDefaults() (Config, error) {
	if c.Name == "" {
		c.Name = "UDP1"
	}
	if len(c.Name) > 15 {
		return c, &ConfigError{"Name", c.Name, "longer than 15 characters"}
	}
	ip := c.Local.Addr()
	if !ip.IsValid() || ip.IsUnspecified() || ip.IsMulticast() || ip.Is4In6() {
		return c, &ConfigError{"Local", c.Local, "not an address of this host that peers can be told"}
	}
	c.Local = withPort(c.Local)
	c, err := c.withPeers()
	if err != nil {
		return c, err
	}
	if c.MTU == 0 {
		if c.MTU = defaultMTU4; ip.Is6() {
			c.MTU = defaultMTU6
		}
	}
	if c.MTU < minMTU || c.MTU > maxMTU {
		return c, &ConfigError{"MTU", c.MTU, fmt.Sprintf("not in %d to %d", minMTU, maxMTU)}
	}
	if c.TTL == 0 {
		c.TTL = defaultTTL
	}
	if c.TTL < 1 || c.TTL > 255 {
		return c, &ConfigError{"TTL", c.TTL, "not in 1 to 255"}
	}
	return c, nil
}

// withPeers fills in the ports of the multicast group or of the remotes.
func (c Config) withPeers() (Config, error) {
	switch {
	case c.Multicast.Addr().IsValid() && len(c.Remotes) > 0:
		return c, &ConfigError{"Remotes", c.Remotes, "there is a multicast group already"}
	case c.Multicast.Addr().IsValid():
		if c.Multicast = withPort(c.Multicast); !c.Multicast.Addr().IsMulticast() || !c.likeLocal(c.Multicast) {
			return c, &ConfigError{"Multicast", c.Multicast, "not a group of Local's IP version"}
		}
	case len(c.Remotes) == 0:
		return c, &ConfigError{"Remotes", c.Remotes, "neither a multicast group nor a remote is given"}
	case len(c.Remotes) > maxRemotes:
		return c, &ConfigError{"Remotes", len(c.Remotes), fmt.Sprintf("more than %d", maxRemotes)}
	}
	remotes := make([]netip.AddrPort, len(c.Remotes))
	for i, r := range c.Remotes {
		ip := r.Addr()
		if remotes[i] = withPort(r); !ip.IsValid() || ip.IsUnspecified() || ip.IsMulticast() || !c.likeLocal(r) {
			return c, &ConfigError{"Remotes", r, "not one host's address of Local's IP version"}
		}
	}
	c.Remotes = remotes
	return c, nil
}

func (c *Config) likeLocal(a netip.AddrPort) bool { return a.Addr().Is4() == c.Local.Addr().Is4() }

func withPort(a netip.AddrPort) netip.AddrPort {
	if a.Port() == 0 {
		return netip.AddrPortFrom(a.Addr(), DefaultPort)
	}
	return a
}
