// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"syscall"
)

// SocketControlPrefix is what the verbs of calls about a single socket begin with: they
// are made on the connection of the socket, and need no right beyond having it.
const SocketControlPrefix = "socket."

// A socketControl is a call about a socket. Its error is errNoSuchSocket where it is about
// none of that kind.
type socketControl func(ctx context.Context, socket any, in []byte) (out any, err error)

var errNoSuchSocket = fmt.Errorf("%w: not of a socket of this kind", syscall.EOPNOTSUPP)

// socketControls are the calls about a socket that options do not say.
var socketControls = map[string]socketControl{
	"socket.stats": aboutSocket(func(_ context.Context, s interface{ Stats() SocketStats }, _ none) (SocketStats, error) {
		return s.Stats(), nil
	}),
	"socket.bindings": aboutSocket(func(_ context.Context, s interface{ Bindings() []Binding }, _ none) ([]Binding, error) {
		return s.Bindings(), nil
	}),
	"socket.members": aboutSocket(func(_ context.Context, g *Group, _ none) ([]GroupMember, error) {
		return g.Members(), nil
	}),
	"socket.counters": aboutSocket(func(_ context.Context, g *Group, _ none) (GroupCounters, error) {
		return g.Counters(), nil
	}),
	"socket.wait-members": aboutSocket(func(ctx context.Context, g *Group, in membersWords) (none, error) {
		return none{}, g.WaitMembers(ctx, in.Members)
	}),
}

// membersWords are what "socket.wait-members" takes.
type membersWords struct {
	Members int `json:"members"`
}

func aboutSocket[S, In, Out any](f func(context.Context, S, In) (Out, error)) socketControl {
	return func(ctx context.Context, socket any, b []byte) (any, error) {
		s, ok := socket.(S)
		if !ok {
			return nil, errNoSuchSocket
		}
		var in In
		if err := words(b, &in); err != nil {
			return nil, err
		}
		return f(ctx, s, in)
	}
}

// ServeSocketControl is ServeControl for a call about socket, a *PacketConn, *Conn,
// *Listener or *Group; the verb begins with SocketControlPrefix. Only
// "socket.wait-members" may wait. Errors as of ServeControl, and syscall.EOPNOTSUPP where
// sockets of that kind have no such call.
func ServeSocketControl(ctx context.Context, socket any, verb string, in []byte) (out []byte, err error) {
	c, ok := socketControls[verb]
	if !ok {
		return nil, fmt.Errorf("%w: no call %.32q", syscall.ENOSYS, verb)
	}
	return answer(verb, in, func() (any, error) { return c(ctx, socket, in) })
}
