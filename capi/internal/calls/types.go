// SPDX-License-Identifier: Apache-2.0

//go:build linux

package calls

import (
	"fmt"
	"net"
	"syscall"

	"github.com/utipc/utipc/stack"
)

// Kinds of addresses, as in utipc.h.
const (
	noAddr = iota
	serviceAddr
	rangeAddr
	socketAddr
)

// An Addr is a utipc_addr.
type Addr struct{ Kind, Node, Port, Type, Lower, Upper uint32 }

// An Info is a utipc_info.
type Info struct {
	From, To, Member                       Addr
	Kind, Flags, Error, Importance, Behind uint32
	_                                      [3]uint32
}

// An Event is a utipc_event.
type Event struct {
	Range, Socket    Addr
	Kind, Scope, Key uint32
	_                uint32
}

// Options are utipc_options.
type Options struct {
	Flags, Importance, Scope, Multicast, Policy, PolicyLimit, ReceiveLimit, Backlog uint32
	NameWait                                                                        int32
	Reserved                                                                        [7]uint32
}

// Flags of Options, of Info and of subscriptions.
const (
	returnable = 1 << iota
	acceptAhead
	noDelay
	syncErrors
	loopback
	groupEvents
	everyOption = 1<<iota - 1

	truncated = 1
	private   = 2
	evicts    = 4

	subRanges   = 1
	subChanges  = 2
	subComplete = 4
)

// Kinds of Event.
const (
	published = 1 + iota
	withdrawn
	complete
)

// Address is what package stack calls the address; nil of none. Errors: EFAULT of a nil
// pointer, EINVAL of one that is no address.
func (a *Addr) Address() (net.Addr, error) {
	if a == nil {
		return nil, failed(syscall.EFAULT, "the address is NULL")
	}
	var addr net.Addr
	want := Addr{Kind: a.Kind}
	switch a.Kind {
	case noAddr:
	case serviceAddr:
		addr = stack.Service{Type: a.Type, Instance: a.Lower, Node: stack.NodeAddr(a.Node)}
		want.Type, want.Lower, want.Node = a.Type, a.Lower, a.Node
	case rangeAddr:
		addr = stack.Range{Type: a.Type, Lower: a.Lower, Upper: a.Upper}
		want.Type, want.Lower, want.Upper = a.Type, a.Lower, a.Upper
	case socketAddr:
		addr = stack.SocketAddr{Port: a.Port, Node: stack.NodeAddr(a.Node)}
		want.Port, want.Node = a.Port, a.Node
	default:
		return nil, failed(syscall.EINVAL, "%d is not a kind of address", a.Kind)
	}
	if *a != want {
		return nil, failed(syscall.EINVAL, "the address %+v has a field that its kind does not have", *a)
	}
	return addr, nil
}

// optional is Address where NULL means none.
func (a *Addr) optional() (net.Addr, error) {
	if a == nil {
		return nil, nil
	}
	return a.Address()
}

// AddrOf is the Addr of an address; nil is none.
func AddrOf(addr net.Addr) Addr {
	switch a := addr.(type) {
	case stack.Service:
		return Addr{Kind: serviceAddr, Type: a.Type, Lower: a.Instance, Node: uint32(a.Node)}
	case stack.Range:
		return Addr{Kind: rangeAddr, Type: a.Type, Lower: a.Lower, Upper: a.Upper}
	case stack.SocketAddr:
		return Addr{Kind: socketAddr, Port: a.Port, Node: uint32(a.Node)}
	}
	return Addr{}
}

// infoOf is what is known of a message.
func infoOf(m *stack.Message) Info {
	i := Info{
		From:       AddrOf(m.From),
		Kind:       uint32(m.Kind),
		Error:      uint32(m.Error),
		Importance: uint32(m.Importance),
		Behind:     uint32(m.Behind),
	}
	if m.Named {
		i.To = AddrOf(m.Name)
	}
	if m.Member.Type != 0 {
		i.Member = AddrOf(m.Member)
	}
	for _, f := range []struct {
		on  bool
		bit uint32
	}{{m.Truncated, truncated}, {m.Private, private}, {m.Evicts, evicts}} {
		if f.on {
			i.Flags |= f.bit
		}
	}
	return i
}

// eventOf is an event of a subscription.
func eventOf(ev stack.Event) Event {
	if ev.Complete {
		return Event{Kind: complete}
	}
	kind := uint32(published)
	if ev.Withdrawn {
		kind = withdrawn
	}
	return Event{Range: AddrOf(ev.Range), Socket: AddrOf(ev.Socket), Kind: kind, Scope: uint32(ev.Scope), Key: ev.Key}
}

// check refuses what no version of the library knows. Errors: EINVAL.
func (o *Options) check() error {
	if o.Flags&^everyOption != 0 || o.Reserved != [7]uint32{} {
		return failed(syscall.EINVAL, "the options have unknown flags %#x, or something in reserved", o.Flags&^everyOption)
	}
	if limit := uint32(1 << 30); o.ReceiveLimit > limit || o.Backlog > limit || o.PolicyLimit > limit || o.Importance > 255 || o.Scope > 255 || o.Multicast > 255 || o.Policy > 255 {
		return failed(syscall.EINVAL, "an option is out of range: %+v", *o)
	}
	return nil
}

// network is what package stack calls a type of sockets. Errors: EPROTONOSUPPORT.
func network(typ int) (string, error) {
	switch typ {
	case syscall.SOCK_STREAM:
		return "tipc", nil
	case syscall.SOCK_SEQPACKET:
		return "tipcpacket", nil
	case syscall.SOCK_RDM:
		return "tipcrdm", nil
	case syscall.SOCK_DGRAM:
		return "tipcgram", nil
	}
	return "", failed(syscall.EPROTONOSUPPORT, "%d is not a type of socket", typ)
}

// Parse reads the text of an address, as "18888:17". Errors: EINVAL.
func Parse(text string) (Addr, error) {
	a, err := stack.ParseAddr(text)
	if err != nil {
		return Addr{}, failed(syscall.EINVAL, "%v", err)
	}
	return AddrOf(a), nil
}

// Format is the text of an address. Errors: EINVAL, EFAULT.
func Format(a *Addr) (string, error) {
	addr, err := a.Address()
	if err != nil {
		return "", err
	}
	if addr == nil {
		return "", failed(syscall.EINVAL, "the address is none")
	}
	return fmt.Sprint(addr), nil
}
