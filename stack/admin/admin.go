// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"context"
	"net/netip"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

// What is known from other packages, under the names of package stack.
type (
	// A NodeAddr is a node's 32-bit address.
	NodeAddr = frame.NodeAddr
	// An Identity is a node's 128-bit identity.
	Identity = frame.Identity
	// A Binding is a range that a socket is bound to.
	Binding = naming.Binding
	// A LinkConfig is what the links on a bearer begin with; zero fields mean the node's values.
	LinkConfig = engine.LinkConfig
	// A Key is what a node seals or opens frames with; package stack makes one of a text.
	Key = engine.Key
)

// An Admin manages a node; stack.Node.Admin returns it. Its methods may be called by any
// number of goroutines.
type Admin struct{ b Backend }

// A Backend is what carries the calls out, and what cannot travel as JSON. Package stack has one
// for each kind of node.
type Backend interface {
	control.Backend
	Control(ctx context.Context, verb string, in, out any) error
	AddDevice(ctx context.Context, dev netdev.Device, c BearerConfig) error
	Capture(ctx context.Context, cfg CaptureConfig) (Capture, error)
	Watch(ctx context.Context) (Watch, error)
}

// A Node is the Backend that is the node: it carries out all calls of this package itself. Its errors are those of the
// method of Admin.
type Node interface {
	Backend
	show
	manage
	keys
}

// New returns the Admin of a node. Package stack calls it.
func New(b Backend) *Admin { return &Admin{b} }

// A show reports how a node stands.
type show interface {
	Names() []Binding
	Stats() Stats
	Bearers() []BearerStatus
	Links() []Link
	Peers() []Peer
	Sockets() []Socket
	ServiceStats() []ServiceStats
	Monitor() []Monitor
	MonitorThreshold() int
	BroadcastLink() BroadcastLink
	Receptions() []BroadcastReception
	BroadcastMethod() BroadcastMethod
	Media() []MediumConfig
	NetID() uint32
	Encryption() EncryptionStatus
	LinkProperty(link string, p control.Property) (int, error)
	BearerProperty(name string, p control.Property) (int, error)
	MediumProperty(name string, p control.Property) (int, error)
	Audit(ctx context.Context, c AuditConfig) (*AuditReport, error)
}

// A manage changes a node, its bearers and links.
type manage interface {
	EnableBearer(ctx context.Context, r BearerRequest) error
	DisableBearer(ctx context.Context, name string) error
	SetBearer(name string, c BearerConfig) error
	SetBearerProperty(name string, p control.Property, value int) error
	AddRemote(bearer string, remote netip.AddrPort) error
	RemoveRemote(bearer string, remote netip.AddrPort) error
	SetMedium(name string, c MediumConfig) error
	SetMediumProperty(name string, p control.Property, value int) error
	SetLink(peer NodeAddr, bearer string, c LinkConfig) error
	SetLinkProperty(link string, p control.Property, value int) error
	ResetStatistics(link string) error
	SetBroadcastMethod(m BroadcastMethod) error
	SetMonitorThreshold(nodes int) error
	SetAddress(a NodeAddr) error
	SetIdentity(id Identity) error
	SetNetID(id uint32) error
	RemovePeer(a NodeAddr) error
	RemovePeerIdentity(id Identity) error
}

// A keys changes what a node seals and opens frames with.
type keys interface {
	SetKey(k Key) error
	FlushKeys() error
	Rekey() error
	SetRekeying(interval time.Duration) error
	SetMigration(on bool) error
}

// Call makes a management call by its verb: in is its parameters, or nil, and out a pointer to
// its reply, or nil; both travel as JSON. It is for calls that have no method of their own, as
// "clients" and "daemon" of an attached node, which report the daemon's programs and the daemon
// itself; see docs/reference/attach.md. Errors: syscall.ENOSYS without such a verb; syscall.EPERM where
// the daemon does not allow it; those of the call.
func (a *Admin) Call(ctx context.Context, verb string, in, out any) error {
	return a.b.Control(ctx, verb, in, out)
}

// How a call of this package is declared, see package control.

func query[Out any](verb string, f func(Node) Out) *control.Call[Node, control.Nothing, Out] {
	return control.Query("Admin", verb, f)
}

func command[In any](verb string, r control.Right, f func(Node, In) error) *control.Call[Node, In, control.Nothing] {
	return control.Command("Admin", verb, r, f)
}

// get declares a call for one property, which has no method.
func get(verb string, f func(Node, string, control.Property) (int, error)) {
	control.New("", verb, control.Show, func(_ context.Context, n Node, in control.PropertyParams) (int, error) {
		return f(n, in.Name, in.Property)
	})
}

// set declares a call that changes one.
func set(verb string, f func(Node, string, control.Property, int) error) {
	control.Command("", verb, control.Manage, func(n Node, in control.PropertyParams) error {
		return f(n, in.Name, in.Property, in.Value)
	})
}

// What tipc(8) gets and sets: programs have it as fields of Links, Bearers and Media, and SetLink,
// SetBearer and SetMedium.
func init() {
	get("link-property", Node.LinkProperty)
	set("set-link-property", Node.SetLinkProperty)
	get("bearer-property", Node.BearerProperty)
	set("set-bearer-property", Node.SetBearerProperty)
	get("medium-property", Node.MediumProperty)
	set("set-medium-property", Node.SetMediumProperty)
}

// done is a call without a reply.
func done(_ control.Nothing, err error) error { return err }

var nothing control.Nothing
