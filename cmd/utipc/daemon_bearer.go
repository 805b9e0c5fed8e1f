// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"github.com/utipc/utipc/daemon/bearers"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/settings"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/udp"
	"github.com/utipc/utipc/xdp"
)

// openSetBearer opens the device of a bearer of the settings, for their node.
func openSetBearer(b settings.Bearer, n settings.Node) (netdev.Device, error) {
	if b.Medium != "udp" {
		return openEthernet(b.Device, b.Driver, n)
	}
	local, _ := settings.Endpoint(b.Local)
	c := udp.Config{Name: b.Name, Local: local, MTU: b.MTU}
	for _, r := range b.Remotes {
		to, _ := settings.Endpoint(r)
		c.Remotes = append(c.Remotes, to)
	}
	switch {
	case b.Multicast != "":
		c.Multicast, _ = settings.Endpoint(b.Multicast)
	case len(b.Remotes) == 0:
		c.Multicast = udp.Group(uint32(n.NetID), local.Addr())
	}
	return openUDP(c)
}

// openRequested opens the device of a bearer that somebody asks the running node for.
func openRequested(r admin.BearerRequest, n settings.Node) (netdev.Device, error) {
	if r.Medium != "udp" {
		return openEthernet(r.Device, r.Driver, n)
	}
	c, err := requestedUDP(r, uint32(n.NetID))
	if err != nil {
		return nil, err
	}
	return openUDP(c)
}

// openBearer opens bearers that somebody asks the running node for, and has them kept.
func openBearer(n settings.Node, k *keeper) admin.BearerOpener {
	return func(ctx context.Context, r admin.BearerRequest) (netdev.Device, error) {
		dev, err := openRequested(r, n)
		if err != nil {
			return nil, err
		}
		b := &keptBearer{open: func() (netdev.Device, error) { return openRequested(r, n) }, dev: dev, config: admin.BearerConfig{Domain: r.Domain}}
		k.do(func() { k.adopt(requestedWish(r, dev.Name()), b) })
		return dev, nil
	}
}

// requestedWish is what a request wants, of a bearer of that name.
func requestedWish(r admin.BearerRequest, name string) bearers.Wish {
	if r.Medium != "udp" {
		return bearers.Wish{ID: "eth:" + name, Device: r.Device, Command: true}
	}
	w := bearers.Wish{ID: "udp:" + name, Device: r.Device, Command: true}
	if r.LocalIP.IsValid() {
		w.Device, w.Local = "", r.LocalIP
	}
	return w
}

// settingsWish is what a bearer of the settings wants.
func settingsWish(b settings.Bearer) bearers.Wish {
	if b.Medium != "udp" {
		return bearers.Wish{ID: "eth:" + b.Device, Device: b.Device, Rest: b.Driver}
	}
	local, _ := settings.Endpoint(b.Local)
	w := bearers.Wish{ID: "udp:" + b.Name, Local: local.Addr(), Rest: fmt.Sprint(local.Port(), b.MTU, b.Multicast)}
	for _, r := range b.Remotes {
		to, _ := settings.Endpoint(r)
		if to.Port() == 0 {
			to = netip.AddrPortFrom(to.Addr(), udp.DefaultPort)
		}
		w.Remotes = append(w.Remotes, to)
	}
	return w
}

// requestedUDP reads what is asked for of a bearer over UDP.
func requestedUDP(r admin.BearerRequest, netID uint32) (c udp.Config, err error) {
	c = udp.Config{Name: r.Name, Local: netip.AddrPortFrom(r.LocalIP, r.LocalPort), MTU: r.MTU}
	if c.Name == "" {
		c.Name = r.Device
	}
	if !r.LocalIP.IsValid() {
		ip, err := addressOf(r.Device)
		if err != nil {
			return c, err
		}
		c.Local = netip.AddrPortFrom(ip, r.LocalPort)
	}
	switch remote := netip.AddrPortFrom(r.RemoteIP, r.RemotePort); {
	case r.RemoteIP.IsMulticast():
		c.Multicast = remote
	case r.RemoteIP.IsValid():
		c.Remotes = append(c.Remotes, remote)
	}
	for _, ip := range r.Remotes {
		c.Remotes = append(c.Remotes, netip.AddrPortFrom(ip, r.RemotePort))
	}
	if !c.Multicast.IsValid() && len(c.Remotes) == 0 {
		c.Multicast = udp.Group(netID, c.Local.Addr())
	}
	return c, nil
}

// openEthernet opens an interface for a node. An empty driver is auto.
func openEthernet(name, driver string, n settings.Node) (netdev.Device, error) {
	var d xdp.Driver
	if driver != "" {
		var err error
		if d, err = xdp.ParseDriver(driver); err != nil {
			return nil, err
		}
	}
	dev, err := xdp.Open(name, &xdp.Config{Driver: d, Memory: memoryFor(name, n)})
	if err != nil { // a nil device of a type is no nil Device
		return nil, err
	}
	return dev, nil
}

// memoryFor is how much memory AF_XDP will lock for a node with this interface, in bytes,
// as package stack makes it: chunks, and 512 more for frames that do not fit one.
func memoryFor(name string, n settings.Node) int {
	mtu := n.MTU
	if ifi, err := xdp.InterfaceByName(name); err == nil {
		mtu = max(mtu, ifi.MTU)
	}
	all := n.Chunks * netdev.SmallChunk
	if size := netdev.Headroom + frame.EthernetLen + mtu; size > netdev.SmallChunk {
		all += 512 * ((size + netdev.SmallChunk - 1) / netdev.SmallChunk * netdev.SmallChunk)
	}
	return all
}

func openUDP(c udp.Config) (netdev.Device, error) {
	dev, err := udp.Open(c)
	if err != nil {
		return nil, err
	}
	return dev, nil
}

// bearerConfig is what the links on a bearer of the settings begin with.
func bearerConfig(b settings.Bearer) admin.BearerConfig {
	return admin.BearerConfig{LinkConfig: stack.LinkConfig{
		Tolerance: time.Duration(b.Tolerance), Priority: uint8(b.Priority), Window: b.Window, MaxWindow: b.MaxWindow,
	}}
}

// addressOf is the address of the interface that peers can be told: IPv4 if it has one.
func addressOf(device string) (found netip.Addr, err error) {
	ifi, err := xdp.InterfaceByName(device)
	if err != nil && !errors.Is(err, xdp.ErrMissing) {
		return found, err
	}
	if err != nil {
		return found, &admin.Refusal{Errno: syscall.ENODEV, Reason: "Failed to enable media.", Err: err}
	}
	all, err := ifi.Addrs()
	if err != nil {
		return found, err
	}
	for _, a := range all {
		p, err := netip.ParsePrefix(a.String())
		if err != nil || p.Addr().IsLinkLocalUnicast() {
			continue
		}
		if ip := p.Addr().Unmap(); ip.Is4() {
			return ip, nil
		} else if !found.IsValid() {
			found = ip
		}
	}
	if !found.IsValid() {
		return found, &admin.Refusal{Errno: syscall.EADDRNOTAVAIL, Reason: "the interface has no IP address"}
	}
	return found, nil
}
