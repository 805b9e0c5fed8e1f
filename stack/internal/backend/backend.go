// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"log/slog"
	"net"
	"syscall"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/socket"
)

// A Node is what is behind a stack.Node.
type Node interface {
	Sockets
	Informer
	Keeper
	control.Backend
	Done() <-chan struct{}
	Err() error
	Close(ctx context.Context) error
	NewAccount(c hosting.AccountConfig) *hosting.Account // hosting.NewAccount
	NewPoller() (Poller, error)
	Admin() *admin.Admin
}

// A Sockets makes sockets. What it is given has been looked at: options are such as can
// be, r is what addr is, and d where it is. Errors are bare.
type Sockets interface {
	Listen(ctx context.Context, c SocketOptions, network string, stream bool, addr net.Addr, r frame.Range) (Listener, error)
	ListenPacket(ctx context.Context, c SocketOptions, network string, addr net.Addr, r frame.Range) (Packet, error)
	Dial(ctx context.Context, c SocketOptions, network string, stream bool, addr net.Addr, d Dest, first []byte) (Conn, error)
	Join(ctx context.Context, c GroupOptions, svc frame.Service) (Group, error)
	Subscribe(ctx context.Context, c SubscriptionOptions, r frame.Range, f frame.Filter) (Subscription, error)
	Call(ctx context.Context, c CallOptions, d Dest, addr net.Addr, req, resp []byte) (int, frame.SocketAddr, error)
}

// An Informer reports what a program asks of the node; the rest is Admin's.
type Informer interface {
	Addr() frame.NodeAddr
	Identity() frame.Identity
	Probe(ctx context.Context, addr frame.SocketAddr) (alive bool, rtt time.Duration, err error)
	WaitPublished(ctx context.Context) error
}

// A Keeper is what the daemon does with a bearer that it keeps as it is wanted, see
// package hosting.
type Keeper interface {
	NoteBearer(name string, s admin.BearerState)
	ForgetBearer(name string)
	BearerNoted(name string) bool
	HoldBearer(name string, hold bool) error
}

// Calls are those of a socket that a deadline is for.
type Calls uint8

// Reads are those that wait for something to come, Accept included, Writes the others.
const (
	Reads Calls = 1 << iota
	Writes
)

// A Socket is what all sockets have.
type Socket interface {
	Network() string
	Addr() frame.SocketAddr
	Stats(ctx context.Context) (engine.PortStats, error)
	Close() error
	SetDeadline(of Calls, t time.Time) error
	SetWriteBuffer(bytes int) error        // errors are bare
	SyscallConn() (syscall.RawConn, error) // errors are bare

	Poll(p Poller, owner any) *socket.Polled // see Poller.Add
	Hold(k int)                              // see hosting.Hold
}

// A Listener is what is behind a stack.Listener.
type Listener interface {
	Socket
	AcceptConn(ctx context.Context) (Conn, error)
	TryAccept() (Conn, error)
	Bind(addr net.Addr) error
	Unbind(addr net.Addr) error
	BindScope(addr net.Addr, scope frame.Scope) error // the scope is one that can be
	UnbindScope(addr net.Addr, scope frame.Scope) error
}

// A Conn is what is behind a stack.Conn.
type Conn interface {
	Socket
	RemoteAddr() frame.SocketAddr
	Service() (a frame.Service, ok bool)
	Importance() frame.Importance
	SetNoDelay(on bool) error
	SetReceiveLimit(bytes int) error
	Read(ctx context.Context, b []byte) (k, size int, err error) // errors are bare
	TryReadMsg(b []byte) (k, size int, err error)
	ReadBuffer(b *Buffer) error                      // errors are bare
	ReadNext(b []byte, m *Buffer) (k int, err error) // Read, or ReadBuffer into m where that saves a copy
	Write(b []byte) (int, error)
	WriteBuffers(v [][]byte) (int64, error)
	TryWrite(b []byte) (int, error)
	NewBuffer(b *Buffer, size int) error // b is empty, and given back on an error
	WriteBuffer(b *Buffer) error
	CloseWrite() error
	CloseWait(ctx context.Context) error
	Abort() error
}

