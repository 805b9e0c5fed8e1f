// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"context"

	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack/engine"
)

var (
	linksCall           = query("links", Node.Links)
	setLinkCall         = command("set-link", control.Manage, func(n Node, in linkParams) error { return n.SetLink(in.Peer, in.Bearer, in.LinkConfig) })
	resetStatisticsCall = command("reset-statistics", control.Manage, Node.ResetStatistics)

	broadcastLinkCall      = query("broadcast-link", Node.BroadcastLink)
	receptionsCall         = query("receptions", Node.Receptions)
	broadcastMethodCall    = query("broadcast-method", Node.BroadcastMethod)
	setBroadcastMethodCall = command("set-broadcast-method", control.Manage, Node.SetBroadcastMethod)

	monitorCall             = query("monitor", Node.Monitor)
	monitorThresholdCall    = query("monitor-threshold", Node.MonitorThreshold)
	setMonitorThresholdCall = command("set-monitor-threshold", control.Manage, Node.SetMonitorThreshold)
)

type (
	linkParams struct {
		Peer   NodeAddr
		Bearer string
		LinkConfig
	}
)

// BroadcastLinkName is the name of a node's broadcast link.
const BroadcastLinkName = "broadcast-link"

// Links returns the links to all nodes known, by address and bearer.
func (a *Admin) Links(ctx context.Context) ([]Link, error) { return linksCall.Do(ctx, a.b, nothing) }

// SetLink changes the link to peer on the bearer of that name, or with peer 0 all
// links there and those to come. Zero fields of c mean no change, and a Window
// without MaxWindow one that never moves. It takes effect at once; the peer adopts a
// new tolerance, and a higher priority; a new priority resets the link.
// Errors: stack.ErrConfig, stack.ErrUnreachable when there is no such link.
func (a *Admin) SetLink(ctx context.Context, peer NodeAddr, bearer string, c LinkConfig) error {
	return done(setLinkCall.Do(ctx, a.b, linkParams{peer, bearer, c}))
}

// ResetStatistics sets the counters of the link of that name to 0: also those of
// "broadcast-link", and of what came on a peer's, "broadcast-link:1001002".
// Errors: a *Refusal with EINVAL.
func (a *Admin) ResetStatistics(ctx context.Context, link string) error {
	return done(resetStatisticsCall.Do(ctx, a.b, link))
}

// BroadcastLink returns how the broadcast link stands.
func (a *Admin) BroadcastLink(ctx context.Context) (BroadcastLink, error) {
	return broadcastLinkCall.Do(ctx, a.b, nothing)
}

// A BroadcastReception is what came on another node's broadcast link.
type BroadcastReception = engine.BroadcastReception

// Receptions returns what came on the broadcast links of the nodes there is contact with, by
// address.
func (a *Admin) Receptions(ctx context.Context) ([]BroadcastReception, error) {
	return receptionsCall.Do(ctx, a.b, nothing)
}

// A BroadcastMethod is how multicast messages of sockets that have no method of their
// own reach other nodes: "BROADCAST", on the broadcast link, "REPLICAST", a copy to each
// node, or "AUTOSELECT": copies for up to 1 and Ratio per cent of the other nodes.
type BroadcastMethod struct {
	Method string `json:"method"`
	Ratio  int    `json:"ratio"` // 1 to 100; 0, when it is set: no change
}

// BroadcastMethod returns it. Nodes begin with AUTOSELECT, and 10 per cent.
func (a *Admin) BroadcastMethod(ctx context.Context) (BroadcastMethod, error) {
	return broadcastMethodCall.Do(ctx, a.b, nothing)
}

// SetBroadcastMethod changes it, from the next message on. Errors: a *Refusal with EINVAL.
func (a *Admin) SetBroadcastMethod(ctx context.Context, m BroadcastMethod) error {
	return done(setBroadcastMethodCall.Do(ctx, a.b, m))
}

// Monitor returns how neighbours are watched, by bearer in the order of stack.Config.Bearers.
func (a *Admin) Monitor(ctx context.Context) ([]Monitor, error) {
	return monitorCall.Do(ctx, a.b, nothing)
}

// MonitorThreshold returns the number of nodes on a bearer up to which every node supervises
// every other.
func (a *Admin) MonitorThreshold(ctx context.Context) (int, error) {
	return monitorThresholdCall.Do(ctx, a.b, nothing)
}

// SetMonitorThreshold changes the number of nodes on a bearer up to which every node
// supervises every other, 1 to 4095, at once and on all bearers; 32 is what nodes begin
// with. Nodes of one cluster should agree about it. Errors: stack.ErrConfig.
func (a *Admin) SetMonitorThreshold(ctx context.Context, nodes int) error {
	return done(setMonitorThresholdCall.Do(ctx, a.b, nodes))
}
