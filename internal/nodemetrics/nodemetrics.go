// SPDX-License-Identifier: Apache-2.0

// Package nodemetrics says how a node's counters are called where they are published: by the daemon,
// and by the adapters for nodes within a program.
package nodemetrics

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/utipc/utipc/internal/metrics"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// A Snapshot is what all metrics of one page are made of: each thing is asked for once.
type Snapshot struct {
	version string
	node    *stack.Node
	stats   admin.Stats
	bearers []admin.BearerStatus
	links   []admin.Link
	names   int
	sockets []admin.Socket
	sealed  admin.EncryptionStatus
}

// Take takes a snapshot of a node; version is the program's, as utipc_info has it. For a node of
// this process it cannot fail but by ctx.
func Take(ctx context.Context, n *stack.Node, version string) (Snapshot, error) {
	a := n.Admin()
	stats, err1 := a.Stats(ctx)
	bearers, err2 := a.Bearers(ctx)
	links, err3 := a.Links(ctx)
	names, err4 := a.Names(ctx)
	sockets, err5 := a.Sockets(ctx)
	sealed, err6 := a.Encryption(ctx)
	return Snapshot{
		version: version, node: n, stats: stats, bearers: bearers, links: links, names: len(names), sockets: sockets, sealed: sealed,
	}, errors.Join(err1, err2, err3, err4, err5, err6)
}

// A Metric is a family of series.
type Metric struct {
	Name   string // behind utipc_
	Kind   metrics.Kind
	Labels string // their names, with ", " between them
	Help   string
	// Each calls put for each series, with its value, and names and values of its labels in turn.
	Each func(s *Snapshot, put func(v float64, labels ...string))
}

// All returns the metrics of a node.
func All() (all []Metric) {
	for _, some := range [][]Metric{nodeMetrics, bearerMetrics, linkMetrics, socketMetrics} {
		all = append(all, some...)
	}
	return all
}

// one is a metric of a single series.
func one(name string, kind metrics.Kind, help string, value func(s *Snapshot) float64) Metric {
	return Metric{name, kind, "", help, func(s *Snapshot, put func(float64, ...string)) { put(value(s)) }}
}

var nodeMetrics = []Metric{
	{"info", metrics.Gauge, "version, node, identity", "1, with what the node is.", func(s *Snapshot, put func(float64, ...string)) {
		put(1, "version", s.version, "node", s.node.Addr().String(), "identity", s.node.Identity().String())
	}},
	one("frames_in_total", metrics.Counter, "Frames received.", func(s *Snapshot) float64 { return float64(s.stats.FramesIn) }),
	one("frames_out_total", metrics.Counter, "Frames sent.", func(s *Snapshot) float64 { return float64(s.stats.FramesOut) }),
	{"messages_total", metrics.Counter, "way", "Messages of sockets: in from other nodes, out to them, local.", func(s *Snapshot, put func(float64, ...string)) {
		put(float64(s.stats.MessagesIn), "way", "in")
		put(float64(s.stats.MessagesOut), "way", "out")
		put(float64(s.stats.MessagesLocal), "way", "local")
	}},
	one("returned_total", metrics.Counter, "Messages sent back to their sender.", func(s *Snapshot) float64 { return float64(s.stats.Returned) }),
	{"dropped_total", metrics.Counter, "reason", "Frames and messages that went no further.", func(s *Snapshot, put func(float64, ...string)) {
		for i, n := range s.stats.Drops {
			if n > 0 {
				put(float64(n), "reason", engine.Drop(i).String())
			}
		}
	}},
	one("connected_total", metrics.Counter, "Connections made.", func(s *Snapshot) float64 { return float64(s.stats.Connected) }),
	one("parked_total", metrics.Counter, "Messages that waited for a name.", func(s *Snapshot) float64 { return float64(s.stats.Parked) }),
	one("address_conflicts_total", metrics.Counter, "Times that a node was heard whose address or identity another one has.", func(s *Snapshot) float64 { return float64(s.stats.Conflict.Times) }),
	one("bindings", metrics.Gauge, "Bindings in the table, of all nodes.", func(s *Snapshot) float64 { return float64(s.names) }),
	one("chunks", metrics.Gauge, "Chunks of memory for frames.", func(s *Snapshot) float64 { return float64(s.stats.ChunksTotal) }),
	one("chunks_free", metrics.Gauge, "Chunks that nobody holds.", func(s *Snapshot) float64 { return float64(s.stats.ChunksFree) }),
	one("wakeups_total", metrics.Counter, "Times that the node went on after a sleep.", func(s *Snapshot) float64 { return float64(s.stats.WakeUps) }),
	one("kept_bytes", metrics.Gauge, "Bytes that other nodes make this one keep.", func(s *Snapshot) float64 { return float64(s.stats.Kept) }),
	one("sealed_packets_total", metrics.Counter, "Packets sealed.", func(s *Snapshot) float64 { return float64(s.sealed.Keys.Sealed) }),
	one("opened_packets_total", metrics.Counter, "Sealed packets opened.", func(s *Snapshot) float64 { return float64(s.sealed.Keys.Opened) }),
}

