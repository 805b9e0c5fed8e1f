// SPDX-License-Identifier: Apache-2.0

//go:build linux

package embedded

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/utipc/utipc/internal/macvlan"
	"github.com/utipc/utipc/stack"
)

// A Node is the node of this process, with its sockets.
type Node struct {
	n      *stack.Node
	p      *stack.Poller
	wakers wakers
	wg     sync.WaitGroup // of goroutines that send the rest of a connection

	connections, bytesIn, bytesOut atomic.Uint64

	mu       sync.Mutex // guards the rest
	of       map[int32]*Socket
	last     int32
	linger   time.Duration        // see lingerTime
	blocked  map[*Socket]struct{} // with something that waits for room
	watching bool                 // a goroutine looks for room for them
	ready    [64]*stack.Polled
	assembly [most + 1]byte // of a message that is sent
}

// scheme is what the text of such a node begins with.
const scheme = "embedded:"

// Open opens the node that a text says: "embedded:IFACE" is a station of its own on an interface, see package macvlan, and
// "embedded:udp:IP" or "embedded:eth:IFACE" a node as of stack.OpenString. Options follow behind a "?". Errors: those of
// macvlan.Do and stack.OpenString.
func Open(text string) (*Node, error) {
	rest, ok := strings.CutPrefix(text, scheme)
	if !ok || rest == "" {
		return nil, fmt.Errorf("%q is no node for TCP (want %sIFACE, e.g. %seth1)", text, scheme, scheme)
	}
	ctx, stop := context.WithTimeout(context.Background(), openLimit)
	defer stop()
	var n *stack.Node
	var err error
	if place, query, _ := strings.Cut(rest, "?"); strings.Contains(place, ":") {
		n, err = stack.OpenString(ctx, rest)
	} else {
		err = macvlan.Do(place, func() (err error) {
			n, err = stack.OpenString(ctx, "eth:"+macvlan.Name+"?"+query)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return New(n)
}

// openLimit is for how long a node may take to open.
const openLimit = 10 * time.Second

// New makes a Node of one that is open. Errors: net.ErrClosed.
func New(n *stack.Node) (*Node, error) {
	p, err := n.NewPoller()
	if err != nil {
		return nil, err
	}
	x := &Node{n: n, p: p, linger: lingerTime, of: map[int32]*Socket{}, blocked: map[*Socket]struct{}{}}
	p.Notify(x.wakers.wake)
	return x, nil
}

// Address is the node's address.
func (n *Node) Address() uint32 { return uint32(n.n.Addr()) }

// Counters are the connections that there were, and the bytes of programs that came and went by them.
func (n *Node) Counters() (connections, in, out uint64) {
	return n.connections.Load(), n.bytesIn.Load(), n.bytesOut.Load()
}

// Close closes the node. What connections that were closed have still to send, it sends for as long as ctx allows. Errors: as of
// stack.Node.Close.
func (n *Node) Close(ctx context.Context) error {
	sent := make(chan struct{})
	go func() {
		n.wg.Wait()
		close(sent)
	}()
	select {
	case <-sent:
	case <-ctx.Done():
	}
	return n.n.Close(ctx)
}

// add gives a socket a handle. The lock is held.
func (n *Node) add(s *Socket) int32 {
	for {
		if n.last++; n.last <= 0 {
			n.last = 1
		}
		if n.of[n.last] == nil {
			n.of[n.last] = s
			s.handle = n.last
			return n.last
		}
	}
}

// with calls f with the socket of a handle, and the lock. Errors: syscall.EBADF.
func (n *Node) with(h int32, f func(s *Socket) (int, error)) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.of[h]
	if s == nil {
		return 0, syscall.EBADF
	}
	return f(s)
}
