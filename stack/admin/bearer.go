// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"context"
	"net/netip"
	"time"

	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/netdev"
)

var (
	bearersCall       = query("bearers", Node.Bearers)
	enableBearerCall  = control.New("Admin", "enable-bearer", control.Manage, withContext(Node.EnableBearer))
	disableBearerCall = control.New("Admin", "disable-bearer", control.Manage, withContext(Node.DisableBearer))
	setBearerCall     = command("set-bearer", control.Manage, func(n Node, in bearerParams) error { return n.SetBearer(in.Name, in.BearerConfig) })
	addRemoteCall     = command("add-remote", control.Manage, func(n Node, in remoteParams) error { return n.AddRemote(in.Bearer, in.Remote) })
	removeRemoteCall  = command("remove-remote", control.Manage, func(n Node, in remoteParams) error { return n.RemoveRemote(in.Bearer, in.Remote) })
)

type (
	bearerParams struct {
		Name string
		BearerConfig
	}
	remoteParams struct {
		Bearer string
		Remote netip.AddrPort
	}
)

// withContext is what carries out a call that may take long and has no reply.
func withContext[In any](f func(Node, context.Context, In) error) func(context.Context, Node, In) (control.Nothing, error) {
	return func(ctx context.Context, n Node, in In) (control.Nothing, error) { return nothing, f(n, ctx, in) }
}

// Carried is what went over a bearer since the node was opened, in frames. A bearer
// that drops is short of room: its interface, or this node, is too slow. One that
// does not, and a link over it that loses (Link.Retransmits, Link.Deferred) or ends by
// silence (Link.Ended): then it is the network, or the peer.
type Carried struct {
	FramesIn, FramesOut uint64
	DropsIn, DropsOut   uint64 // frames the device lost, on their way in and out
}

// A BearerState is how a bearer stands that is kept as it is wanted, as the daemon does (see
// package daemon/bearers). Of any other the state is "up" or "down".
type BearerState struct {
	State   string    // "waiting", "opening", "up", "down", "damped", "closing"
	Reason  string    // why; empty when up
	Remedy  string    // what an operator can do about it; empty where the bearer needs nobody
	Above   string    // VLANs and macvlans on the interface, whose frames the bearer does not hear: "eth0.184, mac0"
	Since   time.Time // zero: not known
	Changes int       // states that the bearer has had
}

// A BearerStatus is how a bearer stands.
type BearerStatus struct {
	Name   string
	Medium string // "eth" or "udp"
	MTU    int    // bytes of a message; 0: the interface is down
	Unsent int    // frames the device has not taken
	Spare  int    // nodes that are heard here without a link, as they have the two that a node can have over other bearers
	BearerState
	Carried
	Driver        string         // how frames come and go, as "af_packet"; empty: the device does not tell
	DriverReason  string         // why that way
	Links         LinkConfig     // what new links begin with
	Local, Remote netip.AddrPort // over UDP: the own address, and the group or first host that broadcasts go to
}

// Waiting reports whether the bearer is wanted and has no device, as its interface is not
// there or cannot be used.
func (b *BearerStatus) Waiting() bool { return b.Links.Priority == 0 }

// A BearerConfig is what a bearer that is enabled on a running node begins with, or
// what of it is to change. Zero fields mean the medium's values, or no change.
type BearerConfig struct {
	LinkConfig
	MTU    int      // of a bearer over UDP, bytes of a message, at most the device's; 0: the device's
	Domain NodeAddr // discovery answers nodes of it only: 0 all, Z.0.0 a zone's, Z.C.0 a cluster's, else one node
}

// A BearerRequest asks for a bearer in the words of tipc(8) "bearer enable". The node's
// stack.Config.OpenBearer makes a device of it; so a program attached to a daemon can ask for
// one as well.
type BearerRequest struct {
	Medium string `json:"medium"`           // "eth" or "udp"
	Device string `json:"device"`           // eth: the interface; udp: the interface whose address is the local one, unless LocalIP is given
	Name   string `json:"name,omitempty"`   // udp: the bearer's name, at most 15 characters
	Driver string `json:"driver,omitempty"` // eth: "auto", "af_xdp" or "af_packet"; empty: auto

	Domain    NodeAddr      `json:"domain,omitempty"`    // as of BearerConfig
	Priority  uint8         `json:"priority,omitempty"`  // 1 to 31; 0: the medium's
	Tolerance time.Duration `json:"tolerance,omitempty"` // nanoseconds; 0: the medium's
	Window    int           `json:"window,omitempty"`    // packets at most, 1 to 8191; 0: the medium's
	MTU       int           `json:"mtu,omitempty"`       // udp: bytes of a message; 0: the medium's

	LocalIP    netip.Addr   `json:"localip,omitzero"`     // udp
	LocalPort  uint16       `json:"localport,omitempty"`  // udp; 0: 6118
	RemoteIP   netip.Addr   `json:"remoteip,omitzero"`    // udp: one host or a multicast group; none: the standard group
	RemotePort uint16       `json:"remoteport,omitempty"` // udp; 0: 6118
	Remotes    []netip.Addr `json:"remotes,omitempty"`    // udp: more hosts, beside RemoteIP, if that is no group
}

