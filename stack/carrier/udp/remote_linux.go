// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// Ends are the own address, and where broadcasts go: the group, else the first of
// Remotes, if there is any.
func (d *Device) Ends() (local, remote netip.AddrPort) {
	if d.cfg.Multicast.IsValid() {
		return d.cfg.Local, d.cfg.Multicast
	}
	if all := d.Remotes(); len(all) > 0 {
		remote = all[0]
	}
	return d.cfg.Local, remote
}

// Remotes are who gets the broadcasts when there is no group, as Config.Remotes had them
// and AddRemote and RemoveRemote have changed them since.
func (d *Device) Remotes() []netip.AddrPort {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.cfg.Remotes)
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
	case slices.Contains(d.cfg.Remotes, a):
	case a != d.cfg.Local:
		d.table.add(a, makeSockaddr(a, d.ifindex))
		fallthrough
	default:
		d.cfg.Remotes = append(slices.Clone(d.cfg.Remotes), a)
	}
	return nil
}

// RemoveRemote ends that a host gets the broadcasts; port 0 is DefaultPort. A link to it
// stays until it ends by itself, and until then the host gets them still. It is safe for
// concurrent use. Errors: *ConfigError for a host that is not among Remotes; net.ErrClosed.
func (d *Device) RemoveRemote(a netip.AddrPort) error {
	a = withPort(a)
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.Index(d.cfg.Remotes, a)
	switch {
	case d.closed:
		return net.ErrClosed
	case i < 0:
		return &ConfigError{"Remotes", a, "not one of them"}
	}
	d.cfg.Remotes = slices.Delete(slices.Clone(d.cfg.Remotes), i, i+1)
	d.table.remove(a)
	return nil
}
