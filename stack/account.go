// SPDX-License-Identifier: Apache-2.0

package stack

import "github.com/utipc/utipc/stack/engine"

// An Account limits how many bytes sockets and subscriptions hold together: received and
// not read, written and not sent, and what their owner keeps beside them. It is for
// programs that use a node on behalf of others, as package daemon does: SocketConfig,
// GroupConfig and SubscriptionConfig say which account something counts in. An account may
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
	n nodeLock
	a *engine.Account
}

// A nodeLock guards what is counted.
type nodeLock interface {
	lock()
	unlock()
}

// An AccountConfig describes an Account.
type AccountConfig struct {
	Limit int      // bytes
	Of    *Account // that it is within, or nil
	Full  error    // of Subscribe and Charge that it refuses, and of a Group that has ended
}

// AccountStats are how an Account stands: Held are the bytes, Refused the messages,
// requests and events that it had no room for, and Ended the connections and groups that
// held most when there was no room.
type AccountStats = engine.AccountStats

// NewAccount makes an Account of sockets of this node, which is not attached.
func (n *Node) NewAccount(c AccountConfig) *Account { return n.b.NewAccount(c) }

// account is the engine's.
func (a *Account) account() *engine.Account {
	if a == nil {
		return nil
	}
	return a.a
}

// Close says that nothing new will be charged to the account. What it holds counts until it
// is given back.
func (a *Account) Close() {
	if a != nil {
		a.n.lock()
		defer a.n.unlock()
		a.a.Close()
	}
}

// Charge counts k bytes that the owner keeps. Errors: the Full of the account that has no
// room, with nothing counted.
func (a *Account) Charge(k int) error {
	if a == nil || k == 0 {
		return nil
	}
	a.n.lock()
	defer a.n.unlock()
	return a.a.Charge(k)
}

// Release gives k bytes of Charge back.
func (a *Account) Release(k int) {
	if a != nil && k != 0 {
		a.n.lock()
		defer a.n.unlock()
		a.a.Release(k)
	}
}

// Stats returns a snapshot.
func (a *Account) Stats() AccountStats {
	if a == nil {
		return AccountStats{}
	}
	a.n.lock()
	defer a.n.unlock()
	return a.a.Stats()
}

// Hold counts k bytes more that its owner keeps for a socket beside it, in the account that
// the socket counts in, or -k fewer: a message that was read of it and is not passed on, or
// one that waits to be written. It is never refused; where there is no room for it a
// connection or group is ended, it may be this one.
func Hold(s Pollable, k int)     { s.hold(k) }
func (c *PacketConn) hold(k int) { c.b.hold(k) }
func (c *Conn) hold(k int)       { c.b.hold(k) }
func (g *Group) hold(k int)      { g.b.hold(k) }
func (l *Listener) hold(k int)   { l.b.hold(k) }
