// SPDX-License-Identifier: Apache-2.0

package tipcgrpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/resolver"

	"github.com/utipc/utipc/stack"
)

// Scheme is the scheme of the targets.
const Scheme = "tipc"

// firstWait is how long a call waits for the first server before gRPC learns that there is none.
const firstWait = time.Second

// DialOptions are the options with which grpc.NewClient connects by n to targets of the scheme
// tipc: the resolver, a dialer, and round_robin as the default policy. Options after these
// override them. Credentials are the caller's choice.
func DialOptions(n *stack.Node) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithResolvers(NewBuilder(n)),
		grpc.WithContextDialer(Dialer(n)),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}]}`),
	}
}

// Dialer returns a dialer for grpc.WithContextDialer. An address is the text of a
// stack.SocketAddr, as the resolver writes it, or of a stack.Service.
func Dialer(n *stack.Node) func(ctx context.Context, address string) (net.Conn, error) {
	return func(ctx context.Context, address string) (net.Conn, error) {
		return n.DialContext(ctx, "tipc", address)
	}
}

// NewBuilder returns a builder of resolvers that follow the name table of n.
func NewBuilder(n *stack.Node) resolver.Builder { return builder{n} }

type builder struct{ node *stack.Node }

// Scheme returns "tipc".
func (builder) Scheme() string { return Scheme }

// Build begins to follow the target's service or range. Errors: a target that is none, and those
// of stack.Node.Subscribe.
func (b builder) Build(target resolver.Target, cc resolver.ClientConn, _ resolver.BuildOptions) (resolver.Resolver, error) {
	r, err := parse(target.Endpoint())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	sub, err := b.node.Subscribe(ctx, r)
	if err != nil {
		cancel()
		return nil, err
	}
	f := &follower{node: b.node, names: r, cc: cc, bound: map[endpoint]int{}, cancel: cancel}
	f.done.Go(func() { f.run(ctx, sub) })
	return f, nil
}

// parse reads a target's endpoint.
func parse(endpoint string) (stack.Range, error) {
	a, err := stack.ParseAddr(endpoint)
	if err != nil {
		return stack.Range{}, fmt.Errorf("tipcgrpc: target %q: %w", endpoint, err)
	}
	switch a := a.(type) {
	case stack.Service:
		if a.Node == 0 {
			return a.Range(), nil
		}
	case stack.Range:
		return a, nil
	}
	return stack.Range{}, fmt.Errorf("tipcgrpc: target %q is not a service or a range (want tipc:///TYPE:INSTANCE, e.g. tipc:///18888:17)", endpoint)
}

// An endpoint is a socket, as text.
type endpoint string

// A follower is the resolver of one connection. Its goroutine has all of it but done and cancel.
type follower struct {
	node   *stack.Node
	names  stack.Range
	cc     resolver.ClientConn
	bound  map[endpoint]int // how many bindings each has in the range
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// ResolveNow does nothing: gRPC has every change as soon as the node knows it.
func (f *follower) ResolveNow(resolver.ResolveNowOptions) {}

// Close ends the subscription, and returns when the goroutine has ended.
func (f *follower) Close() {
	f.cancel()
	f.done.Wait()
}

// run hands changes to gRPC until ctx is done or the node is closed. What waits is taken
// together, so that a start with many servers is one update.
func (f *follower) run(ctx context.Context, sub *stack.Subscription) {
	defer func() { sub.Close() }()
	first, stop := context.WithTimeout(ctx, firstWait)
	ev, err := sub.Next(first)
	stop()
	if errors.Is(err, context.DeadlineExceeded) {
		f.report()
		ev, err = sub.Next(ctx)
	}
	for {
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, stack.ErrSlow): // events were lost: begin anew
			sub.Close()
			next, again := f.node.Subscribe(ctx, f.names)
			if again != nil {
				f.cc.ReportError(again)
				return
			}
			sub = next
			clear(f.bound)
		case err != nil: // of the node, for good
			f.cc.ReportError(err)
			return
		default:
			f.note(ev)
			for ev, err = sub.TryNext(); err == nil; ev, err = sub.TryNext() {
				f.note(ev)
			}
			f.report()
		}
		ev, err = sub.Next(ctx)
	}
}

// note counts a binding more or less.
func (f *follower) note(ev stack.Event) {
	socket := endpoint(ev.Socket.String())
	if !ev.Withdrawn {
		f.bound[socket]++
	} else if f.bound[socket]--; f.bound[socket] <= 0 {
		delete(f.bound, socket)
	}
}

// report hands gRPC the present sockets, or the reason why there are none.
func (f *follower) report() {
	state := resolver.State{Endpoints: make([]resolver.Endpoint, 0, len(f.bound))}
	for socket := range f.bound {
		state.Endpoints = append(state.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{{Addr: string(socket)}}})
	}
	slices.SortFunc(state.Endpoints, func(a, b resolver.Endpoint) int {
		if a.Addresses[0].Addr < b.Addresses[0].Addr {
			return -1
		}
		return 1
	})
	// The error says that there are no addresses, which makes calls fail or wait until there
	// are, and asks to resolve again, which happens by itself.
	_ = f.cc.UpdateState(state)
}
