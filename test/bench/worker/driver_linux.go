// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/carrier/udp"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/xdp"
)

// choices are how the drivers of interfaces are asked for.
var choices = map[string]xdp.Config{
	Auto:    {},
	Packet:  {Driver: xdp.AFPacket},
	XDP:     {Driver: xdp.AFXDP},
	Generic: {Driver: xdp.AFXDP, XSK: &xdp.XSKConfig{Mode: xdp.ModeGeneric}},
	Native:  {Driver: xdp.AFXDP, XSK: &xdp.XSKConfig{Mode: xdp.ModeNative}},
}

// IP reports whether the load needs addresses: whether it is one of the kernel's IP.
func (o Open) IP() bool {
	return o.Load == TCP || o.Load == UDP || o.Socket == "tcp" || o.carrier() || o.Judge()
}

// Judge reports whether the load is measured by another program, which its worker starts.
func (o Open) Judge() bool {
	switch o.Load {
	case Iperf3, Sockperf, Pingpong, Perftest, Testpmd:
		return true
	}
	return false
}

// carrier reports whether the driver is the UDP carrier.
func (o Open) carrier() bool { return o.Driver == UDP || o.Driver == Whole }

// KnownDriver reports whether interfaces can be opened with a driver of this name.
func KnownDriver(name string) bool {
	_, ok := choices[name]
	return ok
}

// Choice is how interfaces are opened with a driver of this name, if there is one.
func Choice(name string) (c xdp.Config, ok bool) {
	c, ok = choices[name]
	return c, ok
}

// udpHeaders is what IPv4 and UDP put before a message, in bytes.
const udpHeaders = 28

// OpenDevice opens the interface with the driver that o names.
func OpenDevice(o Open) (netdev.Device, load.Info, error) {
	if o.carrier() {
		d, err := openUDP(o)
		return d, load.Info{Driver: "UDP", Reason: "the row's own"}, err
	}
	if o.Driver == Zero {
		if err := zeroCopy(o.Iface); err != nil {
			return nil, load.Info{}, err
		}
		o.Driver = Native
	}
	c, ok := choices[o.Driver]
	if !ok {
		return nil, load.Info{}, fmt.Errorf("no driver is called %q", o.Driver)
	}
	d, err := xdp.Open(o.Iface, &c)
	if err != nil {
		return nil, load.Info{}, err
	}
	return d, load.Info{Driver: d.Method().String(), Reason: d.Reason()}, nil
}

// zeroCopy reports why an interface's driver does not share memory with sockets, if it
// does not. AF_XDP would do without, and be another row of the table.
func zeroCopy(iface string) error {
	l, err := xdp.ProbeLink(iface)
	switch {
	case err != nil:
		return err
	case !l.XDP.Known():
		return fmt.Errorf("AF_XDP without a copy: whether %s can do it is not known: %s", iface, l.XDP.Unknown)
	case !l.XDP.Value.ZeroCopy:
		return fmt.Errorf("AF_XDP without a copy: refused: the driver of %s, %s, does not offer it", iface, l.Driver.Value)
	}
	return nil
}

// openUDP opens the UDP carrier with the other end as its only remote, and messages
// short enough for a datagram each.
func openUDP(o Open) (netdev.Device, error) {
	ifi, err := net.InterfaceByName(o.Iface)
	if err != nil {
		return nil, err
	}
	var ends [2]netip.AddrPort
	for i, s := range o.Addrs {
		a, err := netip.ParseAddr(s)
		if err != nil {
			return nil, err
		}
		ends[i] = netip.AddrPortFrom(a, 0)
	}
	if o.End != 0 && o.End != 1 {
		return nil, fmt.Errorf("there is no end %d", o.End)
	}
	d, err := udp.Open(udp.Config{
		Local: ends[o.End], Remotes: []netip.AddrPort{ends[1-o.End]}, Interface: o.Iface, MTU: ifi.MTU - udpHeaders,
		NoGSO: o.Driver == Whole, NoGRO: o.Driver == Whole,
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}
