// SPDX-License-Identifier: Apache-2.0

package hosting

import (
	"context"
	"sync"

	"github.com/utipc/utipc/stack/engine"
)

// An Account limits how many bytes sockets and subscriptions hold together: received and
// not read, written and not sent, and what their owner keeps beside them. Count
// says which account something counts in. An account may
// be within another; then the limits of both bind.
//
// Of what may be refused, datagrams, connection requests and events, an account takes
// three quarters of its limit; more is returned, asked again, or ends the subscription.
// The rest is for connections and groups, whose peers were promised room. As an account
// fills, connections are offered smaller windows, down to 65 KiB. When it is full all the
// same, the connection or group that holds most of it is ended: both ends of the connection
// read a reset with the code "overload", what waited to be read is dropped. So a
// connection that is read goes on, and a new one begins, whatever else is left unread.
//
// Its methods may be called by any number of goroutines, and on nil, which limits nothing.
type Account struct {
	mu sync.Locker // guards what is counted
	a  *engine.Account
}

// An AccountConfig describes an Account.
type AccountConfig struct {
	Limit int      // bytes
	Of    *Account // that it is within, or nil
	Full  error    // of Subscribe and Charge that it refuses, and of a Group that has ended
}

// OpenAccount makes an Account of sockets of the node that mu is the lock of.
func OpenAccount(mu sync.Locker, c AccountConfig) *Account {
	mu.Lock()
	defer mu.Unlock()
	return &Account{mu, engine.NewAccount(engine.AccountConfig{Limit: c.Limit, Of: c.Of.Engine(), Full: c.Full})}
}

type accountKey struct{}

// Count returns a context in which what is made counts in an account: a socket, beside its
// ReceiveLimit, and what a listener accepts; a member of a group; the events of a subscription
// that wait, 64 bytes each, of which one that has no room ends the subscription with ErrSlow.
func Count(ctx context.Context, a *Account) context.Context {
	return context.WithValue(ctx, accountKey{}, a)
}

// AccountOf returns the account of Count, or nil.
func AccountOf(ctx context.Context) *Account {
	a, _ := ctx.Value(accountKey{}).(*Account)
	return a
}

// Engine returns the engine's account.
func (a *Account) Engine() *engine.Account {
	if a == nil {
		return nil
	}
	return a.a
}

// Close says that nothing new will be charged to the account. What it holds counts until it
// is given back.
func (a *Account) Close() {
	if a != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.a.Close()
	}
}

// Charge counts k bytes that the owner keeps. Errors: the Full of the account that has no
// room, with nothing counted.
func (a *Account) Charge(k int) error {
	if a == nil || k == 0 {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.a.Charge(k)
}

// Release gives k bytes of Charge back.
func (a *Account) Release(k int) {
	if a != nil && k != 0 {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.a.Release(k)
	}
}

// Stats returns a snapshot.
func (a *Account) Stats() engine.AccountStats {
	if a == nil {
		return engine.AccountStats{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.a.Stats()
}