// A BearerOpener makes the device of a request. The caller enables it, and closes it
// when that fails.
type BearerOpener func(ctx context.Context, r BearerRequest) (netdev.Device, error)

// Bearers returns the node's bearers, in the order in which they were enabled, and after
// them those that are wanted and wait for their interface.
func (a *Admin) Bearers(ctx context.Context) ([]BearerStatus, error) {
	return bearersCall.Do(ctx, a.b, nothing)
}

// AddDevice makes dev one more bearer of the running node, at most three; the node
// owns it from now on, and closes it if this fails. The device's names must differ.
// Other nodes are looked for there at once. When the node has no address yet
// (stack.Config.NoBearers) AddDevice waits until it is settled, for a second of trial.
// The third bearer of one priority has the next lower one, as a kernel's.
//
// Errors: a *Refusal with EINVAL, "Already enabled." for a second device of a name,
// stack.ErrConfig where the settings cannot be, or the node's memory was made for shorter
// frames (stack.Config.MTU); net.ErrClosed; the context's; the device's own;
// errors.ErrUnsupported of an attached node, which has EnableBearer.
func (a *Admin) AddDevice(ctx context.Context, dev netdev.Device, c BearerConfig) error {
	return a.b.AddDevice(ctx, dev, c)
}

// EnableBearer enables the bearer that r describes; see AddDevice, whose errors it has too.
// Errors, beside those: a *Refusal with EOPNOTSUPP when the node has no
// stack.Config.OpenBearer, with EINVAL for an unknown medium or a bearer there is already, or
// with ENODEV, "Failed to enable media.", for an interface that is not there.
func (a *Admin) EnableBearer(ctx context.Context, r BearerRequest) error {
	return done(enableBearerCall.Do(ctx, a.b, r))
}

// DisableBearer takes the bearer of that name, "eth0" or "eth:eth0", out of use and
// closes its device. What its links still had goes over other bearers, nothing of it is
// lost; nodes that no other bearer leads to are told, and contact with them ends.
// One that waits for its interface is no longer waited for. A device that is full is given a
// second for the last frames, or until ctx is done. Errors: a *Refusal with EINVAL, "Bearer
// not found."; net.ErrClosed; the device's own.
func (a *Admin) DisableBearer(ctx context.Context, name string) error {
	return done(disableBearerCall.Do(ctx, a.b, name))
}

// SetBearer changes the bearer of that name, "eth0" or "eth:eth0": all its links, at
// once, and those to come. The MTU, of bearers over UDP only, resets the links; Domain
// does not change. Errors: a *Refusal with EINVAL, "Bearer not found." or stack.ErrConfig;
// with EOPNOTSUPP for the MTU of an Ethernet.
func (a *Admin) SetBearer(ctx context.Context, name string, c BearerConfig) error {
	return done(setBearerCall.Do(ctx, a.b, bearerParams{name, c}))
}

// AddRemote makes one more host get what goes to all, over the bearer of that name,
// "UDP1" or "udp:UDP1". The address's port 0 is TIPC's, 6118. Errors: a *Refusal with
// EINVAL, "Bearer not found.", or where the bearer has a multicast group, is not over UDP, or
// takes no such address.
func (a *Admin) AddRemote(ctx context.Context, bearer string, remote netip.AddrPort) error {
	return done(addRemoteCall.Do(ctx, a.b, remoteParams{bearer, remote}))
}

// RemoveRemote ends that a host gets what goes to all. A link to the host stays until it ends
// by itself; those to others are not touched. Errors: a *Refusal with EINVAL, "Bearer not
// found.", or where the bearer is not over UDP, or has no such remote.
func (a *Admin) RemoveRemote(ctx context.Context, bearer string, remote netip.AddrPort) error {
	return done(removeRemoteCall.Do(ctx, a.b, remoteParams{bearer, remote}))
}
