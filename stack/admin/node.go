// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"context"

	"github.com/utipc/utipc/internal/control"
)

var (
	netIDCall              = query("net-id", Node.NetID)
	setAddressCall         = command("set-address", control.Manage, Node.SetAddress)
	setIdentityCall        = command("set-identity", control.Manage, Node.SetIdentity)
	setNetIDCall           = command("set-net-id", control.Manage, Node.SetNetID)
	removePeerCall         = command("remove-peer", control.Manage, Node.RemovePeer)
	removePeerIdentityCall = command("remove-peer-identity", control.Manage, Node.RemovePeerIdentity)
	auditCall              = control.New("Admin", "audit", control.Show, func(ctx context.Context, n Node, c AuditConfig) (*AuditReport, error) {
		return n.Audit(ctx, c)
	})
)

// NetID returns the cluster's number.
func (a *Admin) NetID(ctx context.Context) (uint32, error) { return netIDCall.Do(ctx, a.b, nothing) }

// SetAddress gives a node that was opened with stack.Config.NoBearers, and has had none, its
// address. It is settled at once. Errors: a *Refusal with EPERM once the node has an address,
// with EINVAL for address 0.
func (a *Admin) SetAddress(ctx context.Context, addr NodeAddr) error {
	return done(setAddressCall.Do(ctx, a.b, addr))
}

// SetIdentity names such a node. Its address follows from that, when it has a bearer.
// Errors as of SetAddress.
func (a *Admin) SetIdentity(ctx context.Context, id Identity) error {
	return done(setIdentityCall.Do(ctx, a.b, id))
}

// SetNetID sets the cluster's number of such a node, 1 to 9999. Errors as of SetAddress.
func (a *Admin) SetNetID(ctx context.Context, id uint32) error {
	return done(setNetIDCall.Do(ctx, a.b, id))
}

// RemovePeer forgets another node that there is no contact with: it is no longer among
// Peers and Links. Else that happens five minutes after contact was lost. Errors: a *Refusal
// with EBUSY while there is contact, with ENXIO for a node that is not known.
func (a *Admin) RemovePeer(ctx context.Context, peer NodeAddr) error {
	return done(removePeerCall.Do(ctx, a.b, peer))
}

// RemovePeerIdentity is RemovePeer by identity. As a kernel's, it finds nodes that there
// is no contact with only: the answer is ENXIO for any other.
func (a *Admin) RemovePeerIdentity(ctx context.Context, id Identity) error {
	return done(removePeerIdentityCall.Do(ctx, a.b, id))
}

// Audit asks the topology service of every node that there is contact with, kernels
// too, for all bindings of cluster scope, and compares them with those here. Tables
// change while it is done: what differs is asked about a second time, c.Settle later,
// and reported if it differs in the same way still. It is for clusters in which every
// node has contact with every other. A node that cannot be asked, or is lost
// meanwhile, is reported with the reason.
// Errors: stack.ErrConfig, net.ErrClosed, the context's.
func (a *Admin) Audit(ctx context.Context, c AuditConfig) (*AuditReport, error) {
	return auditCall.Do(ctx, a.b, c)
}
