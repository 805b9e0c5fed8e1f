// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"fmt"
	"net"
	"net/netip"
)

// Ends are the own address, and where broadcasts go: the group, else the first of
// Config.Remotes.
func (d *Device) Ends() (local, remote netip.AddrPort) {
	if d.cfg.Multicast.IsValid() {
		return d.cfg.Local, d.cfg.Multicast
	}
	return d.cfg.Local, d.cfg.Remotes[0]
}

// AddRemote makes one more host get the broadcasts; port 0 is DefaultPort. One that is
// there already changes nothing. It is safe for concurrent use. Errors: *ConfigError where
// there is a multicast group, for an address that no host has, or beyond 1024 remotes;
// net.ErrClosed.
func (d *Device) AddRemote(a netip.AddrPort) error {
	a = withPort(a)
	d.mu.Lock()
	defer d.mu.Unlock()
	ip := a.Addr()
	switch {
	case d.closed:
		return net.ErrClosed
	case d.group != nil:
		return &ConfigError{"Remotes", a, "there is a multicast group already"}
	case !ip.IsValid() || ip.IsUnspecified() || ip.IsMulticast() || ip.Zone() != "" || !d.cfg.likeLocal(a):
		return &ConfigError{"Remotes", a, "not one host's address of Local's IP version"}
	case d.table.fixed >= maxRemotes:
		return &ConfigError{"Remotes", a, fmt.Sprintf("more than %d", maxRemotes)}
	case a != d.cfg.Local:
		d.table.add(a, makeSockaddr(a, d.ifindex))
	}
	return nil
}
