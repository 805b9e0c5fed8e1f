// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
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
	manageBackend
	keysBackend
	life() *ending
	Close(ctx context.Context) error
	NewAccount(c AccountConfig) *Account
	NewPoller() (*Poller, error)
	Control(ctx context.Context, verb string, in, out any) error
	Capture(ctx context.Context, cfg CaptureConfig) (*Capture, error)
	Watch() (*Watch, error)
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

// A showBackend tells how the node stands.
type showBackend interface {
	Addr() NodeAddr
	Identity() Identity
	NetID() uint32
	Names() []Binding
	Stats() Stats
	Bearers() []BearerStatus
	Links() []Link
	Peers() []Peer
	Sockets() []Socket
	ServiceStats() []ServiceStats
	Waits() []Wait
	Monitor() []Monitor
	MonitorThreshold() int
	BroadcastLink() BroadcastLink
	BroadcastReceptions() []BroadcastReception
	BroadcastMethod() BroadcastMethod
	Media() []MediumConfig
	LinkProperty(link string, p Property) (int, error)
	BearerProperty(name string, p Property) (int, error)
	MediumProperty(name string, p Property) (int, error)
	Probe(ctx context.Context, addr SocketAddr) (alive bool, rtt time.Duration, err error)
	Audit(ctx context.Context, c AuditConfig) (*AuditReport, error)
}

// A manageBackend changes the node, its bearers and links.
type manageBackend interface {
	EnableBearer(ctx context.Context, dev netdev.Device, c BearerConfig) error
	RequestBearer(ctx context.Context, r BearerRequest) error
	DisableBearer(ctx context.Context, name string) error
	SetBearer(name string, c BearerConfig) error
	SetBearerProperty(name string, p Property, value int) error
	AddRemote(bearer string, remote netip.AddrPort) error
	NoteBearer(name string, s BearerState)
	ForgetBearer(name string)
	BearerNoted(name string) bool
	HoldBearer(name string, hold bool) error
	RemoveRemote(bearer string, remote netip.AddrPort) error
	SetMediumProperty(name string, p Property, value int) error
	SetLink(peer NodeAddr, bearer string, c LinkConfig) error
	SetLinkProperty(link string, p Property, value int) error
	ResetStatistics(peer NodeAddr, bearer string) error
	ResetLinkStatistics(link string) error
	SetBroadcastMethod(m BroadcastMethod) error
	SetMonitorThreshold(nodes int) error
	SetAddress(a NodeAddr) error
	SetIdentity(id Identity) error
	SetNetID(id uint32) error
	RemovePeer(a NodeAddr) error
	RemovePeerIdentity(id Identity) error
}

// A keysBackend changes what the node seals and opens frames with.
type keysBackend interface {
	SetKey(k Key) error
	FlushKeys() error
	Rekey() error
	SetRekeying(interval time.Duration) error
	SetMigration(on bool) error
	Encryption() EncryptionStatus
}

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

// A packetBackend is a PacketConn's.
type packetBackend interface {
	socketBackend
	reportBackend
	connected()                                     // the socket has a default destination
	serve(a *ActivePort, r Range, bound bool) error // the socket becomes a's, and is bound to r

	Read(b []byte) (k int, m Message, err error) // errors are bare
	TryReadMsg(b []byte) (k int, m Message, err error)
	ReadBatch(ms []MessageBuffer, flags int) (int, error) // there is room for one
	ReadBuffer() (*Buffer, Message, error)                // errors are bare
	ReturnMsg(b []byte, why ErrorCode) error

	Write(d dest, b []byte, addr net.Addr) (int, error) // d is where addr is
	TryWrite(d dest, b []byte, addr net.Addr) (int, error)
	WriteBatch(ms []MessageBuffer, flags int, to *defaultDest) (int, error) // there is one, and all have addresses
	NewBuffer(size int) (*Buffer, error)                                    // errors are bare
	WriteBuffer(d dest, b *Buffer, addr net.Addr) error

	Bind(addr net.Addr) error
	Unbind(addr net.Addr) error
	BindScope(addr net.Addr, scope Scope) error // the scope is one that can be
	UnbindScope(addr net.Addr, scope Scope) error
	Bindings() []Binding
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
