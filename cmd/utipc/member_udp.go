// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/udp"
	"github.com/utipc/utipc/xdp"
)

// udpFlags are the flags of a node that speaks TIPC over UDP.
type udpFlags struct {
	ends string
	mtu  int
}

func (u *udpFlags) flags(f *cmdline.Flags) {
	f.StringVar(&u.ends, "udp IP[,TO...]", "", "in place of --if: speak TIPC over UDP, from this address of the host. TO are the other nodes' addresses, "+
		"or a multicast group; with none, the group of the cluster's number. Each may have a port: 10.0.0.1:6118, [fd00::1]:6118 (default 6118)")
	f.IntVar(&u.mtu, "udp-mtu N", 0, "the longest message over UDP (default 14000, on IPv6 1280); 1472 travels in whole packets where interfaces have an MTU of 1500")
}

// config reads the flags of a node in the network of the number netID.
func (u *udpFlags) config(netID uint32) (c udp.Config, err error) {
	if c, err = udp.ParseConfig(u.ends, cmp.Or(netID, frame.DefaultNetID)); err != nil {
		return c, cmdline.UsageError("--udp: " + err.Error())
	}
	c.MTU = u.mtu
	return c, nil
}

// carrier opens what the node speaks TIPC on.
func (m *member) carrier(driver xdp.Driver) (stack.Bearer, error) {
	if m.udp.ends == "" {
		b, err := xdp.Open(m.iface, &xdp.Config{Driver: driver})
		if driver == xdp.Auto && errors.Is(err, fs.ErrPermission) { // of one that was asked for the error says what it lacks
			return nil, fmt.Errorf("interface %s: %w: run it as root, or after setcap cap_net_raw,cap_net_admin,cap_bpf+ep %s; or use the daemon's node (without --if), or UDP (--udp IP), which need no rights",
				m.iface, fs.ErrPermission, programPath())
		}
		if err != nil {
			return nil, err
		}
		return b, nil
	}
	c, err := m.udp.config(uint32(m.netID))
	if err != nil {
		return nil, err
	}
	m.iface = "udp " + c.Local.String() // as what follows calls it
	if c.Local.Port() == 0 {
		m.iface = "udp " + c.Local.Addr().String()
	}
	d, err := udp.Open(c)
	if wrong := (*udp.ConfigError)(nil); errors.As(err, &wrong) && wrong.Field == "MTU" {
		return nil, cmdline.UsageError("--udp-mtu is " + wrong.Why)
	}
	return d, err
}

// programPath is that of this program, for messages.
func programPath() string {
	if p, err := os.Executable(); err == nil {
		return p
	}
	return "utipc"
}
