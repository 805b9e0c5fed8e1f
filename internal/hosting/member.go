// SPDX-License-Identifier: Apache-2.0

package hosting

import "context"

type memberKey struct{}

// JoinAs returns a context in which Join makes a member of a group that has the number of a
// *stack.PacketConn or an idle *stack.Listener, see Idle, until it is closed. What is sent to
// that socket meanwhile is dropped; its names stay. A *stack.Poller hands out such a
// group also when there may be room for a send that had none, and when there is another member.
func JoinAs(ctx context.Context, socket any) context.Context {
	return context.WithValue(ctx, memberKey{}, Backend(socket))
}

// MemberOf returns the backend's socket of JoinAs, or nil.
func MemberOf(ctx context.Context) any { return ctx.Value(memberKey{}) }

// Room reports whether a *stack.Group has another member, and no send that waits for room since it
// was handed out last.
func Room(group any) bool { return Backend(group).(interface{ Room() bool }).Room() }