// of is a metric with a series for each thing of a list.
func of[T any](name string, kind metrics.Kind, labels, help string, list func(s *Snapshot) []T, values func(x *T) []string, value func(x *T) float64) Metric {
	names := strings.Split(labels, ", ")
	return Metric{name, kind, labels, help, func(s *Snapshot, put func(float64, ...string)) {
		all := list(s)
		for i := range all {
			x := &all[i]
			var pairs []string
			for k, v := range values(x) {
				pairs = append(pairs, names[k], v)
			}
			put(value(x), pairs...)
		}
	}}
}

func bearerMetric(name string, kind metrics.Kind, help string, value func(b *admin.BearerStatus) float64) Metric {
	return of("bearer_"+name, kind, "bearer", help, func(s *Snapshot) []admin.BearerStatus { return s.bearers },
		func(b *admin.BearerStatus) []string { return []string{b.Name} }, value)
}

var bearerMetrics = []Metric{
	bearerMetric("mtu_bytes", metrics.Gauge, "MTU; 0 while the interface is down.", func(b *admin.BearerStatus) float64 { return float64(b.MTU) }),
	bearerMetric("up", metrics.Gauge, "1 when it is as wanted and its interface carries, else 0.", func(b *admin.BearerStatus) float64 { return truth(b.State == "up") }),
	bearerMetric("changes_total", metrics.Counter, "States that it has had: waiting, opening, up, down, damped, closing.", func(b *admin.BearerStatus) float64 { return float64(b.Changes) }),
	bearerMetric("frames_in_total", metrics.Counter, "Frames received.", func(b *admin.BearerStatus) float64 { return float64(b.FramesIn) }),
	bearerMetric("frames_out_total", metrics.Counter, "Frames sent.", func(b *admin.BearerStatus) float64 { return float64(b.FramesOut) }),
	bearerMetric("drops_in_total", metrics.Counter, "Frames the device lost on their way in.", func(b *admin.BearerStatus) float64 { return float64(b.DropsIn) }),
	bearerMetric("drops_out_total", metrics.Counter, "Frames the device lost on their way out.", func(b *admin.BearerStatus) float64 { return float64(b.DropsOut) }),
	bearerMetric("unsent_frames", metrics.Gauge, "Frames the device has not taken.", func(b *admin.BearerStatus) float64 { return float64(b.Unsent) }),
}

func linkMetric(name string, kind metrics.Kind, help string, value func(l *admin.Link) float64) Metric {
	return of("link_"+name, kind, "peer, bearer", help, func(s *Snapshot) []admin.Link { return s.links },
		func(l *admin.Link) []string { return []string{l.Peer.String(), l.Bearer} }, value)
}

