// SPDX-License-Identifier: Apache-2.0

package hosting

import (
	"context"
	"errors"

	"github.com/utipc/utipc/stack/engine"
)

type unsettledKey struct{}

// Unsettled returns a context in which sockets that bind exclusively do not wait until other nodes
// know of that, and do not say that they have lost a name, until SettleNames: whoever asked for the
// socket waits in between, see stack.Node.WaitPublished. It counts for what they bind later too.
func Unsettled(ctx context.Context) context.Context {
	return context.WithValue(ctx, unsettledKey{}, true)
}

// IsUnsettled reports whether a context is one of Unsettled.
func IsUnsettled(ctx context.Context) bool { return ctx.Value(unsettledKey{}) != nil }

// SettleNames has a socket hold what it has bound exclusively. Errors: *stack.NameTakenError where it
// has lost one of the names already; errors.ErrUnsupported of a socket that cannot be bound so.
func SettleNames(socket any) error {
	s, ok := Backend(socket).(interface{ SettleNames() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return s.SettleNames()
}

// Lost is why a socket of a node in this process has lost an exclusive name, or nil.
func Lost(socket any) *engine.NameTakenError {
	s, ok := Backend(socket).(interface{ Lost() *engine.NameTakenError })
	if !ok {
		return nil
	}
	return s.Lost()
}

// Bound is how many names a socket of a node in this process is bound to.
func Bound(socket any) int {
	s, ok := Backend(socket).(interface{ Bound() int })
	if !ok {
		return 0
	}
	return s.Bound()
}
