// SPDX-License-Identifier: Apache-2.0

package hosting

import "context"

type (
	idleKey struct{}
	fromKey struct{}
)

// Idle returns a context in which Listen makes sockets that refuse all requests, as one of a
// kernel does that is bound and does not listen yet, until Start.
func Idle(ctx context.Context) context.Context { return context.WithValue(ctx, idleKey{}, true) }

// IsIdle reports whether a context is one of Idle.
func IsIdle(ctx context.Context) bool { return ctx.Value(idleKey{}) != nil }

// An Origin is an idle socket that becomes a connection, see DialFrom.
type Origin struct {
	Listener any // the backend's
	Begun    func()
}

// DialFrom returns a context in which Dial takes the number of an idle *stack.Listener without
// names, and closes it, once the request is sent; begun is called then. A Dial that fails
// before, as nobody has bound the name, leaves it as it was.
func DialFrom(ctx context.Context, listener any, begun func()) context.Context {
	return context.WithValue(ctx, fromKey{}, &Origin{Backend(listener), begun})
}

// OriginOf returns what DialFrom has put into a context, or nil.
func OriginOf(ctx context.Context) *Origin {
	o, _ := ctx.Value(fromKey{}).(*Origin)
	return o
}