// A Group is what is behind a stack.Group.
type Group interface {
	Socket
	Reporter
	Read(b []byte) (k int, m GroupEnvelope, err error) // errors are bare
	TryReadMsg(b []byte) (k int, m GroupEnvelope, err error)
	Write(ctx context.Context, b []byte, d Dest, addr net.Addr) (int, error) // d is where addr is
	TryWrite(b []byte, d Dest, addr net.Addr) (int, error)
	Members(ctx context.Context) ([]engine.GroupMember, error)
	WaitMembers(ctx context.Context, k int) error
	Counters(ctx context.Context) (engine.GroupCounters, error)
}

// A Reporter is what sockets have whose messages may fail after a write has taken them.
type Reporter interface {
	NextReport(ctx context.Context) (socket.SendReport, error)
	TryNextReport() (socket.SendReport, error)
	SendError(addr net.Addr, err error) error // of a message to addr that cannot be sent
}

// A Subscription is what is behind a stack.Subscription. Its errors are bare.
type Subscription interface {
	Next(ctx context.Context) (socket.Event, error)
	TryNext() (socket.Event, error)
	Pending() int
	Close()
}

// A Packet is what is behind a stack.PacketConn.
type Packet interface {
	Socket
	Reporter
	Connected()                                                                // the socket has a default destination
	Serve(ctx context.Context, a *ActivePort, r frame.Range, bound bool) error // the socket becomes a's, and is bound to r

	Read(b []byte) (k int, m Envelope, err error) // errors are bare
	TryReadMsg(b []byte) (k int, m Envelope, err error)
	ReadBatch(ms []socket.Message, wait bool) (int, error) // there is room for one
	ReadBuffer(b *Buffer) (Envelope, error)                // errors are bare
	Ack(receipt uint64) error
	ReturnMsg(b []byte, why frame.ErrorCode) error
	LastMsg() engine.Received // that TryReadMsg has returned, for the goroutine that called it
	ReturnUnread(r engine.Received, b []byte) error

	Write(d Dest, b []byte, addr net.Addr) (int, error) // d is where addr is
	TryWrite(d Dest, b []byte, addr net.Addr) (int, error)
	WriteAny(d Dest, b []byte, wait bool) (frame.SocketAddr, error)
	WriteBatch(ms []socket.Message, wait bool, to *DefaultDest) (int, error) // there is one, and all have addresses
	NewBuffer(b *Buffer, size int) error                                     // errors are bare
	WriteBuffer(d Dest, b *Buffer, addr net.Addr) error

	Bind(addr net.Addr) error
	Unbind(addr net.Addr) error
	BindScope(addr net.Addr, scope frame.Scope) error // the scope is one that can be
	UnbindScope(addr net.Addr, scope frame.Scope) error
	Bindings(ctx context.Context) ([]naming.Binding, error)
	SetImportance(i frame.Importance) error
	SetReturnable(returnable bool) error
	SetSrcDroppable(droppable bool) error
	SetReceiveLimit(bytes int) error
	SetMulticast(m engine.Method) error
}

// A Poller is what is behind a stack.Poller. It keeps nothing of ready.
type Poller interface {
	Wait(ready []*socket.Polled) (int, error)
	Take(ready []*socket.Polled) int
	PollOnce(ready []*socket.Polled) int
	Rest()
	Notify(f func())
	Enter() // see hosting.Enter
	Leave()
	Close() error
}

// OtherNode is what adding a socket to the Poller of another node panics with.
const OtherNode = "stack: a socket of another node"

// A PortSocket is the socket of an ActivePort.
type PortSocket interface {
	Addr() frame.SocketAddr
	Bind(addr net.Addr) error
	Unbind(addr net.Addr) error
	Close() error
	Lock() // of what the port knows
	Unlock()
	IsClosed() bool                                           // the lock is held
	Pending() int                                             // messages that wait for the handler; the lock is held
	OwnHandler() bool                                         // the caller is the handler, and the lock is held therefore
	CloseLater()                                              // of a call by the handler
	Reply(to frame.SocketAddr, b []byte) error                // errors as of Reply.Send
	Log(level slog.Level, message string, attrs ...slog.Attr) // with the port's name
}
