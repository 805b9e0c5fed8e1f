// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"net/netip"
	"time"
)

// AddRemote implements nodeBackend.
func (n *remoteNode) AddRemote(bearer string, remote netip.AddrPort) error {
	return n.command("add-remote", remoteWords{bearer, remote})
}

// RemoveRemote implements nodeBackend.
func (n *remoteNode) RemoveRemote(bearer string, remote netip.AddrPort) error {
	return n.command("remove-remote", remoteWords{bearer, remote})
}

// DisableBearer implements nodeBackend.
func (n *remoteNode) DisableBearer(ctx context.Context, name string) error {
	return n.call(ctx, "disable-bearer", name, nil)
}

// RequestBearer implements nodeBackend.
func (n *remoteNode) RequestBearer(ctx context.Context, r BearerRequest) error {
	return n.call(ctx, "enable-bearer", r, nil)
}

// SetBearer implements nodeBackend.
func (n *remoteNode) SetBearer(name string, c BearerConfig) error {
	return n.command("set-bearer", bearerWords{name, c})
}

// BearerProperty implements nodeBackend.
func (n *remoteNode) BearerProperty(name string, p Property) (int, error) {
	return n.property("bearer-property", name, p)
}

// SetBearerProperty implements nodeBackend.
func (n *remoteNode) SetBearerProperty(name string, p Property, value int) error {
	return n.command("set-bearer-property", propertyWords{name, p, value})
}

// BroadcastLink implements nodeBackend.
func (n *remoteNode) BroadcastLink() BroadcastLink {
	return query[BroadcastLink](n, "broadcast-link")
}

// FlushKeys implements nodeBackend.
func (n *remoteNode) FlushKeys() error {
	return n.command("flush-keys", nil)
}

// Rekey implements nodeBackend.
func (n *remoteNode) Rekey() error {
	return n.command("rekey", nil)
}

// SetRekeying implements nodeBackend.
func (n *remoteNode) SetRekeying(interval time.Duration) error {
	return n.command("set-rekeying", interval)
}

// SetMigration implements nodeBackend.
func (n *remoteNode) SetMigration(on bool) error {
	return n.command("set-migration", on)
}

// Encryption implements nodeBackend.
func (n *remoteNode) Encryption() EncryptionStatus {
	return query[EncryptionStatus](n, "encryption")
}

// Links implements nodeBackend.
func (n *remoteNode) Links() []Link {
	return query[[]Link](n, "links")
}

// SetLink implements nodeBackend.
func (n *remoteNode) SetLink(peer NodeAddr, bearer string, c LinkConfig) error {
	return n.command("set-link", linkWords{peer, bearer, c})
}

// ResetStatistics implements nodeBackend.
func (n *remoteNode) ResetStatistics(peer NodeAddr, bearer string) error {
	return n.command("reset-statistics", linkName{peer, bearer})
}

// LinkProperty implements nodeBackend.
func (n *remoteNode) LinkProperty(link string, p Property) (int, error) {
	return n.property("link-property", link, p)
}

// SetLinkProperty implements nodeBackend.
func (n *remoteNode) SetLinkProperty(link string, p Property, value int) error {
	return n.command("set-link-property", propertyWords{link, p, value})
}

// ResetLinkStatistics implements nodeBackend.
func (n *remoteNode) ResetLinkStatistics(link string) error {
	return n.command("reset-link-statistics", link)
}

// BroadcastReceptions implements nodeBackend.
func (n *remoteNode) BroadcastReceptions() []BroadcastReception {
	return query[[]BroadcastReception](n, "receptions")
}

// BroadcastMethod implements nodeBackend.
func (n *remoteNode) BroadcastMethod() BroadcastMethod {
	return query[BroadcastMethod](n, "broadcast-method")
}

// SetBroadcastMethod implements nodeBackend.
func (n *remoteNode) SetBroadcastMethod(m BroadcastMethod) error {
	return n.command("set-broadcast-method", m)
}

// MonitorThreshold implements nodeBackend.
func (n *remoteNode) MonitorThreshold() int {
	return query[int](n, "monitor-threshold")
}

// NetID implements nodeBackend.
func (n *remoteNode) NetID() uint32 {
	return query[uint32](n, "net-id")
}

// SetAddress implements nodeBackend.
func (n *remoteNode) SetAddress(a NodeAddr) error {
	return n.command("set-address", a)
}

// SetIdentity implements nodeBackend.
func (n *remoteNode) SetIdentity(id Identity) error {
	return n.command("set-identity", id)
}

// SetNetID implements nodeBackend.
func (n *remoteNode) SetNetID(id uint32) error {
	return n.command("set-net-id", id)
}

// RemovePeer implements nodeBackend.
func (n *remoteNode) RemovePeer(a NodeAddr) error {
	return n.command("remove-peer", a)
}

// RemovePeerIdentity implements nodeBackend.
func (n *remoteNode) RemovePeerIdentity(id Identity) error {
	return n.command("remove-peer-identity", id)
}

// Media implements nodeBackend.
func (n *remoteNode) Media() []MediumConfig {
	return query[[]MediumConfig](n, "media")
}

// MediumProperty implements nodeBackend.
func (n *remoteNode) MediumProperty(name string, p Property) (int, error) {
	return n.property("medium-property", name, p)
}

// SetMediumProperty implements nodeBackend.
func (n *remoteNode) SetMediumProperty(name string, p Property, value int) error {
	return n.command("set-medium-property", propertyWords{name, p, value})
}

// Monitor implements nodeBackend.
func (n *remoteNode) Monitor() []Monitor {
	return query[[]Monitor](n, "monitor")
}

// SetMonitorThreshold implements nodeBackend.
func (n *remoteNode) SetMonitorThreshold(nodes int) error {
	return n.command("set-monitor-threshold", nodes)
}

// Sockets implements nodeBackend.
func (n *remoteNode) Sockets() []Socket {
	return query[[]Socket](n, "sockets")
}

// ServiceStats implements nodeBackend.
func (n *remoteNode) ServiceStats() []ServiceStats {
	return query[[]ServiceStats](n, "service-stats")
}

// Peers implements nodeBackend.
func (n *remoteNode) Peers() []Peer {
	return query[[]Peer](n, "peers")
}

// Names implements nodeBackend.
func (n *remoteNode) Names() []Binding {
	return query[[]Binding](n, "names")
}

// Stats implements nodeBackend.
func (n *remoteNode) Stats() Stats {
	return query[Stats](n, "stats")
}

// Bearers implements nodeBackend.
func (n *remoteNode) Bearers() []BearerStatus {
	return query[[]BearerStatus](n, "bearers")
}

// Waits implements nodeBackend.
func (n *remoteNode) Waits() []Wait {
	return query[[]Wait](n, "waits")
}

// NoteBearer implements nodeBackend. How a bearer stands is the daemon's to say.
func (n *remoteNode) NoteBearer(string, BearerState) {}

// ForgetBearer implements nodeBackend.
func (n *remoteNode) ForgetBearer(string) {}

// BearerNoted implements nodeBackend.
func (n *remoteNode) BearerNoted(string) bool { return false }

// HoldBearer implements nodeBackend.
func (n *remoteNode) HoldBearer(string, bool) error {
	return manageError("hold", errors.ErrUnsupported)
}