var linkMetrics = []Metric{
	linkMetric("up", metrics.Gauge, "1 while the link is up.", func(l *admin.Link) float64 { return truth(l.Up) }),
	linkMetric("active", metrics.Gauge, "1 while it carries messages.", func(l *admin.Link) float64 { return truth(l.Active) }),
	linkMetric("tolerance_seconds", metrics.Gauge, "How long the peer may be silent.", func(l *admin.Link) float64 { return l.Tolerance.Seconds() }),
	linkMetric("rtt_seconds", metrics.Gauge, "Round trip, estimated; 0: unknown.", func(l *admin.Link) float64 { return l.RTT.Seconds() }),
	linkMetric("packets_in_total", metrics.Counter, "Packets received.", func(l *admin.Link) float64 { return float64(l.RecvPackets) }),
	linkMetric("packets_out_total", metrics.Counter, "Packets sent.", func(l *admin.Link) float64 { return float64(l.SentPackets) }),
	linkMetric("retransmits_total", metrics.Counter, "Packets sent again.", func(l *admin.Link) float64 { return float64(l.Retransmits) }),
	linkMetric("duplicates_total", metrics.Counter, "Packets received again.", func(l *admin.Link) float64 { return float64(l.Duplicates) }),
	linkMetric("deferred_total", metrics.Counter, "Packets received before their turn.", func(l *admin.Link) float64 { return float64(l.Deferred) }),
	linkMetric("congested_total", metrics.Counter, "Writes turned away for a while.", func(l *admin.Link) float64 { return float64(l.Congested) }),
	linkMetric("impaired", metrics.Gauge, "1 while the network does not serve it: multicast eaten, one way only, or a path that carries less than the interface.", func(l *admin.Link) float64 { return truth(l.Impaired != "") }),
	linkMetric("resets_total", metrics.Counter, "Times the link went down.", func(l *admin.Link) float64 { return float64(l.Resets) }),
	linkMetric("unacked_packets", metrics.Gauge, "Packets sent and not acknowledged.", func(l *admin.Link) float64 { return float64(l.Unacked) }),
	linkMetric("backlog_packets", metrics.Gauge, "Packets that wait to be sent.", func(l *admin.Link) float64 { return float64(l.Backlog) }),
	linkMetric("window_packets", metrics.Gauge, "Packets that may be unacknowledged.", func(l *admin.Link) float64 { return float64(l.Window) }),
	linkMetric("waiting_writes", metrics.Gauge, "Writes that wait for the link.", func(l *admin.Link) float64 { return float64(l.Senders) }),
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// A socketClass is what sockets are counted by: thousands of them make few series.
type socketClass struct {
	kind                      string
	sockets, queued           int
	in, out, dropped, blocked uint64
}

// classes counts the sockets that there are by kind.
func classes(s *Snapshot) (all []socketClass) {
	at := map[string]int{}
	for _, x := range s.sockets {
		kind := fmt.Sprint(x.Kind)
		if x.Inside {
			kind = "inside"
		}
		i, ok := at[kind]
		if !ok {
			i, all = len(all), append(all, socketClass{kind: kind})
			at[kind] = i
		}
		c := &all[i]
		c.sockets++
		c.queued += x.Bytes
		c.in, c.out, c.dropped, c.blocked = c.in+x.MessagesIn, c.out+x.MessagesOut, c.dropped+x.Dropped, c.blocked+x.Blocked
	}
	return all
}

func classMetric(name, help string, value func(c *socketClass) float64) Metric {
	return of("socket_"+name, metrics.Gauge, "kind", help, classes, func(c *socketClass) []string { return []string{c.kind} }, value)
}

// What sockets have done goes with them, and so it may fall.
var socketMetrics = []Metric{
	classMetric("count", "Sockets.", func(c *socketClass) float64 { return float64(c.sockets) }),
	classMetric("queued_bytes", "Bytes that wait to be read.", func(c *socketClass) float64 { return float64(c.queued) }),
	classMetric("messages_in", "Messages that the sockets of now have got.", func(c *socketClass) float64 { return float64(c.in) }),
	classMetric("messages_out", "Messages that the sockets of now have sent.", func(c *socketClass) float64 { return float64(c.out) }),
	classMetric("dropped", "Messages that the sockets of now had no room for.", func(c *socketClass) float64 { return float64(c.dropped) }),
	classMetric("blocked", "Writes of the sockets of now that waited.", func(c *socketClass) float64 { return float64(c.blocked) }),
}
