// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/monitor"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// Four nodes watch each other, all at first, then by their neighbours, and what is
// printed is tipc(8)'s text; one that dies without a word is seen to be down.
//
// Proves: contact.monitor
func TestMonitor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Config{})
		gone, cancel := context.WithCancel(context.Background())
		cancel() // those that close say goodbye to nobody
		var all [4]*stack.Node
		var ports [4]*hub.Port
		for i := range all {
			p, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
			if err != nil {
				t.Fatal(err)
			}
			ports[i] = p
			n, err := stack.Open(t.Context(), stack.Config{
				Bearers: []stack.Bearer{p}, Address: stack.NodeAddr(0x1001001 + i), Wait: stack.Sleep, Chunks: 256, MonitorThreshold: 4,
			})
			if err != nil {
				t.Fatal(err)
			}
			all[i] = n
			defer n.Close(gone)
		}
		<-time.After(3 * time.Second)
		one := func() *admin.Monitor {
			t.Helper()
			m := must.Get(all[0].Admin().Monitor(context.Background()))
			if len(m) != 1 {
				t.Fatalf("got %d bearers", len(m))
			}
			return &m[0]
		}
		m := one()
		if want := "full-mesh"; m.Algorithm() != want || m.Size != 4 || m.Threshold != 4 || m.Active {
			t.Errorf("got %+v, %s, want %s of 4", m.Status, m.Algorithm(), want)
		}
		for i, n := range []int{0, 4096, -1} {
			err := all[0].Admin().SetMonitorThreshold(context.Background(), n)
			if op := new(net.OpError); !errors.Is(err, stack.ErrConfig) || !errors.As(err, &op) || op.Op != "set" {
				t.Errorf("%d: threshold %d: got %v", i, n, err)
			}
		}
		for _, n := range all {
			if err := n.Admin().SetMonitorThreshold(context.Background(), 2); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(3 * time.Second)
		m = one()
		want := "\nbearer eth:eth0\n    table_generation " + generation(m) + "\n    cluster_size 4\n    algorithm overlapping-ring\n"
		if got := m.Summary(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		for i := range m.Members {
			if m.Members[i].Generation == 0 {
				t.Errorf("nothing was told by %v", m.Members[i].Node)
			}
			m.Members[i].Generation = 7
		}
		want = `
bearer eth:eth0
node          status monitored generation applied_node_status [non_applied_node:status]
1.1.1         up     direct    7          U []
1.1.2         up     direct    7          U []
1.1.3         up     direct    7          U []
1.1.4         up     indirect  7          U []
`
		if got := m.String(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		ports[3].Close()
		<-time.After(10 * time.Second)
		if r := one().Members[3]; r.Up || r.Direct {
			t.Errorf("of a dead node: got %+v", r)
		}
	})
}

// All that the text of a row can hold: groups of five, and members that are not where
// their owner has them.
//
// Proves: contact.monitor
func TestMonitorText(t *testing.T) {
	x := func(n int, up ...bool) (m []monitor.Member) {
		for i, u := range up {
			m = append(m, monitor.Member{Node: stack.NodeAddr(0x1001000 + n + i), Up: u})
		}
		return m
	}
	m := admin.Monitor{Bearer: "udp:UDP1", Members: []monitor.Row{
		{Node: 0x1001001, Up: true, Direct: true, Generation: 65535, Applied: x(2, true, true, false, true, true, false)},
		{Node: 0x1001002, Up: true, Generation: 3, Rest: x(9, true, false)},
		{Node: 0xffffffff},
	}}
	want := `
bearer udp:UDP1
node          status monitored generation applied_node_status [non_applied_node:status]
1.1.1         up     direct    65535      UUDUU,D []
1.1.2         up     indirect  3           [1001009:U,100100a:D]
255.4095.4095 down   indirect  0          
`
	if got := m.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func generation(m *admin.Monitor) string { return fmt.Sprint(uint16(m.Generation)) }
