// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// auditBed opens nodes on a hub; the clock is a bubble's.
func auditBed(t *testing.T, nodes int) (all []*stack.Node, wires []*fault.Injector) {
	t.Helper()
	h := hub.New(hub.Config{})
	for i := range nodes {
		port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		wire := fault.New(port, fault.Config{})
		n, err := stack.Open(t.Context(), stack.Config{Bearers: []stack.Bearer{wire}, Address: stack.NodeAddr(0x1001001 + i), Wait: stack.Sleep, Chunks: 512})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			n.Close(ctx)
		})
		all, wires = append(all, n), append(wires, wire)
	}
	return all, wires
}

// Tables that agree, of nodes that are still about to find each other.
func TestAuditOfAgreement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, _ := auditBed(t, 3)
		for _, n := range all[1:] {
			if _, err := n.ListenPacket(t.Context(), "tipcrdm", stack.Service{Type: 18888, Instance: 17}); err != nil {
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		a := auditor{wait: 10 * time.Second}
		a.Types = []uint32{7000}
		err := a.run(t.Context(), all[0], &out)
		want := "audit: node 1001001, 5 bindings, 3 types asked about\n1001002 5 bindings, 0 differences\n1001003 5 bindings, 0 differences\ndifferences: 0\n"
		if err != nil || out.String() != want {
			t.Errorf("%v, got\n%s, want\n%s", err, out.String(), want)
		}
	})
}

// Nobody heard, and a node that does not answer, are no agreement.
func TestAuditOfSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, wires := auditBed(t, 2)
		if _, err := (&auditor{wait: 10 * time.Second}).meet(t.Context(), all[0]); err != nil {
			t.Fatal(err)
		}
		wires[1].Set(fault.Config{In: fault.Faults{Loss: 1}, Out: fault.Faults{Loss: 1}})
		a := auditor{wait: time.Second, AuditConfig: admin.AuditConfig{Timeout: time.Second}}
		for _, what := range []string{"no answer", "no link is up"} {
			var out bytes.Buffer
			err := a.run(t.Context(), all[0], &out)
			if err == nil || err.Error() != "1 nodes could not be asked" || !strings.Contains(out.String(), "1001002 not asked: ") ||
				!strings.HasSuffix(out.String(), "\ndifferences: 0\n") {
				t.Errorf("%s: %v, %q", what, err, out.String())
			}
			<-time.After(5 * time.Second) // until contact is lost
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := a.run(ctx, all[0], &bytes.Buffer{}); err == nil || err.Error() != "interrupted" {
			t.Errorf("got %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		all, _ := auditBed(t, 1)
		if err := (&auditor{wait: 3 * time.Second}).run(t.Context(), all[0], &bytes.Buffer{}); err == nil || err.Error() != "no other node was heard within 3s" {
			t.Errorf("got %v", err)
		}
	})
}

func TestPrintAudit(t *testing.T) {
	b := stack.Binding{Range: stack.Range{Type: 18888, Lower: 17, Upper: 19}, Scope: stack.ClusterScope, Socket: stack.SocketAddr{Node: 0x1001002, Port: 7}}
	r := &admin.AuditReport{Node: 0x1001001, Bindings: 9, Types: []uint32{0, 18888}, Nodes: []admin.NodeAudit{
		{Node: 0x1001002, Bindings: 10, Extra: []stack.Binding{b}},
		{Node: 0x1001003, Err: errors.New("gone")},
		{Node: 0x1001004, Bindings: 8, Lacks: []stack.Binding{b}},
	}}
	var out bytes.Buffer
	err := printAudit(&out, r)
	want := `audit: node 1001001, 9 bindings, 2 types asked about
1001002 10 bindings, 1 differences
    only there: 18888:17-19 of <1001002:7>
1001003 not asked: gone
1001004 8 bindings, 1 differences
    not there:  18888:17-19 of <1001002:7>
differences: 2
`
	j, _ := json.Marshal(auditJSON(r))
	if want := `{"node":"1001001","bindings":9,"types":[0,18888],"nodes":[{"node":"1001002","bindings":10,"extra":[{"name":"18888:17-19","socket":"\u003c1001002:7\u003e"}]},{"node":"1001003","bindings":0,"error":"gone"},{"node":"1001004","bindings":8,"lacks":[{"name":"18888:17-19","socket":"\u003c1001002:7\u003e"}]}],"differences":2}`; string(j) != want {
		t.Errorf("got %s", j)
	}
	if got := fmt.Sprint(err); out.String() != want || got != "the tables differ in 2 bindings\n1 nodes could not be asked" {
		t.Errorf("got %s\n%s", got, out.String())
	}
}

func TestAuditMisuse(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--address", "1.1.1"}, "--address: only with --if or --udp"},
		{[]string{"--if", "x", "y"}, "too many arguments"},
		{[]string{"--if", "x", "--types", "1,,2"}, `"" is no service type`},
		{[]string{"--if", "x", "--types", "4294967296"}, `"4294967296" is no service type`},
		{[]string{"--if", "x", "--wait", "0"}, "--wait and --timeout"},
		{[]string{"--if", "x", "--timeout", "-1s"}, "--wait and --timeout"},
	} {
		_, errs, code := utipc(nil, append([]string{"audit"}, c.args...)...)
		if code != cmdline.Misuse || !strings.Contains(errs, c.want) {
			t.Errorf("%q: exit %d, %q; want %d, %q", c.args, code, errs, cmdline.Misuse, c.want)
		}
	}
}
