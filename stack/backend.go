// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack/admin"
)

// What a program holds, a Node and its sockets, has a backend and knows nothing of it: the
// local one is the node in this process, the remote one a connection to the daemon. What is
// common to both, such as checks of arguments and what an error is wrapped in, is done before
// the backend is called. Its errors are those of the public method of the same name, unless
// it says otherwise.

// A nodeBackend is a Node's.
type nodeBackend interface {
	socketsBackend
	showBackend
	keeperBackend
	control.Backend
	life() *ending
	Close(ctx context.Context) error
	NewAccount(c hosting.AccountConfig) *hosting.Account // hosting.NewAccount
	NewPoller() (*Poller, error)
	Admin() *admin.Admin
}

// A socketsBackend makes sockets. What it is given has been looked at: options are such as can
// be, r is what addr is, and d where it is. Errors are bare.
type socketsBackend interface {
	Listen(ctx context.Context, c SocketConfig, network string, stream bool, addr net.Addr, r Range) (listenerBackend, error)
	ListenPacket(ctx context.Context, c SocketConfig, network string, addr net.Addr, r Range) (packetBackend, error)
	Dial(ctx context.Context, c SocketConfig, network string, stream bool, addr net.Addr, d dest, first []byte) (connBackend, error)
	Join(ctx context.Context, c GroupConfig, svc Service) (groupBackend, error)
	Subscribe(ctx context.Context, c SubscriptionConfig, r Range, f frame.Filter) (subscriptionBackend, error)
	Call(ctx context.Context, d dest, addr net.Addr, req, resp []byte) (int, SocketAddr, error)
}

// A showBackend reports what a program asks of the node; the rest is Admin's.
type showBackend interface {
	Addr() NodeAddr
	Identity() Identity
	Probe(ctx context.Context, addr SocketAddr) (alive bool, rtt time.Duration, err error)
}

// A keeperBackend is what the daemon does with a bearer that it keeps as it is wanted, see
// package hosting.
type keeperBackend interface {
	NoteBearer(name string, s admin.BearerState)
	ForgetBearer(name string)
	BearerNoted(name string) bool
	HoldBearer(name string, hold bool) error
}

// A socketBackend is what all sockets have.
type socketBackend interface {
	Network() string
	Addr() SocketAddr
	Stats(ctx context.Context) (SocketStats, error)
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

// A connBackend is a Conn's.
type connBackend interface {
	socketBackend
	RemoteAddr() SocketAddr
	Service() (a Service, ok bool)
	Importance() Importance
	SetNoDelay(on bool) error
	Read(b []byte) (k, size int, err error) // errors are bare
	TryReadMsg(b []byte) (k, size int, err error)
	ReadBuffer() (*Buffer, error) // errors are bare
	Write(b []byte) (int, error)
	TryWrite(b []byte) (int, error)
	NewBuffer(size int) (*Buffer, error)
	WriteBuffer(b *Buffer) error
	CloseWait(ctx context.Context) error
	Abort() error
}

// A groupBackend is a Group's.
type groupBackend interface {
	socketBackend
	reportBackend
	Read(b []byte) (k int, m groupEnvelope, err error) // errors are bare
	TryReadMsg(b []byte) (k int, m groupEnvelope, err error)
	Write(ctx context.Context, b []byte, d dest, addr net.Addr) (int, error) // d is where addr is
	TryWrite(b []byte, d dest, addr net.Addr) (int, error)
	Members(ctx context.Context) ([]GroupMember, error)
	WaitMembers(ctx context.Context, k int) error
	Counters(ctx context.Context) (GroupCounters, error)
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

// A packetBackend is a PacketConn's.
type packetBackend interface {
	socketBackend
	reportBackend
	connected()                                     // the socket has a default destination
	serve(a *ActivePort, r Range, bound bool) error // the socket becomes a's, and is bound to r

	Read(b []byte) (k int, m envelope, err error) // errors are bare
	TryReadMsg(b []byte) (k int, m envelope, err error)
	ReadBatch(ms []Message, wait bool) (int, error) // there is room for one
	ReadBuffer() (*Buffer, envelope, error)         // errors are bare
	ReturnMsg(b []byte, why ErrorCode) error

	Write(d dest, b []byte, addr net.Addr) (int, error) // d is where addr is
	TryWrite(d dest, b []byte, addr net.Addr) (int, error)
	WriteBatch(ms []Message, wait bool, to *defaultDest) (int, error) // there is one, and all have addresses
	NewBuffer(size int) (*Buffer, error)                              // errors are bare
	WriteBuffer(d dest, b *Buffer, addr net.Addr) error

	Bind(addr net.Addr) error
	Unbind(addr net.Addr) error
	BindScope(addr net.Addr, scope Scope) error // the scope is one that can be
	UnbindScope(addr net.Addr, scope Scope) error
	Bindings(ctx context.Context) ([]Binding, error)
	SetImportance(i Importance) error
	SetReturnable(returnable bool) error
	SetSrcDroppable(droppable bool) error
	SetReceiveLimit(bytes int) error
	SetMulticast(m Method) error
}

// A portBackend is the socket of an ActivePort.
type portBackend interface {
	Addr() SocketAddr
	Bind(addr net.Addr) error
	Unbind(addr net.Addr) error
	Close() error
	lock() // of what the port knows
	unlock()
	isClosed() bool   // the lock is held
	pending() int     // messages that wait for the handler; the lock is held
	ownHandler() bool // the caller is the handler, and the lock is held therefore
	closeLater()      // of a call by the handler
	reply(to SocketAddr, b []byte) error
	log(level slog.Level, message string, attrs ...slog.Attr) // with the port's name
}
