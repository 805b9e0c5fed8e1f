// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Open opens a bearer in the network namespace of the calling thread. From then on
// datagrams are collected for Receive. It takes no privilege. Errors:
// *ConfigError, *OpenError.
func Open(c Config) (_ *Device, err error) {
	c, err = c.withDefaults()
	if err != nil {
		return nil, err
	}
	iface, err := interfaceOf(&c)
	if err != nil {
		return nil, err
	}
	own := netip.AddrPortFrom(c.Local.Addr().WithZone(""), c.Local.Port())
	d := &Device{cfg: c, ifname: iface.Name, ifindex: iface.Index, fd: -1, uni: -1, multi: -1, deadFD: -1, table: newTable(own, maxStations)}
	d.cfg.Local = own
	defer func() {
		if err != nil {
			d.Close()
		}
	}()
	if d.deadFD, err = unix.Eventfd(1, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, &OpenError{c.Local, "eventfd", err, ""}
	}
	if err := d.openOwn(iface); err != nil {
		return nil, err
	}
	d.fd = d.uni
	if c.Multicast.IsValid() {
		if err := d.openGroup(iface); err != nil {
			return nil, err
		}
	}
	for _, r := range c.Remotes {
		a := netip.AddrPortFrom(r.Addr().WithZone(""), r.Port())
		if a == own {
			continue // lists that are the same for all nodes have it
		}
		d.table.add(a, makeSockaddr(r, iface.Index))
	}
	d.in.init(c.MTU, d.noGRO == nil)
	return d, nil
}

// InterfaceOf finds the interface of the calling thread's network namespace that has an
// address; of the loopback's that is all of its network. Errors: *OpenError.
func InterfaceOf(local netip.Addr) (*net.Interface, error) {
	return interfaceOf(&Config{Local: netip.AddrPortFrom(local, 0)})
}

// interfaceOf finds the interface that a Config names, or else the one that has
// its address.
func interfaceOf(c *Config) (*net.Interface, error) {
	name := c.Interface
	if name == "" {
		name = c.Local.Addr().Zone()
	}
	if name != "" {
		i, err := net.InterfaceByName(name)
		if err != nil {
			return nil, &OpenError{c.Local, "interface " + name, errors.Unwrap(err), ""}
		}
		return i, nil
	}
	all, err := net.Interfaces()
	if err != nil {
		return nil, &OpenError{c.Local, "list interfaces", err, ""}
	}
	for _, i := range all {
		addrs, err := i.Addrs()
		if short(err) {
			return nil, &OpenError{c.Local, "list addresses", err, ""}
		}
		// One that has just gone has none.
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil && (p.Addr().WithZone("") == c.Local.Addr() ||
				i.Flags&net.FlagLoopback != 0 && p.Contains(c.Local.Addr())) { // all of 127.0.0.0/8 is ours
				return &i, nil
			}
		}
	}
	return nil, &OpenError{c.Local, "find its interface", unix.EADDRNOTAVAIL, "give the bearer an address of this host (ip address)"}
}

// short reports whether the process or the system lacks descriptors or memory.
func short(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM) || errors.Is(err, unix.ENOBUFS)
}

// openOwn opens the socket of the own address. It is not shared: a second node
// with the same address and port is told.
func (d *Device) openOwn(iface *net.Interface) (err error) {
	if d.uni, err = d.socket(); err != nil {
		return err
	}
	headers := 28
	if d.cfg.Local.Addr().Is6() {
		headers = 48
	}
	local := makeSockaddr(d.cfg.Local, iface.Index)
	d.gso = min(iface.MTU, 65535) - headers
	switch {
	case d.cfg.NoGSO:
		d.gso, d.noGSO = 0, errOff
	default:
		// The option by itself sets a size for all datagrams; 0 is none.
		if err := unix.SetsockoptInt(d.uni, unix.SOL_UDP, unix.UDP_SEGMENT, 0); err != nil {
			d.gso, d.noGSO = 0, err
		}
	}
	if err := d.outgoing(iface); err != nil {
		return err
	}
	if err := bind(d.uni, &local); err != nil {
		hint := "" // what else it may be is in the error
		switch {
		case errors.Is(err, unix.EADDRINUSE):
			hint = "another node or program has it: use another port, or another address of this host"
		case errors.Is(err, unix.EADDRNOTAVAIL):
			hint = "give the bearer an address of this host (ip address)"
		}
		return &OpenError{d.cfg.Local, "bind", err, hint}
	}
	return nil
}

var errOff = errors.New("switched off")

// socket opens a socket that receives nothing yet.
func (d *Device) socket() (int, error) {
	family := unix.AF_INET
	if d.cfg.Local.Addr().Is6() {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, &OpenError{d.cfg.Local, "socket", err, ""}
	}
	d.granted.receive = setBuffer(fd, unix.SO_RCVBUFFORCE, unix.SO_RCVBUF)
	if d.cfg.NoGRO {
		d.noGRO = errOff
	} else if err := unix.SetsockoptInt(fd, unix.SOL_UDP, unix.UDP_GRO, 1); err != nil {
		d.noGRO = err
	}
	if family == unix.AF_INET6 {
		if err := unix.SetsockoptInt(fd, unix.SOL_IPV6, unix.IPV6_V6ONLY, 1); err != nil {
			unix.Close(fd)
			return -1, &OpenError{d.cfg.Local, "IPV6_V6ONLY", err, ""}
		}
	}
	return fd, nil
}

