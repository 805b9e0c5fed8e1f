// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/nodemetrics"
	"github.com/utipc/utipc/test/tier"
)

const (
	rulesFile     = "../../packaging/prometheus/utipc.rules.yml"
	ruleTests     = "../../packaging/prometheus/utipc.test.yml"
	dashboardFile = "../../packaging/grafana/utipc.json"
)

// metricLabels are the metrics of the daemon by name, with their labels.
func metricLabels() map[string][]string {
	all := map[string][]string{}
	for _, m := range nodemetrics.All() {
		all["utipc_"+m.Name] = strings.FieldsFunc(m.Labels, func(r rune) bool { return strings.ContainsRune(", ", r) })
	}
	for _, m := range programMetrics {
		all["utipc_"+m.name] = nil
	}
	return all
}

var (
	metricName = regexp.MustCompile(`\butipc_[a-z_]+`)
	usedLabel  = regexp.MustCompile(`\{\{ ?(?:\$labels\.)?([a-z]+) ?\}\}`)
)

// checkQuery checks that a query has metrics that the daemon has, and that text has labels of
// these. Every series has the label instance.
func checkQuery(t *testing.T, where, query, text string) {
	t.Helper()
	known, labels := metricLabels(), []string{"instance"}
	names := metricName.FindAllString(query, -1)
	if len(names) == 0 && !strings.HasPrefix(query, "up{") {
		t.Errorf("%s: %q has no metric of the daemon", where, query)
	}
	for _, n := range names {
		has, ok := known[n]
		if !ok {
			t.Errorf("%s: the daemon has no metric %s", where, n)
		}
		labels = append(labels, has...)
	}
	for _, m := range usedLabel.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(labels, m[1]) {
			t.Errorf("%s: its metrics have no label %s", where, m[1])
		}
	}
}

// The alert rules ask for metrics that the daemon has, with the labels that it has, and each has a
// test.
//
// Mutations it catches: a metric or a label of a rule that is mistyped; a rule without a test.
//
// Proves: daemon.metrics
func TestAlertRules(t *testing.T) {
	b, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile(ruleTests)
	if err != nil {
		t.Fatal(err)
	}
	rules := strings.Split(string(b), "- alert: ")[1:]
	if len(rules) < 10 {
		t.Errorf("got %d rules", len(rules))
	}
	for _, r := range rules {
		name, r, _ := strings.Cut(r, "\n")
		_, r, _ = strings.Cut(r, "expr: ")
		query, text, _ := strings.Cut(r, "\n")
		checkQuery(t, name, query, text)
		if !strings.Contains(string(tests), "alertname: "+name+"\n") {
			t.Errorf("%s has no test in %s", name, ruleTests)
		}
	}
}

// The dashboard asks for metrics that the daemon has, and no two of its panels lie over each other.
//
// Mutations it catches: a metric or a label of a panel that is mistyped; two panels in one place.
//
// Proves: daemon.metrics
func TestDashboard(t *testing.T) {
	b, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		UID    string
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(b, &d); err != nil || d.UID == "" || len(d.Panels) < 10 {
		t.Fatalf("got %d panels, %v", len(d.Panels), err)
	}
	taken := map[string]string{}
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			checkQuery(t, p.Title, q.Expr, q.LegendFormat)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if at := fmt.Sprint(x, ",", y); x >= 24 || taken[at] != "" {
					t.Fatalf("%s lies over %s, or beyond the edge", p.Title, taken[at])
				} else {
					taken[at] = p.Title
				}
			}
		}
	}
}

// promtool takes the rules, and their tests pass. It is that of Debian's package prometheus, which
// is unpacked and not installed, so no service starts.
//
// Mutations it catches: an expression that is no PromQL; a threshold that is never reached; a
// comparison the wrong way round.
//
// Proves: daemon.metrics
func TestPromtool(t *testing.T) {
	tier.SkipShort(t, "downloads a package")
	t.Parallel()
	tool := promtool(t)
	for _, args := range [][]string{{"check", "rules", rulesFile}, {"test", "rules", ruleTests}} {
		if out, err := exec.CommandContext(t.Context(), tool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}

// promtool is the path of that program.
func promtool(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("promtool"); err == nil {
		return path
	}
	apt, err := filepath.Abs("../../test/apt")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	fetch := exec.CommandContext(t.Context(), apt, "download", "-q", "prometheus")
	fetch.Dir = dir
	if out, err := fetch.CombinedOutput(); err != nil {
		tier.Missing(t, "the package prometheus cannot be had:", err, string(out))
	}
	found, _ := filepath.Glob(filepath.Join(dir, "prometheus_*.deb"))
	if len(found) != 1 {
		t.Fatalf("got %d packages", len(found))
	}
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", `dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" ./usr/bin/promtool`, "sh", found[0], dir).CombinedOutput(); err != nil {
		t.Fatalf("dpkg-deb: %v\n%s", err, out)
	}
	return filepath.Join(dir, "usr", "bin", "promtool")
}
