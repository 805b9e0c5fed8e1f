// SPDX-License-Identifier: Apache-2.0

// Package tipcprometheus collects the metrics of a node for github.com/prometheus/client_golang.
//
//	prometheus.MustRegister(tipcprometheus.NewCollector(node, "1.0"))
//
// Names, kinds and labels are those of the daemon, which publishes its own: docs/reference/daemon.md. Those of
// attached programs, utipc_daemon_, are the daemon's alone. Programs with several nodes wrap the
// registerer: prometheus.WrapRegistererWith.
package tipcprometheus

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/utipc/utipc/internal/metrics"
	"github.com/utipc/utipc/internal/nodemetrics"
	"github.com/utipc/utipc/stack"
)

// limit bounds how long a node may take to answer, which is of account when it is attached.
const limit = 5 * time.Second

// A Collector is a prometheus.Collector. It keeps nothing: each Collect asks the node.
type Collector struct {
	node    *stack.Node
	version string
	all     []nodemetrics.Metric
	descs   []*prometheus.Desc // of all, in order
	failed  *prometheus.Desc
}

var _ prometheus.Collector = (*Collector)(nil)

// NewCollector returns a collector of a node; version is the program's, a label of utipc_info.
func NewCollector(n *stack.Node, version string) *Collector {
	c := &Collector{
		node: n, version: version, all: nodemetrics.All(),
		failed: prometheus.NewDesc("utipc_unavailable", "The node does not answer.", nil, nil),
	}
	for _, m := range c.all {
		c.descs = append(c.descs, prometheus.NewDesc("utipc_"+m.Name, m.Help, labels(m), nil))
	}
	return c
}

func labels(m nodemetrics.Metric) []string {
	if m.Labels == "" {
		return nil
	}
	return strings.Split(m.Labels, ", ")
}

// Describe sends the descriptions of all metrics.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		ch <- d
	}
}

// Collect sends the metrics as they are now, or the error that the node answered with.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s, err := nodemetrics.Take(ctx, c.node, c.version)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(c.failed, err)
		return
	}
	for i, m := range c.all {
		kind := prometheus.GaugeValue
		if m.Kind == metrics.Counter {
			kind = prometheus.CounterValue
		}
		m.Each(&s, func(v float64, pairs ...string) {
			values := make([]string, 0, len(pairs)/2)
			for k := 1; k < len(pairs); k += 2 { // in the order of the names
				values = append(values, pairs[k])
			}
			ch <- prometheus.MustNewConstMetric(c.descs[i], kind, v, values...)
		})
	}
}
