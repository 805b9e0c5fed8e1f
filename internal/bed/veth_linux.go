// SPDX-License-Identifier: Apache-2.0

package bed

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// An End is one end of a veth pair.
type End struct {
	Namespace *Namespace
	Name      string // of the interface, at most 15 characters
}

// pairs counts the pairs made, so that every interface gets an index of its own.
// Left alone, the first interface of each namespace would be number 2 on both
// sides, and the kernel, which knows a veth by its peer's number being another,
// would tell of carrier a second later.
var pairs atomic.Int32

// Veth makes a pair of Ethernet interfaces, which may be in one namespace, and
// waits until both have carrier. mtu is in bytes; each end gets queues queues each
// way. No address is configured on them, so the kernel sends nothing of its own.
// They vanish with either namespace.
func Veth(a, b End, mtu, queues int) error {
	index := 1000 + 2*int(pairs.Add(1))
	end := func(e End, index int) link {
		return newLink(index, false).withText(unix.IFLA_IFNAME, e.Name).withNumber(unix.IFLA_MTU, mtu).
			withNumber(unix.IFLA_NUM_TX_QUEUES, queues).withNumber(unix.IFLA_NUM_RX_QUEUES, queues)
	}
	peer := end(b, index+1).withNumber(unix.IFLA_NET_NS_FD, b.Namespace.fd)
	pair := end(a, index).withKind("veth", link(nil).with(vethInfoPeer, peer))
	if err := a.Namespace.Do(pair.create); err != nil {
		return fmt.Errorf("the veth pair %s, %s: %w", a.Name, b.Name, err)
	}
	return errors.Join(a.up(index), b.up(index+1), a.wait(), b.wait())
}

// Macvlan makes an Ethernet interface with an address of its own on another one of
// the namespace, which must be up, and brings it up. Those on the same interface
// reach each other and what is on the wire, but not that interface itself.
func (n *Namespace) Macvlan(lower, name string) error {
	e := End{n, name}
	return n.Do(func() error {
		on, err := net.InterfaceByName(lower)
		if err != nil {
			return err
		}
		// The number must not be one of the pair's, see pairs.
		index := 1000 + 2*int(pairs.Add(1))
		err = newLink(index, false).withText(unix.IFLA_IFNAME, name).withNumber(unix.IFLA_LINK, on.Index).
			withKind("macvlan", link(nil).withNumber(unix.IFLA_MACVLAN_MODE, macvlanModeBridge)).create()
		if err != nil {
			return fmt.Errorf("the macvlan %s on %s: %w", name, lower, err)
		}
		return errors.Join(e.up(index), e.wait())
	})
}

// up brings the interface up, quiet.
func (e End) up(index int) error {
	return e.Namespace.Do(func() error {
		quiet := link(nil).with(unix.AF_INET6, link(nil).with(inet6AddrGenMode, []byte{inet6AddrGenNobody}))
		// Refused by a kernel without IPv6, which is as quiet.
		_ = newLink(index, false).with(unix.IFLA_AF_SPEC, quiet).change()
		if err := newLink(index, true).change(); err != nil {
			return fmt.Errorf("bringing %s up: %w", e.Name, err)
		}
		return nil
	})
}

// wait waits until the interface works.
func (e End) wait() error { return e.Namespace.wait(e.Name, "carrier", operational) }
