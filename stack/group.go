// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
)

// A SlowPolicy says what becomes of a member of a group that does not read what a socket
// sends to all, or to an instance: Strict, Lag, DropOldest.
type SlowPolicy = engine.SlowPolicy

// What becomes of a member that does not read.
const (
	// Strict has writes wait for the slowest member, as a kernel's do.
	Strict = engine.Strict
	// Lag has messages wait here for a member without room, while the others get theirs. A
	// member that is slow is evicted: for it this socket has left the group. It is slow when
	// it has given no room for a second, as it does for each 195 messages, or KiB, that it reads,
	// and more waits for it than it has ever let this socket send at once. Where 4096 messages, or 4 MiB, wait for one that reads, writes wait too.
	// With GroupConfig.Limit it is slow as soon as one more would wait, even of one burst.
	Lag = engine.Lag
	// DropOldest has messages wait likewise, and no write. For a member that is slow, or for
	// which as many wait as may, the oldest is dropped, for this member alone.
	DropOldest = engine.DropOldest
)

// A GroupConfig is the options of a socket in a group; its zero value means the defaults.
type GroupConfig struct {
	Importance   Importance // of what is sent; Low to Critical
	Scope        Scope      // NodeScope: a group of sockets of this node alone; zero: of the cluster
	Loopback     bool       // what it sends to all, or to its instance, it reads as well
	Events       bool       // members that join and leave are read, by ReadMsg
	Policy       SlowPolicy // for members that do not read
	Limit        int        // messages that may wait for such a one, at most 4096; 0: as SlowPolicy says
	SyncErrors   bool       // as of SocketConfig
	ReceiveLimit int        // bytes that may wait to be read, of which each member has 65 KiB in any case; 0: as kernels do, that 17 members, of large groups 65, have 780 KiB
}

// A Group is a socket in a communication group: all sockets that joined one service type,
// here and on other nodes, kernels' among them. What a member writes to all, to those
// with an instance, or to one, each of these reads once, and in the order in which it was
// written. Nothing is lost, but by choice of the writer (see SlowPolicy), as long as
// contact with the reader's node lasts: a member may write only so much ahead of each
// reader. It is safe for concurrent use.
//
//	g, err := node.Join(ctx, stack.Service{Type: 4242, Instance: 7})
//	g.Write(b)                                           // to all other members
//	g.WriteTo(b, stack.Range{Type: 4242, Lower: 3})      // to all with instance 3
//	g.WriteTo(b, stack.Service{Type: 4242, Instance: 3}) // to one of them, in turn
//	g.WriteTo(b, from)                                   // to that socket
//
// Nobody binds sockets that are not in a group to its type: members wait for those.
type Group struct {
	b       backend.Group
	service Service
}

var _ net.PacketConn = (*Group)(nil)

// Join makes a socket in the group svc.Type with the instance svc.Instance, which others
// may have too, and default options; see GroupConfig.Join.
func (n *Node) Join(ctx context.Context, svc Service) (*Group, error) {
	return GroupConfig{}.Join(ctx, n, svc)
}

// Join makes a socket in the group svc.Type with the instance svc.Instance. It does not
// wait for members, see Group.WaitMembers. Errors, inside *net.OpError: ErrReserved,
// ErrConfig, ErrTooManySockets, net.ErrClosed, the context's.
func (c GroupConfig) Join(ctx context.Context, n *Node, svc Service) (*Group, error) {
	g, err := c.join(ctx, n, svc)
	if err != nil {
		return nil, backend.OpError("join", backend.GroupNetwork, nil, svc, err)
	}
	return g, nil
}

func (c GroupConfig) join(ctx context.Context, n *Node, svc Service) (*Group, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := (SocketConfig{Importance: c.Importance, Scope: c.Scope, ReceiveLimit: c.ReceiveLimit}).check(); err != nil {
		return nil, err
	}
	if c.Limit < 0 || c.Limit > engine.MaxLag || c.Policy > DropOldest {
		return nil, fmt.Errorf("%w: policy %d, limit %d", ErrConfig, c.Policy, c.Limit)
	}
	if svc.Node != 0 {
		return nil, &net.AddrError{Err: "a group has no lookup node", Addr: svc.String()}
	}
	b, err := n.b.Join(ctx, backend.GroupOptions(c), svc)
	if err != nil {
		return nil, err
	}
	return &Group{b, svc}, nil
}

// LocalAddr is the socket's own address, a SocketAddr: by it others may write to it alone.
func (g *Group) LocalAddr() net.Addr { return g.b.Addr() }

// Service is the group's type, and the socket's instance.
func (g *Group) Service() Service { return g.service }

// A GroupMember is a member as this socket sees it: its address and instance, whether it
// has joined, and so is heard, or was evicted; how much it may be sent, and may send
// (blocks of 1 KiB); how many messages wait for it here, and how many were dropped.
type GroupMember = engine.GroupMember

// Members returns the members known, by address; the socket itself is one of them with
// Loopback. One that has bound the type and not joined is sent to, and waited for.
func (g *Group) Members(ctx context.Context) ([]GroupMember, error) { return g.b.Members(ctx) }

// WaitMembers waits until at least k members have joined. Errors, inside *net.OpError:
// *MembersError.
func (g *Group) WaitMembers(ctx context.Context, k int) error { return g.b.WaitMembers(ctx, k) }

// GroupCounters are what a socket in a group has done; go doc ./stack/engine GroupCounters
// has the fields.
type GroupCounters = engine.GroupCounters

// Counters returns what the socket has done so far.
func (g *Group) Counters(ctx context.Context) (GroupCounters, error) { return g.b.Counters(ctx) }

// Close leaves the group. What was written before arrives; what waits to be read is lost.
// Waiting calls end with net.ErrClosed, and so does a second Close.
func (g *Group) Close() error { return g.b.Close() }

// SetDeadline sets both deadlines; zero means none.
func (g *Group) SetDeadline(t time.Time) error {
	return g.b.SetDeadline(backend.Reads|backend.Writes, t)
}

// SetReadDeadline sets the time at which reads end with os.ErrDeadlineExceeded,
// waiting ones included; zero means never.
func (g *Group) SetReadDeadline(t time.Time) error { return g.b.SetDeadline(backend.Reads, t) }

// SetWriteDeadline sets the time at which blocked writes end with a *BlockedError,
// waiting ones included; zero means never.
func (g *Group) SetWriteDeadline(t time.Time) error { return g.b.SetDeadline(backend.Writes, t) }