// An option is of a socket.
type option struct {
	name              string
	level, opt, value int
}

// outgoing says how datagrams leave: how far they go, by which interface
// multicasts do, and that other nodes of this host hear those too. On IPv4 a
// datagram that is too long for a network on its way travels on in fragments.
func (d *Device) outgoing(iface *net.Interface) error {
	d.granted.send = setBuffer(d.uni, unix.SO_SNDBUFFORCE, unix.SO_SNDBUF)
	options := []option{
		{"IP_TTL", unix.SOL_IP, unix.IP_TTL, d.cfg.TTL},
		{"IP_MULTICAST_TTL", unix.SOL_IP, unix.IP_MULTICAST_TTL, d.cfg.TTL},
		{"IP_MULTICAST_LOOP", unix.SOL_IP, unix.IP_MULTICAST_LOOP, 1},
		{"IP_MTU_DISCOVER", unix.SOL_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DONT},
	}
	if d.cfg.Local.Addr().Is6() {
		options = []option{
			{"IPV6_UNICAST_HOPS", unix.SOL_IPV6, unix.IPV6_UNICAST_HOPS, d.cfg.TTL},
			{"IPV6_MULTICAST_HOPS", unix.SOL_IPV6, unix.IPV6_MULTICAST_HOPS, d.cfg.TTL},
			{"IPV6_MULTICAST_LOOP", unix.SOL_IPV6, unix.IPV6_MULTICAST_LOOP, 1},
			{"IPV6_MULTICAST_IF", unix.SOL_IPV6, unix.IPV6_MULTICAST_IF, iface.Index},
		}
	} else if err := d.multicastBy(iface); err != nil {
		return err
	}
	return d.set(d.uni, options)
}

// multicastBy says by which interface datagrams to the group leave.
func (d *Device) multicastBy(iface *net.Interface) error {
	var err error
	if d.cfg.Local.Addr().Is6() {
		err = unix.SetsockoptInt(d.uni, unix.SOL_IPV6, unix.IPV6_MULTICAST_IF, iface.Index)
	} else {
		err = unix.SetsockoptIPMreqn(d.uni, unix.SOL_IP, unix.IP_MULTICAST_IF, &unix.IPMreqn{Ifindex: int32(iface.Index)})
	}
	if err != nil {
		return &OpenError{d.cfg.Local, "multicast by " + iface.Name, err, ""}
	}
	return nil
}

func (d *Device) set(fd int, options []option) error {
	for _, o := range options {
		if err := unix.SetsockoptInt(fd, o.level, o.opt, o.value); err != nil {
			return &OpenError{d.cfg.Local, fmt.Sprintf("%s %d", o.name, o.value), err, ""}
		}
	}
	return nil
}

// openGroup opens the socket of the group. It is shared with other nodes of this
// host, each of which gets every datagram.
func (d *Device) openGroup(iface *net.Interface) (err error) {
	if d.multi, err = d.socket(); err != nil {
		return err
	}
	ip := d.cfg.Multicast.Addr()
	group := makeSockaddr(d.cfg.Multicast, iface.Index)
	options := []option{{"SO_REUSEADDR", unix.SOL_SOCKET, unix.SO_REUSEADDR, 1}}
	if ip.Is6() {
		// Older kernels lack it; then other programs' memberships count here too.
		_ = unix.SetsockoptInt(d.multi, unix.SOL_IPV6, unix.IPV6_MULTICAST_ALL, 0)
	} else {
		options = append(options, option{"IP_MULTICAST_ALL", unix.SOL_IP, unix.IP_MULTICAST_ALL, 0})
	}
	if err := d.join(iface); err != nil {
		return err
	}
	if err := d.set(d.multi, options); err != nil {
		return err
	}
	if err := bind(d.multi, &group); err != nil {
		return &OpenError{d.cfg.Local, fmt.Sprintf("bind to %v", d.cfg.Multicast), err, ""}
	}
	d.group = &station{addr: d.cfg.Multicast, to: group}
	if d.fd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return &OpenError{d.cfg.Local, "epoll", err, ""}
	}
	for _, s := range []int{d.uni, d.multi} {
		if err := unix.EpollCtl(d.fd, unix.EPOLL_CTL_ADD, s, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(s)}); err != nil {
			return &OpenError{d.cfg.Local, "epoll", err, ""}
		}
	}
	return nil
}

// setBuffer asks for a large socket buffer, at first beyond the limit for
// everybody, which takes a privilege, and returns what was granted in bytes, as
// the kernel counts: twice the size.
func setBuffer(fd, force, polite int) int {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, force, buffer) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, polite, buffer)
	}
	granted, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, polite)
	return granted
}
