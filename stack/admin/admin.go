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
type Admin struct{ b backend }

// A backend is what carries the calls out, and what cannot travel as JSON.
type backend interface {
	control.Backend
	Control(ctx context.Context, verb string, in, out any) error
	AddDevice(ctx context.Context, dev netdev.Device, c BearerConfig) error
	Capture(ctx context.Context, cfg CaptureConfig) (Capture, error)
	Watch(ctx context.Context) (Watch, error)
}

// A localNode carries out all calls of this package itself. Its errors are those of the
// method of Admin.
type localNode interface {
	backend
	show
	manage
	keys
}

// Local returns the Admin of a node in this process. Package stack calls it.
func Local(n localNode) *Admin { return &Admin{n} }

// Remote returns the Admin of the daemon's node. Package stack calls it.
func Remote(n backend) *Admin { return &Admin{n} }

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
	LinkProperty(link string, p Property) (int, error)
	BearerProperty(name string, p Property) (int, error)
	MediumProperty(name string, p Property) (int, error)
	Audit(ctx context.Context, c AuditConfig) (*AuditReport, error)
}

// A manage changes a node, its bearers and links.
type manage interface {
	EnableBearer(ctx context.Context, r BearerRequest) error
	DisableBearer(ctx context.Context, name string) error
	SetBearer(name string, c BearerConfig) error
	SetBearerProperty(name string, p Property, value int) error
	AddRemote(bearer string, remote netip.AddrPort) error
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
// itself; see docs/attach.md. Errors: syscall.ENOSYS without such a verb; syscall.EPERM where
// the daemon does not allow it; those of the call.
func (a *Admin) Call(ctx context.Context, verb string, in, out any) error {
	return a.b.Control(ctx, verb, in, out)
}

// How a call of this package is declared, see package control.

func query[Out any](verb string, f func(localNode) Out) *control.Call[localNode, control.Nothing, Out] {
	return control.Query("Admin", verb, f)
}

func command[In any](verb string, r control.Right, f func(localNode, In) error) *control.Call[localNode, In, control.Nothing] {
	return control.Command("Admin", verb, r, f)
}

// get is a call for one property.
func get(verb string, f func(localNode, string, Property) (int, error)) *control.Call[localNode, propertyParams, int] {
	return control.New("Admin", verb, control.Show, func(_ context.Context, n localNode, in propertyParams) (int, error) {
		return f(n, in.Name, in.Property)
	})
}

// set is a call that changes one.
func set(verb string, f func(localNode, string, Property, int) error) *control.Call[localNode, propertyParams, control.Nothing] {
	return command(verb, control.Manage, func(n localNode, in propertyParams) error { return f(n, in.Name, in.Property, in.Value) })
}

// propertyParams are the parameters of both.
type propertyParams struct {
	Name     string // of a link, bearer or medium
	Property Property
	Value    int // when it is set
}

// done is a call without a reply.
func done(_ control.Nothing, err error) error { return err }

var nothing control.Nothing
