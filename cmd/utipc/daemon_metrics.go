// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/metrics"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// A snapshot is what all metrics of one page are made of: each thing is asked for once.
type snapshot struct {
	node    *stack.Node
	stats   admin.Stats
	bearers []admin.BearerStatus
	links   []admin.Link
	names   int
	sockets []admin.Socket
	sealed  admin.EncryptionStatus
	server  daemon.Counters
}

// look takes a snapshot of a node of this process, whose calls cannot fail but by ctx.
func look(ctx context.Context, n *stack.Node, s *daemon.Server) (snapshot, error) {
	a := n.Admin()
	stats, err1 := a.Stats(ctx)
	bearers, err2 := a.Bearers(ctx)
	links, err3 := a.Links(ctx)
	names, err4 := a.Names(ctx)
	sockets, err5 := a.Sockets(ctx)
	sealed, err6 := a.Encryption(ctx)
	return snapshot{
		node: n, stats: stats, bearers: bearers, links: links, names: len(names), sockets: sockets, sealed: sealed,
		server: s.Counters(),
	}, errors.Join(err1, err2, err3, err4, err5, err6)
}

// A metric is a family of series.
type metric struct {
	name   string // behind utipc_
	kind   metrics.Kind
	labels string // for the documentation
	help   string
	tell   func(s *snapshot, put func(v float64, labels ...string))
}

// writeMetrics writes all metrics.
func writeMetrics(t *metrics.Text, s *snapshot) {
	for _, m := range allMetrics() {
		t.Family("utipc_"+m.name, m.kind, m.help)
		m.tell(s, t.Value)
	}
}

func allMetrics() (all []metric) {
	for _, some := range [][]metric{nodeMetrics, bearerMetrics, linkMetrics, socketMetrics, programMetrics} {
		all = append(all, some...)
	}
	return all
}

// one is a metric of a single series.
func one(name string, kind metrics.Kind, help string, value func(s *snapshot) float64) metric {
	return metric{name, kind, "", help, func(s *snapshot, put func(float64, ...string)) { put(value(s)) }}
}

var nodeMetrics = []metric{
	{"info", metrics.Gauge, "version, node, identity", "1, with what the node is.", func(s *snapshot, put func(float64, ...string)) {
		put(1, "version", cmdline.Version(), "node", s.node.Addr().String(), "identity", s.node.Identity().String())
	}},
	one("frames_in_total", metrics.Counter, "Frames received.", func(s *snapshot) float64 { return float64(s.stats.FramesIn) }),
	one("frames_out_total", metrics.Counter, "Frames sent.", func(s *snapshot) float64 { return float64(s.stats.FramesOut) }),
	{"messages_total", metrics.Counter, "way", "Messages of sockets: in from other nodes, out to them, local.", func(s *snapshot, put func(float64, ...string)) {
		put(float64(s.stats.MessagesIn), "way", "in")
		put(float64(s.stats.MessagesOut), "way", "out")
		put(float64(s.stats.MessagesLocal), "way", "local")
	}},
	one("returned_total", metrics.Counter, "Messages sent back to their sender.", func(s *snapshot) float64 { return float64(s.stats.Returned) }),
	{"dropped_total", metrics.Counter, "reason", "Frames and messages that went no further.", func(s *snapshot, put func(float64, ...string)) {
		for i, n := range s.stats.Drops {
			if n > 0 {
				put(float64(n), "reason", engine.Drop(i).String())
			}
		}
	}},
	one("connected_total", metrics.Counter, "Connections made.", func(s *snapshot) float64 { return float64(s.stats.Connected) }),
	one("parked_total", metrics.Counter, "Messages that waited for a name.", func(s *snapshot) float64 { return float64(s.stats.Parked) }),
	one("address_conflicts_total", metrics.Counter, "Times that a node was heard whose address or identity another one has.", func(s *snapshot) float64 { return float64(s.stats.Conflict.Times) }),
	one("bindings", metrics.Gauge, "Bindings in the table, of all nodes.", func(s *snapshot) float64 { return float64(s.names) }),
	one("chunks", metrics.Gauge, "Chunks of memory for frames.", func(s *snapshot) float64 { return float64(s.stats.ChunksTotal) }),
	one("chunks_free", metrics.Gauge, "Chunks that nobody holds.", func(s *snapshot) float64 { return float64(s.stats.ChunksFree) }),
	one("wakeups_total", metrics.Counter, "Times that the node went on after a sleep.", func(s *snapshot) float64 { return float64(s.stats.WakeUps) }),
	one("kept_bytes", metrics.Gauge, "Bytes that other nodes make this one keep.", func(s *snapshot) float64 { return float64(s.stats.Kept) }),
	one("sealed_packets_total", metrics.Counter, "Packets sealed.", func(s *snapshot) float64 { return float64(s.sealed.Keys.Sealed) }),
	one("opened_packets_total", metrics.Counter, "Sealed packets opened.", func(s *snapshot) float64 { return float64(s.sealed.Keys.Opened) }),
}

