// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"net"
	"time"
)

// What a program holds, a Node and its sockets, has a backend and knows nothing of it: the
// local one is the node in this process, the remote one a connection to the daemon. What is
// common to both, such as checks of arguments and what an error is wrapped in, is done before
// the backend is called. Its errors are those of the public method of the same name, unless
// it says otherwise.

// A socketBackend is what all sockets have.
type socketBackend interface {
	Network() string
	Addr() SocketAddr
	Stats() SocketStats
	Close() error
	SetDeadlines(read, write *time.Time) error // those that are not nil

	poll(p *Poller, owner any) *Polled // see Poller.Add
	hold(k int)                        // see Hold
}

// A listenerBackend is a Listener's.
type listenerBackend interface {
	socketBackend
	AcceptConn() (*Conn, error)
	TryAccept() (*Conn, error)
	Bind(addr net.Addr) error
	Unbind(addr net.Addr) error
	BindScope(addr net.Addr, scope Scope) error // the scope is one that can be
	UnbindScope(addr net.Addr, scope Scope) error
}
