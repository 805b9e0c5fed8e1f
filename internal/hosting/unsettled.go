// SPDX-License-Identifier: Apache-2.0

package hosting

import "context"

type unsettledKey struct{}

// Unsettled returns a context in which sockets that bind exclusively do not wait until other nodes
// know of that: whoever asked for the socket waits, see stack.Node.WaitPublished. It counts for what
// the sockets bind later too.
func Unsettled(ctx context.Context) context.Context {
	return context.WithValue(ctx, unsettledKey{}, true)
}

// IsUnsettled reports whether a context is one of Unsettled.
func IsUnsettled(ctx context.Context) bool { return ctx.Value(unsettledKey{}) != nil }