// of is a metric with a series for each thing of a list.
func of[T any](name string, kind metrics.Kind, labels, help string, list func(s *snapshot) []T, values func(x *T) []string, value func(x *T) float64) metric {
	names := strings.Split(labels, ", ")
	return metric{name, kind, labels, help, func(s *snapshot, put func(float64, ...string)) {
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

func bearerMetric(name string, kind metrics.Kind, help string, value func(b *admin.BearerStatus) float64) metric {
	return of("bearer_"+name, kind, "bearer", help, func(s *snapshot) []admin.BearerStatus { return s.bearers },
		func(b *admin.BearerStatus) []string { return []string{b.Name} }, value)
}

var bearerMetrics = []metric{
	bearerMetric("mtu_bytes", metrics.Gauge, "MTU; 0 while the interface is down.", func(b *admin.BearerStatus) float64 { return float64(b.MTU) }),
	bearerMetric("up", metrics.Gauge, "1 when it is as wanted and its interface carries, else 0.", func(b *admin.BearerStatus) float64 {
		if b.State == "up" {
			return 1
		}
		return 0
	}),
	bearerMetric("changes_total", metrics.Counter, "States that it has had: waiting, opening, up, down, damped, closing.", func(b *admin.BearerStatus) float64 { return float64(b.Changes) }),
	bearerMetric("frames_in_total", metrics.Counter, "Frames received.", func(b *admin.BearerStatus) float64 { return float64(b.FramesIn) }),
	bearerMetric("frames_out_total", metrics.Counter, "Frames sent.", func(b *admin.BearerStatus) float64 { return float64(b.FramesOut) }),
	bearerMetric("drops_in_total", metrics.Counter, "Frames the device lost on their way in.", func(b *admin.BearerStatus) float64 { return float64(b.DropsIn) }),
	bearerMetric("drops_out_total", metrics.Counter, "Frames the device lost on their way out.", func(b *admin.BearerStatus) float64 { return float64(b.DropsOut) }),
	bearerMetric("unsent_frames", metrics.Gauge, "Frames the device has not taken.", func(b *admin.BearerStatus) float64 { return float64(b.Unsent) }),
}

func linkMetric(name string, kind metrics.Kind, help string, value func(l *admin.Link) float64) metric {
	return of("link_"+name, kind, "peer, bearer", help, func(s *snapshot) []admin.Link { return s.links },
		func(l *admin.Link) []string { return []string{l.Peer.String(), l.Bearer} }, value)
}

var linkMetrics = []metric{
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
	linkMetric("impaired", metrics.Gauge, "1 while the network does not serve it: multicast eaten, one way only, or a path that carries less than the interface.", func(l *admin.Link) float64 {
		if l.Impaired != "" {
			return 1
		}
		return 0
	}),
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
func classes(s *snapshot) (all []socketClass) {
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

func classMetric(name, help string, value func(c *socketClass) float64) metric {
	return of("socket_"+name, metrics.Gauge, "kind", help, classes, func(c *socketClass) []string { return []string{c.kind} }, value)
}

// What sockets have done goes with them, and so it may fall.
var socketMetrics = []metric{
	classMetric("count", "Sockets.", func(c *socketClass) float64 { return float64(c.sockets) }),
	classMetric("queued_bytes", "Bytes that wait to be read.", func(c *socketClass) float64 { return float64(c.queued) }),
	classMetric("messages_in", "Messages that the sockets of now have got.", func(c *socketClass) float64 { return float64(c.in) }),
	classMetric("messages_out", "Messages that the sockets of now have sent.", func(c *socketClass) float64 { return float64(c.out) }),
	classMetric("dropped", "Messages that the sockets of now had no room for.", func(c *socketClass) float64 { return float64(c.dropped) }),
	classMetric("blocked", "Writes of the sockets of now that waited.", func(c *socketClass) float64 { return float64(c.blocked) }),
}

func held(name, help string, value func(c *daemon.Counters) int) metric {
	return one("daemon_"+name, metrics.Gauge, help, func(s *snapshot) float64 { return float64(value(&s.server)) })
}

func done(name, help string, value func(c *daemon.Counters) uint64) metric {
	return one("daemon_"+name+"_total", metrics.Counter, help, func(s *snapshot) float64 { return float64(value(&s.server)) })
}

// Attached programs come and go: a series for each would never end, so there are sums.
var programMetrics = []metric{
	held("programs", "Programs attached.", func(c *daemon.Counters) int { return c.Clients }),
	held("users", "Users that have them.", func(c *daemon.Counters) int { return c.Users }),
	held("connections", "Connections of programs.", func(c *daemon.Counters) int { return c.Connections }),
	held("names", "Bindings of programs.", func(c *daemon.Counters) int { return c.Names }),
	held("subscriptions", "Subscriptions and streams of programs.", func(c *daemon.Counters) int { return c.Subscriptions }),
	held("calls", "Requests that wait for their answer.", func(c *daemon.Counters) int { return c.Calls }),
	held("rings", "Rings in shared memory.", func(c *daemon.Counters) int { return c.Rings }),
	held("queued_bytes", "Bytes that wait for programs to read them, or to be sent.", func(c *daemon.Counters) int { return c.QueuedBytes }),
	done("records", "Records that came.", func(c *daemon.Counters) uint64 { return c.Records }),
	done("received_bytes", "Bytes of data in them.", func(c *daemon.Counters) uint64 { return c.BytesIn }),
	done("messages", "Messages delivered.", func(c *daemon.Counters) uint64 { return c.Messages }),
	done("delivered_bytes", "Bytes of these.", func(c *daemon.Counters) uint64 { return c.BytesOut }),
	done("undelivered", "Messages that a program's socket would not take: datagrams were returned, connections ended.", func(c *daemon.Counters) uint64 { return c.Undelivered }),
	done("failed_sends", "Sends that failed and were not to be answered.", func(c *daemon.Counters) uint64 { return c.Failed }),
	done("refused", "Calls that their program may not make.", func(c *daemon.Counters) uint64 { return c.Refused }),
	done("over_limit", "Requests beyond a limit.", func(c *daemon.Counters) uint64 { return c.OverLimit }),
	done("slowed", "Times that a program was read more slowly for sending too much.", func(c *daemon.Counters) uint64 { return c.Slowed }),
	done("stalled", "Times that a program did not read.", func(c *daemon.Counters) uint64 { return c.Stalled }),
	done("over_queue", "Messages, requests and events refused because too much waits for their program.", func(c *daemon.Counters) uint64 { return c.OverQueue }),
	done("overdrawn", "Connections and groups ended because too much waited for their program.", func(c *daemon.Counters) uint64 { return c.Overdrawn }),
	done("broken", "Connections that did not keep to the protocol.", func(c *daemon.Counters) uint64 { return c.Broken }),
	done("turned_away", "Connections beyond a limit.", func(c *daemon.Counters) uint64 { return c.TurnedAway }),
	done("ring_faults", "Rings that a program corrupted.", func(c *daemon.Counters) uint64 { return c.RingFaults }),
	done("tcp_connections", "Connections of programs' TCP sockets with other nodes.", func(c *daemon.Counters) uint64 { return c.TCPConnections }),
	done("tcp_direct_connections", "Those within this node, whose bytes do not count.", func(c *daemon.Counters) uint64 { return c.TCPDirect }),
	done("tcp_received_bytes", "Bytes that came for these from other nodes.", func(c *daemon.Counters) uint64 { return c.TCPBytesIn }),
	done("tcp_sent_bytes", "Bytes that they sent there.", func(c *daemon.Counters) uint64 { return c.TCPBytesOut }),
}

// metricsTable is the table of docs/daemon.md.
func metricsTable() string {
	var b strings.Builder
	b.WriteString("| metric | kind | labels | what it is |\n|---|---|---|---|\n")
	for _, m := range allMetrics() {
		fmt.Fprintf(&b, "| `utipc_%s` | %s | %s | %s |\n", m.name, m.kind, m.labels, strings.ReplaceAll(m.help, "|", `\|`))
	}
	fmt.Fprintf(&b, "| `utipc_metrics_left_out` | gauge | family | Series beyond %s of one family; absent where there are none. |\n", strconv.Itoa(metrics.MaxSeries))
	return b.String()
}
