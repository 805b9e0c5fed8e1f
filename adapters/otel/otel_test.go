// SPDX-License-Identifier: Apache-2.0

package tipcotel_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	tipcotel "github.com/utipc/utipc/adapters/otel"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/nodes"
)

// collect returns a node's metrics, by name.
func collect(ctx context.Context, n *stack.Node) (map[string]metricdata.Aggregation, error) {
	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))
	defer provider.Shutdown(ctx)
	if _, err := tipcotel.Register(provider.Meter("github.com/utipc/utipc"), n, "1.0"); err != nil {
		return nil, err
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &all); err != nil {
		return nil, err
	}
	found := map[string]metricdata.Aggregation{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			found[m.Name] = m.Data
		}
	}
	return found, nil
}

// What is published is documented, with the same kind, and a link to another node is there.
//
// Mutation it catches: another prefix; a counter that is a gauge; attributes that are exchanged.
func TestMetrics(t *testing.T) {
	nodes.Each(t, 2, func(t *testing.T, all []*stack.Node) {
		name := stack.Service{Type: 18888, Instance: 1}
		pc, err := all[0].ListenPacket(t.Context(), "tipcrdm", name)
		if err != nil {
			t.Fatal(err)
		}
		defer pc.Close()
		if err := all[1].WaitFor(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		documented, err := os.ReadFile("../../docs/reference/daemon.md")
		if err != nil {
			t.Fatal(err)
		}
		found, err := collect(t.Context(), all[1])
		if err != nil || len(found) < 40 {
			t.Fatalf("got %d metrics, %v", len(found), err)
		}
		for name, data := range found {
			kind := "gauge"
			if sum, ok := data.(metricdata.Sum[float64]); ok && sum.IsMonotonic {
				kind = "counter"
			}
			if !strings.Contains(string(documented), fmt.Sprintf("| `%s` | %s |", name, kind)) {
				t.Errorf("docs/reference/daemon.md has no %s of kind %s", name, kind)
			}
		}
		up := false
		for _, p := range found["utipc_link_up"].(metricdata.Gauge[float64]).DataPoints {
			peer, _ := p.Attributes.Value("peer")
			up = up || peer.AsString() == "1001001" && p.Value == 1
		}
		if !up {
			t.Errorf("the link to 1001001 is not up: %v", found["utipc_link_up"])
		}
	})
}

// An attached node that does not answer yields an error.
//
// Mutation it catches: an error that the callback drops.
func TestClosed(t *testing.T) {
	all := nodes.Open(t, nodes.Attached, 1)
	if err := all[0].Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := collect(t.Context(), all[0]); err == nil {
		t.Error("a node that is closed has metrics")
	}
}

// A program has a reader that sends what it collects somewhere, in place of this one.
func Example() {
	ctx := context.Background()
	node, err := stack.Open(ctx, stack.Config{NoBearers: true, Address: 1}) // in a program: Bearers
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close(ctx)
	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))
	defer provider.Shutdown(ctx)
	registration, err := tipcotel.Register(provider.Meter("github.com/utipc/utipc"), node, "1.0")
	if err != nil {
		log.Fatal(err)
	}
	defer registration.Unregister()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &all); err != nil {
		log.Fatal(err)
	}
	for _, m := range all.ScopeMetrics[0].Metrics {
		if m.Name == "utipc_connected_total" {
			fmt.Println(m.Name, m.Data.(metricdata.Sum[float64]).DataPoints[0].Value)
		}
	}
	// Output: utipc_connected_total 0
}
