// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/utipc/utipc/internal/tcpwire"
	"github.com/utipc/utipc/stack"
)

// Ports that sockets have which ask for none, as Linux has them without settings.
const (
	firstPort = 32768
	lastPort  = 60999
)

// A tcpNet has the ports of this node, and knows the nodes of the prefix.
type tcpNet struct {
	prefix netip.Prefix
	ip     uint32 // of this node
	bound  *stack.PacketConn
	sub    *stack.Subscription
	nodes  *tcpNodes
	limit  time.Duration // for which a connection is tried

	mu    sync.Mutex // guards the rest
	ports map[uint16][]*tcpSocket
	next  uint16 // port that is tried
	turn  int    // of listeners of one port
}

// newTCPNet binds the address of the node. Errors: of the node.
func newTCPNet(ctx context.Context, n *stack.Node, cfg TCP) (*tcpNet, error) {
	t := &tcpNet{
		prefix: cfg.Prefix.Masked(), ip: ipv4(cfg.Address), nodes: newTCPNodes(), limit: tcpwire.Timeout,
		ports: map[uint16][]*tcpSocket{}, next: firstPort,
	}
	var err error
	if t.bound, err = n.ListenPacket(ctx, "tipcrdm", stack.Service{Type: tcpwire.NodeType, Instance: t.ip}); err != nil {
		return nil, err
	}
	if t.sub, err = n.Subscribe(ctx, stack.Range{Type: tcpwire.NodeType, Upper: 1<<32 - 1}); err != nil {
		t.bound.Close()
		return nil, err
	}
	return t, nil
}

func (t *tcpNet) close() {
	t.sub.Close()
	t.bound.Close()
}

// claim gives a socket a port of this node, of address a's port or, if that is 0, one that nobody has. Errors:
// syscall.EADDRINUSE.
func (t *tcpNet) claim(x *tcpSocket, a tcpwire.Addr) (tcpwire.Addr, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a.Port != 0 {
		for _, o := range t.ports[a.Port] {
			if !x.shares(o) {
				return a, syscall.EADDRINUSE
			}
		}
		t.ports[a.Port] = append(t.ports[a.Port], x)
		return a, nil
	}
	for range lastPort - firstPort + 1 {
		a.Port = t.next
		if t.next++; t.next > lastPort {
			t.next = firstPort
		}
		if len(t.ports[a.Port]) == 0 {
			t.ports[a.Port] = []*tcpSocket{x}
			return a, nil
		}
	}
	return a, syscall.EADDRINUSE
}

// shares reports whether the socket may have the port of another.
func (x *tcpSocket) shares(o *tcpSocket) bool {
	both := x.reuse & o.reuse
	return both&tcpReusePort != 0 || both&tcpReuseAddr != 0 && !o.listens()
}

func (x *tcpSocket) listens() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state == stateListening
}

// release takes a socket's port back, if it has one.
func (t *tcpNet) release(x *tcpSocket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !x.claimed {
		return
	}
	x.claimed = false
	port := x.local.Port
	t.ports[port] = slices.DeleteFunc(t.ports[port], func(o *tcpSocket) bool { return o == x })
	if len(t.ports[port]) == 0 {
		delete(t.ports, port)
	}
}

// listener returns one of those of a port, in turn, or nil.
func (t *tcpNet) listener(port uint16) *tcpSocket {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn++
	all := t.ports[port]
	for i := range all {
		if x := all[(t.turn+i)%len(all)]; x.listens() {
			return x
		}
	}
	return nil
}
