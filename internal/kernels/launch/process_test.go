// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/kernels/halo"
	"github.com/utipc/utipc/internal/kernels/kernel"
	"github.com/utipc/utipc/internal/kernels/migrate"
	"github.com/utipc/utipc/internal/ranks"
	"github.com/utipc/utipc/test/tier"
)

// fails is a kernel whose rank 1 does.
var fails = kernel.Kernel{
	Name: "fails", Ranks: 2, Defaults: kernel.Config{Steps: 1, Size: 1},
	Run: func(ctx context.Context, p ranks.Place, _ kernel.Config) (r kernel.Result, err error) {
		c, err := ranks.Connect(ctx, p)
		if err != nil {
			return r, err
		}
		if p.Rank == 1 {
			return r, errors.New("as it should")
		}
		return r, c.Barrier()
	},
}

// This program is its own ranks.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == rankArg {
		err := Rank(context.Background(), os.Stdin, os.Stdout, func(name string) (kernel.Kernel, bool) {
			for _, k := range []kernel.Kernel{halo.Kernel, migrate.Kernel, fails} {
				if k.Name == name {
					return k, true
				}
			}
			return kernel.Kernel{}, false
		})
		if err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// site is one in namespaces, or the test is skipped.
func site(t *testing.T, ranks int) *Site {
	t.Helper()
	tier.SkipShort(t, "network namespaces")
	s, err := NewSite(ranks, []string{os.Args[0], rankArg})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if s.Where() != "namespaces" {
		tier.Missing(t, "root can make network namespaces, this user cannot")
	}
	return s
}

// A process a rank, on a cable and on a bridge, with burners and without.
//
// Proves: bench.kernels
func TestNamespaces(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks int
		o     Options
	}{
		{"halo", 2, Options{Kernel: halo.Kernel, Config: kernel.Config{Steps: 200}}},
		{"halo, burners", 2, Options{Kernel: halo.Kernel, Burn: true, Config: kernel.Config{Steps: 20}}},
		{"migrate", 3, Options{Kernel: migrate.Kernel, Config: kernel.Config{Steps: 1000, Size: 2}}},
	} {
		s := site(t, c.ranks)
		for _, over := range []string{UTIPC, TCP} {
			c.o.Over = over
			r, err := s.Run(t.Context(), c.o)
			if err != nil {
				t.Errorf("%s over %s: %v", c.name, over, err)
				continue
			}
			if r.Steps != c.o.Config.Steps || r.Checked == "" || r.Where != "namespaces" || r.Over != over {
				t.Errorf("%s over %s: got %+v", c.name, over, r)
			}
		}
	}
}

// Who may make no namespaces has the loopback interface.
//
// Proves: bench.kernels
func TestLoopback(t *testing.T) {
	s := &Site{program: []string{os.Args[0], rankArg}, hosts: loopback(2)}
	for _, over := range []string{UTIPC, TCP} {
		r, err := s.Run(t.Context(), Options{Kernel: halo.Kernel, Over: over, Config: kernel.Config{Steps: 100}})
		if err != nil || r.Steps != 100 || r.Where != "loopback" {
			t.Errorf("over %s: got %+v, %v", over, r, err)
		}
	}
}

// A rank's error is the run's, and ends the others.
//
// Proves: bench.kernels
func TestRankFails(t *testing.T) {
	s := &Site{program: []string{os.Args[0], rankArg}, hosts: loopback(2)}
	_, err := s.Run(t.Context(), Options{Kernel: fails, Over: TCP})
	if err == nil || !strings.Contains(err.Error(), "rank 1: as it should") {
		t.Errorf("got %v", err)
	}
}

// Proves: bench.kernels
func TestOptionsThatCannotBe(t *testing.T) {
	for _, o := range []Options{
		{Kernel: halo.Kernel, Ranks: 1},
		{Kernel: halo.Kernel, Ranks: MostRanks + 1},
		{Kernel: migrate.Kernel, Ranks: 2},
		{Kernel: halo.Kernel, Over: "smoke"},
		{Kernel: halo.Kernel, Wait: "never"},
		{Kernel: halo.Kernel, Config: kernel.Config{Steps: -1}},
	} {
		if _, err := InProcess(t.Context(), o); err == nil {
			t.Errorf("%+v is possible", o)
		}
	}
}

// What examples print: text, and a line of JSON that names everything.
//
// Proves: bench.kernels
func TestPrinted(t *testing.T) {
	o, err := Options{Kernel: migrate.Kernel, Burn: true}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	r := o.report("memory", kernel.Result{Value: 1234.5, P50: 7, Steps: 9, Checked: "all of it", Moves: &kernel.Moves{Count: 4}})
	var out bytes.Buffer
	r.write(&out)
	for _, want := range []string{"migrate over utipc, 3 ranks (memory), a burner on each core", "messages a second: 1234", "4 moves", "checked: all of it"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out.String())
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"name", "over", "what", "value", "unit", "p50", "p99", "steps", "size", "checked"} {
		if got[key] == nil {
			t.Errorf("no %q in %s", key, b)
		}
	}
}

// What an example's main does: flags in, a line of JSON out.
//
// Proves: bench.kernels
func TestFlags(t *testing.T) {
	var out bytes.Buffer
	args := []string{"-over", "tcp", "-steps", "50", "-size", "10", "-wait", "sleep", "-json"}
	if err := run(t.Context(), halo.Kernel, args, nil, &out); err != nil {
		t.Fatal(err)
	}
	var r Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%q: %v", out.String(), err)
	}
	if r.Over != TCP || r.Steps != 50 || r.Size != 10 || r.Wait != "sleep" || r.Ranks != 2 || !strings.Contains(r.Checked, "200 points") {
		t.Errorf("got %+v", r)
	}
	if err := run(t.Context(), halo.Kernel, []string{"-steps", "5", "more"}, nil, &out); err == nil {
		t.Error("an argument that is no flag is taken")
	}
}
