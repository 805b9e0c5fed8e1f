// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"fmt"
	"syscall"

	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// socketPrefix is what the verbs of calls about a single socket begin with: they are made on
// the connection of the socket, and need no right beyond having it.
const socketPrefix = "socket."

// A socketVerb is a call about a socket.
type socketVerb func(ctx context.Context, socket any, in []byte) (reply any, err error)

var errNoSuchSocket = fmt.Errorf("%w: not of a socket of this kind", syscall.EOPNOTSUPP)

// What sockets of several kinds have.
type (
	counted interface {
		Stats(ctx context.Context) (stack.SocketStats, error)
	}
	named interface {
		Bindings(ctx context.Context) ([]stack.Binding, error)
	}
)

// socketVerbs are the calls about a socket that options do not make. Only
// "socket.wait-members" may wait.
var socketVerbs = map[string]socketVerb{
	"socket.stats":    ofSocket(func(ctx context.Context, s counted, _ control.Nothing) (any, error) { return s.Stats(ctx) }),
	"socket.bindings": ofSocket(func(ctx context.Context, s named, _ control.Nothing) (any, error) { return s.Bindings(ctx) }),
	"socket.members":  ofSocket(func(ctx context.Context, g *stack.Group, _ control.Nothing) (any, error) { return g.Members(ctx) }),
	"socket.counters": ofSocket(func(ctx context.Context, g *stack.Group, _ control.Nothing) (any, error) { return g.Counters(ctx) }),
	"socket.settle-names": ofSocket(func(_ context.Context, s stack.Pollable, _ control.Nothing) (any, error) {
		return control.Nothing{}, hosting.SettleNames(s)
	}),
	"socket.wait-members": ofSocket(func(ctx context.Context, g *stack.Group, in membersParams) (any, error) {
		return control.Nothing{}, g.WaitMembers(ctx, in.Members)
	}),
}

// membersParams are the parameters of "socket.wait-members".
type membersParams struct {
	Members int `json:"members"`
}

func ofSocket[S, In any](f func(context.Context, S, In) (any, error)) socketVerb {
	return func(ctx context.Context, socket any, b []byte) (any, error) {
		s, ok := socket.(S)
		if !ok {
			return nil, errNoSuchSocket
		}
		var in In
		if err := control.Params(b, &in); err != nil {
			return nil, err
		}
		return f(ctx, s, in)
	}
}

// serveSocketVerb makes a call about socket, a *PacketConn, *Conn, *Listener or *Group.
// Errors: syscall.ENOSYS without such a verb; syscall.EINVAL, with the reason, where in is not
// what it takes; syscall.EOPNOTSUPP where sockets of that kind have no such call; the call's.
func serveSocketVerb(ctx context.Context, socket any, verb string, in []byte) (reply []byte, err error) {
	c, ok := socketVerbs[verb]
	if !ok {
		return nil, fmt.Errorf("%w: no call %.32q", syscall.ENOSYS, verb)
	}
	return control.Answer(verb, in, func() (any, error) { return c(ctx, socket, in) })
}
