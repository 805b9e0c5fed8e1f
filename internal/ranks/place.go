// SPDX-License-Identifier: Apache-2.0

package ranks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"time"

	"github.com/utipc/utipc/stack"
)

// What a rank listens for.
const (
	Meeting   = 0 // the connections of a Comm
	Requests  = 1 // requests of clients
	Directory = 2 // questions who has what
)

// serviceType is the type of Meeting's name, port its TCP port; those of other uses follow.
const (
	serviceType = 18900
	port        = 7100
)

// A Place is where a rank is.
type Place struct {
	Rank, Ranks int
	Node        *stack.Node    // its node; nil: over TCP
	Hosts       []string       // over TCP: the IPv4 addresses of all ranks
	Wait        stack.WaitMode // over TCP: how a read waits; a node has its own
}

// Over is what carries messages: "utipc" or "tcp".
func (p Place) Over() string {
	if p.Node != nil {
		return "utipc"
	}
	return "tcp"
}

// Name is what a rank is called over the stack.
func Name(use, rank int) stack.Service {
	return stack.Service{Type: uint32(serviceType + use), Instance: uint32(rank)}
}

func (p Place) address(use, rank int) string {
	return net.JoinHostPort(p.Hosts[rank], strconv.Itoa(port+use))
}

// Listen accepts what others Dial for this use.
func (p Place) Listen(ctx context.Context, use int) (net.Listener, error) {
	if p.Node != nil {
		return p.Node.Listen(ctx, "tipc", Name(use, p.Rank))
	}
	ln, err := (&net.ListenConfig{Control: control}).Listen(ctx, "tcp4", p.address(use, p.Rank))
	if err != nil {
		return nil, err
	}
	return waitListener{ln, p.Wait}, nil
}

// Dial connects with another rank, and waits until that listens. Errors: the context's, or
// the transport's.
func (p Place) Dial(ctx context.Context, use, rank int) (net.Conn, error) {
	if p.Node != nil {
		name := Name(use, rank)
		if err := p.Node.WaitFor(ctx, name); err != nil {
			return nil, err
		}
		return p.Node.Dial(ctx, "tipc", name)
	}
	d := net.Dialer{Control: control}
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for {
		c, err := d.DialContext(ctx, "tcp4", p.address(use, rank))
		if err == nil {
			return withWait(c, p.Wait)
		}
		if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, syscall.EHOSTUNREACH) {
			return nil, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("rank %d does not listen: %w", rank, context.Cause(ctx))
		}
	}
}
