// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
)

// OpenPacket makes the interface this node's, and opens it, in the network
// namespace of the calling thread. It must be up; carrier may come later. From
// then on its TIPC frames are collected for Receive. cfg may be nil.
//
// Errors, each saying what to do: *OwnedError, *KernelError, *PrivilegeError,
// *InterfaceError with ErrMissing, ErrName, ErrLoopback, ErrNotEthernet, ErrPort, ErrMTU
// or ErrDown. Any other is the system's.
func OpenPacket(ifname string, cfg *PacketConfig) (_ *Packet, err error) {
	p := &Packet{name: ifname, rx: -1, tx: -1}
	c := cfg.withDefaults()
	if p.claim, err = takeClaim(ifname, c.timeouts.claim); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			closeSocket(&p.rx)
			closeSocket(&p.tx)
			p.claim.release()
		}
	}()
	l, err := findUsable(ifname)
	if kernel := l.checkKernel(ifname); kernel != nil {
		return nil, kernel
	}
	if err != nil {
		return nil, err
	}
	p.index, p.mac = l.Index, l.MAC()
	if err := p.openSender(c); err != nil {
		return nil, p.systemError(err)
	}
	if err := p.openReceiver(c); err != nil {
		return nil, p.systemError(err)
	}
	p.errDown = &InterfaceError{ifname, ErrDown, "bring it up: ip link set dev " + ifname + " up"}
	p.errNoCarrier = &InterfaceError{ifname, ErrNoCarrier, "check the cable, or bring its other end up"}
	p.errRemoved = &InterfaceError{ifname, ErrRemoved, "open it again when it is back"}
	// Last, so that nothing the sockets were not there for has happened since.
	if p.watch, err = watchLink(p.index, p.linkChanged); err != nil {
		return nil, p.systemError(err)
	}
	return p, nil
}

// missing lists the interfaces there are.
func missing(ifname string) error {
	var names []string
	all, _ := net.Interfaces() // without an answer the list is empty
	for _, i := range all {
		names = append(names, i.Name)
	}
	return &InterfaceError{ifname, ErrMissing, "this network namespace has " + strings.Join(names, ", ")}
}

// systemError gives the kernel's refusals that have a known way out their type.
func (p *Packet) systemError(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		program, _ := os.Executable()
		return &PrivilegeError{p.name, program, err}
	case errors.Is(err, unix.EAFNOSUPPORT):
		return fmt.Errorf("xdp: this kernel has no packet sockets (CONFIG_PACKET): %w", err)
	case errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO), errors.Is(err, ErrRemoved): // gone since lookUp
		return missing(p.name)
	}
	var known *InterfaceError
	if errors.As(err, &known) {
		return err
	}
	return fmt.Errorf("xdp: interface %s: %w", p.name, err)
}

// openSender opens the socket that sends. It is bound to no protocol, so the
// kernel hands it no frame.
func (p *Packet) openSender(c PacketConfig) (err error) {
	if p.tx, err = newSocket(); err != nil {
		return err
	}
	if !c.Qdisc {
		p.bypass = unix.SetsockoptInt(p.tx, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1) == nil
	}
	p.granted.send = setBuffer(p.tx, unix.SO_SNDBUFFORCE, unix.SO_SNDBUF, c.SendBuffer)
	if err := p.bind(p.tx, 0); err != nil {
		return err
	}
	name, err := unix.Getsockname(p.tx)
	if err != nil {
		return os.NewSyscallError("getsockname", err)
	}
	if a, ok := name.(*unix.SockaddrLinklayer); !ok || a.Hatype != unix.ARPHRD_ETHER {
		return &InterfaceError{p.name, ErrNotEthernet, "use a bearer on an Ethernet interface"}
	}
	return nil
}

// openReceiver opens the socket that receives. A packet socket of protocol 0
// hears nothing, so the filter is in place before the first frame.
func (p *Packet) openReceiver(c PacketConfig) (err error) {
	if p.rx, err = newSocket(); err != nil {
		return err
	}
	if err := attachFilter(p.rx, stationFilter(p.index)); err != nil {
		return os.NewSyscallError("setsockopt SO_ATTACH_FILTER", err)
	}
	// Older kernels lack it, and then the filter does the same a little later.
	_ = unix.SetsockoptInt(p.rx, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)
	p.granted.receive = setBuffer(p.rx, unix.SO_RCVBUFFORCE, unix.SO_RCVBUF, c.ReceiveBuffer)
	return p.bind(p.rx, frame.EtherType)
}

// newSocket opens a packet socket that receives nothing yet.
func newSocket() (int, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	return fd, nil
}

func (p *Packet) bind(fd int, protocol uint16) error {
	err := unix.Bind(fd, &unix.SockaddrLinklayer{
		Protocol: htons(protocol),
		Ifindex:  p.index,
	})
	return os.NewSyscallError("bind", err)
}

// setBuffer asks for a socket buffer of size bytes, at first beyond the limit for
// everybody, which takes CAP_NET_ADMIN, and returns what was granted, as the
// kernel counts: twice the size.
func setBuffer(fd, force, polite, size int) int {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, force, size) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, polite, size)
	}
	granted, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, polite)
	return granted
}

// htons brings v into network byte order, whatever the machine's own is.
func htons(v uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], v)
	return binary.NativeEndian.Uint16(b[:])
}
