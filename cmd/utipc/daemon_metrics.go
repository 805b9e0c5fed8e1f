// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/metrics"
	"github.com/utipc/utipc/internal/nodemetrics"
	"github.com/utipc/utipc/stack"
)

// A snapshot is what all metrics of one page are made of.
type snapshot struct {
	node   nodemetrics.Snapshot
	server daemon.Counters
}

// look takes a snapshot of a node of this process, whose calls cannot fail but by ctx.
func look(ctx context.Context, n *stack.Node, s *daemon.Server) (snapshot, error) {
	node, err := nodemetrics.Take(ctx, n, cmdline.Version())
	return snapshot{node, s.Counters()}, err
}

// writeMetrics writes all metrics.
func writeMetrics(t *metrics.Text, s *snapshot) {
	for _, m := range nodemetrics.All() {
		t.Family("utipc_"+m.Name, m.Kind, m.Help)
		m.Each(&s.node, t.Value)
	}
	for _, m := range programMetrics {
		t.Family("utipc_"+m.name, m.kind, m.help)
		t.Value(m.value(&s.server))
	}
}

// A programMetric is a metric of one series, of what the daemon does for programs.
type programMetric struct {
	name  string // behind utipc_
	kind  metrics.Kind
	help  string
	value func(c *daemon.Counters) float64
}

func held(name, help string, value func(c *daemon.Counters) int) programMetric {
	return programMetric{"daemon_" + name, metrics.Gauge, help, func(c *daemon.Counters) float64 { return float64(value(c)) }}
}

func done(name, help string, value func(c *daemon.Counters) uint64) programMetric {
	return programMetric{"daemon_" + name + "_total", metrics.Counter, help, func(c *daemon.Counters) float64 { return float64(value(c)) }}
}

// Attached programs come and go: a series for each would never end, so there are sums.
var programMetrics = []programMetric{
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
	done("tcp_refused_connections", "Connections of other nodes that said to be from an address which these have not.", func(c *daemon.Counters) uint64 { return c.TCPRefused }),
}

// metricsTable is the table of docs/reference/daemon.md.
func metricsTable() string {
	var b strings.Builder
	b.WriteString("| metric | kind | labels | what it is |\n|---|---|---|---|\n")
	row := func(name string, kind metrics.Kind, labels, help string) {
		fmt.Fprintf(&b, "| `utipc_%s` | %s | %s | %s |\n", name, kind, labels, strings.ReplaceAll(help, "|", `\|`))
	}
	for _, m := range nodemetrics.All() {
		row(m.Name, m.Kind, m.Labels, m.Help)
	}
	for _, m := range programMetrics {
		row(m.name, m.kind, "", m.help)
	}
	fmt.Fprintf(&b, "| `utipc_metrics_left_out` | gauge | family | Series beyond %s of one family; absent where there are none. |\n", strconv.Itoa(metrics.MaxSeries))
	return b.String()
}
