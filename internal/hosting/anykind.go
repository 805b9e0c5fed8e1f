// SPDX-License-Identifier: Apache-2.0

package hosting

import "context"

type anyKindKey struct{}

// AnyKind returns a context in which Listen and Dial make sockets that do not say whether their
// connections are streams or messages, and take either, as those of a kernel do.
func AnyKind(ctx context.Context) context.Context {
	return context.WithValue(ctx, anyKindKey{}, true)
}

// IsAnyKind reports whether a context is one of AnyKind.
func IsAnyKind(ctx context.Context) bool { return ctx.Value(anyKindKey{}) != nil }
