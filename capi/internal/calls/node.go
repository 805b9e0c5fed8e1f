// SPDX-License-Identifier: Apache-2.0

//go:build linux

package calls

import (
	"cmp"
	"maps"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/utipc/utipc/stack"
)

// A Node is a node that a program has opened.
type Node struct {
	n      *stack.Node
	closed bool // guarded by handles
}

func (n *Node) of() *Node      { return n }
func (n *Node) String() string { return "a node" }

func (n *Node) close(timeout int) error {
	ctx, cancel := within(timeout)
	defer cancel()
	return n.n.Close(ctx)
}

// Open opens a node as stack.OpenString does. getenv is the program's environment: what the Go
// runtime has of it is from the time when the library was loaded.
func Open(text string, getenv func(string) string, timeout int) (int32, error) {
	text = cmp.Or(text, getenv("UTIPC_NODE"), "attach:")
	if rest, ok := strings.CutPrefix(text, "attach:"); ok && (rest == "" || rest[0] == '?') {
		text = "attach:" + cmp.Or(getenv("UTIPC_SOCKET"), stack.DefaultSocket) + rest
	}
	ctx, cancel := within(timeout)
	defer cancel()
	n, err := stack.OpenString(ctx, text)
	if err != nil {
		return 0, inTime(err, timeout)
	}
	return add(&Node{n: n})
}

// NodeAddress is a node's address.
func NodeAddress(h int32) (uint32, error) {
	n, err := find[*Node](h)
	if err != nil {
		return 0, err
	}
	return uint32(n.n.Addr()), nil
}

// WaitNodes waits until count nodes, this one among them, are in contact.
func WaitNodes(h int32, count, timeout int) error {
	all := AddrOf(stack.AllNodes)
	return WaitName(h, &all, count, timeout)
}

// WaitPublished waits until other nodes know the names of this one.
func WaitPublished(h int32, timeout int) error {
	n, err := find[*Node](h)
	if err != nil {
		return err
	}
	ctx, cancel := within(timeout)
	defer cancel()
	return inTime(n.n.WaitPublished(ctx), timeout)
}

// WaitName waits until count sockets have a name.
func WaitName(h int32, name *Addr, count, timeout int) error {
	if timeout == 0 {
		found, err := Resolve(h, name, nil, 0)
		if err == nil && found < count {
			err = syscall.EAGAIN
		}
		return err
	}
	n, err := find[*Node](h)
	if err != nil {
		return err
	}
	addr, _, _, err := lookup(name)
	if err != nil {
		return err
	}
	ctx, cancel := within(timeout)
	defer cancel()
	return n.n.WaitForN(ctx, addr, count)
}

// lookup is a name to look for: its range, and the node that it must be on, if not 0.
func lookup(name *Addr) (addr net.Addr, r stack.Range, on stack.NodeAddr, err error) {
	if addr, err = name.Address(); err != nil {
		return nil, r, 0, err
	}
	switch a := addr.(type) {
	case stack.Service:
		return addr, a.Range(), a.Node, nil
	case stack.Range:
		return addr, a, 0, nil
	}
	return nil, r, 0, failed(syscall.EINVAL, "%+v is not a service or a range", *name)
}

// Resolve returns how many sockets have a name now, and fills room with them, by address.
func Resolve(h int32, name *Addr, room []Addr, timeout int) (int, error) {
	n, err := find[*Node](h)
	if err != nil {
		return 0, err
	}
	_, r, on, err := lookup(name)
	if err != nil {
		return 0, err
	}
	until := deadline(timeout)
	ctx, cancel := within(cmp.Or(timeout, 1000)) // an attached node asks its daemon, also where it does not wait for one
	defer cancel()
	sub, err := stack.SubscriptionConfig{Complete: true}.Subscribe(ctx, n.n, r)
	if err != nil {
		return 0, inTime(err, timeout)
	}
	defer sub.Close()
	in := changes{Subscription: sub, until: until}
	bound := map[stack.SocketAddr]int{} // how many bindings each has
	for {
		it, err := in.receive(nil, timeout != 0)
		if err != nil {
			return 0, err
		}
		if it.event.Kind == complete {
			break
		}
		s := stack.SocketAddr{Port: it.event.Socket.Port, Node: stack.NodeAddr(it.event.Socket.Node)}
		if on != 0 && s.Node != on {
			continue
		}
		if bound[s]++; it.event.Kind == withdrawn {
			bound[s] -= 2
		}
	}
	maps.DeleteFunc(bound, func(_ stack.SocketAddr, k int) bool { return k <= 0 })
	found := slices.SortedFunc(maps.Keys(bound), func(a, b stack.SocketAddr) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Port, b.Port))
	})
	for i := range min(len(found), len(room)) {
		room[i] = AddrOf(found[i])
	}
	return len(found), nil
}

// Call sends a request and waits for its answer.
func Call(h int32, to *Addr, request, answer []byte, timeout int) (int, Addr, error) {
	n, err := find[*Node](h)
	if err != nil {
		return 0, Addr{}, err
	}
	addr, err := to.Address()
	if err != nil {
		return 0, Addr{}, err
	}
	ctx, cancel := within(timeout)
	defer cancel()
	k, from, err := n.n.Call(ctx, addr, request, answer)
	return k, AddrOf(from), inTime(err, timeout)
}
