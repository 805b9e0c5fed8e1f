// SPDX-License-Identifier: Apache-2.0

// Package tipcotel publishes the metrics of a node by OpenTelemetry.
//
//	registration, err := tipcotel.Register(provider.Meter("github.com/utipc/utipc"), node, "1.0")
//	defer registration.Unregister()
//
// Names, kinds and labels are those of the daemon's metrics for Prometheus, docs/reference/daemon.md; those of
// attached programs, utipc_daemon_, are the daemon's alone.
package tipcotel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/utipc/utipc/internal/metrics"
	"github.com/utipc/utipc/internal/nodemetrics"
	"github.com/utipc/utipc/stack"
)

// Register makes the instruments, and has the meter's provider ask the node whenever it collects,
// until Unregister is called. The version is the program's, an attribute of utipc_info. Errors
// are the meter's; those of a node that does not answer go where the provider reports errors.
func Register(m metric.Meter, n *stack.Node, version string) (metric.Registration, error) {
	all := nodemetrics.All()
	instruments := make([]metric.Float64Observable, len(all))
	asked := make([]metric.Observable, len(all))
	for i, x := range all {
		var err error
		if x.Kind == metrics.Counter {
			instruments[i], err = m.Float64ObservableCounter("utipc_"+x.Name, metric.WithDescription(x.Help))
		} else {
			instruments[i], err = m.Float64ObservableGauge("utipc_"+x.Name, metric.WithDescription(x.Help))
		}
		if err != nil {
			return nil, err
		}
		asked[i] = instruments[i]
	}
	return m.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		s, err := nodemetrics.Take(ctx, n, version)
		if err != nil {
			return err
		}
		for i, x := range all {
			x.Each(&s, func(v float64, pairs ...string) {
				var attributes []attribute.KeyValue
				for k := 0; k < len(pairs); k += 2 {
					attributes = append(attributes, attribute.String(pairs[k], pairs[k+1]))
				}
				o.ObserveFloat64(instruments[i], v, metric.WithAttributes(attributes...))
			})
		}
		return nil
	}, asked...)
}
