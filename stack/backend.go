// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
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

// A groupBackend is a Group's.
type groupBackend interface {
	socketBackend
	reportBackend
	Read(b []byte) (k int, m GroupMessage, err error) // errors are bare
	TryReadMsg(b []byte) (k int, m GroupMessage, err error)
	Write(ctx context.Context, b []byte, d dest, addr net.Addr) (int, error) // d is where addr is
	TryWrite(b []byte, d dest, addr net.Addr) (int, error)
	Members() []GroupMember
	WaitMembers(ctx context.Context, k int) error
	Counters() GroupCounters
}

// A reportBackend is what sockets have whose messages may fail after a write has taken them.
type reportBackend interface {
	NextReport(ctx context.Context) (SendReport, error)
	TryNextReport() (SendReport, error)
	sendError(addr net.Addr, err error) error // of a message to addr that cannot be sent
}

// A subscriptionBackend is a Subscription's. Its errors are bare.
type subscriptionBackend interface {
	Next(ctx context.Context) (Event, error)
	TryNext() (Event, error)
	Pending() int
	Close()
}
