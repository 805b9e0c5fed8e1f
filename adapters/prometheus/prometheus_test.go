// SPDX-License-Identifier: Apache-2.0

package tipcprometheus_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	tipcprometheus "github.com/utipc/utipc/adapters/prometheus"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/nodes"
)

// scrape returns the page that a Prometheus server would read.
func scrape(n *stack.Node) string {
	registry := prometheus.NewPedanticRegistry() // it checks what is collected against what is described
	registry.MustRegister(tipcprometheus.NewCollector(n, "1.0"))
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// What a node's page has is documented, with the same kind, and a link to another node is there.
//
// Mutation it catches: another prefix; a counter that is a gauge; labels in another order.
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
		page := scrape(all[1])
		documented, err := os.ReadFile("../../docs/reference/daemon.md")
		if err != nil {
			t.Fatal(err)
		}
		kinds := regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`).FindAllStringSubmatch(page, -1)
		if len(kinds) < 40 {
			t.Errorf("got %d metrics:\n%s", len(kinds), page)
		}
		for _, k := range kinds {
			if !strings.Contains(string(documented), fmt.Sprintf("| `%s` | %s |", k[1], k[2])) {
				t.Errorf("docs/reference/daemon.md has no %s of kind %s", k[1], k[2])
			}
		}
		if line := regexp.MustCompile(`(?m)^utipc_link_up\{bearer="[^"]+",peer="1001001"\} 1$`); !line.MatchString(page) {
			t.Errorf("the link to 1001001 is not up:\n%s", page)
		}
	})
}

// An attached node that does not answer yields an error, and no figures.
//
// Mutation it catches: an error that Collect drops.
func TestClosed(t *testing.T) {
	all := nodes.Open(t, nodes.Attached, 1)
	if err := all[0].Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(tipcprometheus.NewCollector(all[0], "1.0"))
	if _, err := registry.Gather(); err == nil {
		t.Error("a node that is closed has metrics")
	}
}

// The collector is registered once; what reads the registry asks the node each time.
func Example() {
	ctx := context.Background()
	node, err := stack.Open(ctx, stack.Config{NoBearers: true, Address: 1}) // in a program: Bearers
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close(ctx)
	registry := prometheus.NewRegistry() // or prometheus.DefaultRegisterer
	registry.MustRegister(tipcprometheus.NewCollector(node, "1.0"))
	families, err := registry.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "utipc_connected_total" {
			fmt.Println(f.GetName(), f.GetMetric()[0].GetCounter().GetValue())
		}
	}
	// Output: utipc_connected_total 0
}
