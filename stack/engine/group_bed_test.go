// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

const groupType = 4242

// A groupBed is a group with members on some nodes.
type groupBed struct {
	*bed
	in []*Group // in order of joining
}

func newGroupBed(t testing.TB, nodes int) *groupBed {
	t.Helper()
	b := &groupBed{bed: newBed(t, nodes)}
	if !b.until(longTime, func() bool {
		for _, n := range b.nodes {
			if n.ups != nodes-1 {
				return false
			}
		}
		return true
	}) {
		t.Fatal("no contact")
	}
	b.pass(time.Second)
	return b
}

// join makes a member on a node, and waits until all know it.
func (b *groupBed) join(node int, instance uint32, change ...func(*GroupConfig)) *Group {
	b.t.Helper()
	k := GroupConfig{Service: frame.Service{Type: groupType, Instance: instance}, Events: true}
	for _, f := range change {
		f(&k)
	}
	g, err := b.nodes[node].Join(b.now, k)
	if err != nil {
		b.t.Fatal(err)
	}
	b.in = append(b.in, g)
	if !b.until(longTime, func() bool {
		for _, x := range b.in {
			for _, y := range b.in {
				if x.closed || y.closed || x == y && !x.Loopback {
					continue
				}
				if m := x.find(y.Addr()); m == nil || m.phase != joined || m.flow.Window() == 0 {
					return false
				}
			}
		}
		return true
	}) {
		b.t.Fatalf("member %d of node %d is not known to all", instance, node)
	}
	return g
}

// read takes what waits, as "instance: text", "instance joined" and so on.
func (b *groupBed) read(g *Group) (all []string) {
	buf := make([]byte, frame.MaxPayload)
	for {
		n, r, ok := g.Read(b.now, buf)
		if !ok {
			return all
		}
		switch s := string(buf[:n]); {
		case r.Kind != GroupData:
			all = append(all, fmt.Sprint(r.Instance, " ", r.Kind))
		case n > 20:
			all = append(all, fmt.Sprintf("%d: %s, %d bytes", r.Instance, strings.TrimRight(s[:16], " \x00"), n))
		default:
			all = append(all, fmt.Sprintf("%d: %s", r.Instance, s))
		}
	}
}

func (b *groupBed) want(what string, g *Group, want ...string) {
	b.t.Helper()
	b.settle()
	got := b.read(g)
	first := slices.IndexFunc(got, func(s string) bool { return !strings.HasSuffix(s, "joined") })
	if first < 0 {
		first = len(got)
	}
	slices.Sort(got[:first]) // who is heard of first is a matter of time
	if !slices.Equal(got, want) {
		b.t.Errorf("%s: instance %d read %q, want %q", what, g.Service.Instance, got, want)
	}
}

// mustSend waits until a send is taken.
func (b *groupBed) mustSend(what string, send func() error) {
	b.t.Helper()
	var err error
	if !b.until(longTime, func() bool { err = send(); return err == nil || !connFull(err) }) || err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

// clean has all leave and checks that nothing is left.
func (b *groupBed) clean() {
	b.t.Helper()
	for _, g := range b.in {
		g.Leave(b.now)
		g.Leave(b.now)
	}
	b.pass(longTime)
	b.wantFree()
	for i, n := range b.nodes {
		s := &n.groups
		if len(s.all)+len(s.byType)+s.news.Len()+s.local.Len() > 0 || s.busy {
			b.t.Errorf("node %d: groups are left: %+v", i, s)
		}
		if n.Ports() != 0 || n.watches.Len() != 0 {
			b.t.Errorf("node %d: %d ports, %d subscriptions left", i, n.Ports(), n.watches.Len())
		}
	}
	for _, g := range b.in {
		if len(g.members) != 0 {
			b.t.Errorf("members are left: %d", len(g.members))
		}
	}
}
