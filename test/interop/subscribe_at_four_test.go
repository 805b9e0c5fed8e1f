// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// Nodes of ours subscribe at the topology servers of kernels, and of each other, and
// are told the same by all.
//
// Proves: names.subscriptions
func TestSubscribeAtOnFour(t *testing.T) {
	f := newFour(t, 15*time.Minute)
	_ = t.Run("events", f.distantEvents) &&
		t.Run("unread", f.distantUnread) &&
		t.Run("loss", f.distantLoss)
}

// A distantSubscriber is a subscription of ours at a member.
type distantSubscriber struct {
	*stack.Subscription
	name   string
	server int
}

// subscribeAt subscribes at a member, from a node of ours.
func (f *four) subscribeAt(t *testing.T, client, server int, c stack.SubscriptionConfig, r stack.Range) *distantSubscriber {
	t.Helper()
	c.At = f.members[server].addr()
	s, err := c.Subscribe(f.ctx, f.members[client].(*ourMember).node, r)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return &distantSubscriber{Subscription: s, name: fmt.Sprintf("%+v at %d from %d", c, server, client), server: server}
}

// tells checks the next events.
func (s *distantSubscriber) tells(t *testing.T, ctx context.Context, what string, want ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, agreement)
	defer cancel()
	for i, w := range want {
		ev, err := s.Next(ctx)
		if err != nil {
			t.Fatalf("%s: %s: event %d: %v", s.name, what, i, err)
		}
		if ev.String() != w {
			t.Errorf("%s: %s: event %d: got %v, want %s", s.name, what, i, ev, w)
		}
	}
}

// happening is how an event reads.
func happening(verb string, r stack.Range, at stack.SocketAddr) string {
	return fmt.Sprintf("%s %v at %v", verb, r, at)
}

func (f *four) distantEvents(t *testing.T) {
	var ports, service, cluster, node, changes []*distantSubscriber
	in := func(lower, upper uint32) stack.Range { return stack.Range{Type: fourType, Lower: lower, Upper: upper} }
	x := f.bind(t, 2, 0, in(1, 10), stack.ClusterScope, 1)
	y := f.bind(t, 2, 1, in(1, 10), stack.ClusterScope, 1)
	f.agree(t)
	for _, client := range us {
		for server := range f.members {
			if server == client {
				continue
			}
			at := func(c stack.SubscriptionConfig) *distantSubscriber {
				return f.subscribeAt(t, client, server, c, in(0, 100))
			}
			ports = append(ports, at(stack.SubscriptionConfig{}))
			service = append(service, at(stack.SubscriptionConfig{Ranges: true}))
			cluster = append(cluster, at(stack.SubscriptionConfig{Scope: stack.ClusterScope}))
			node = append(node, at(stack.SubscriptionConfig{Scope: stack.NodeScope}))
			changes = append(changes, at(stack.SubscriptionConfig{Changes: true}))
		}
	}
	tell := func(what string, all []*distantSubscriber, want ...string) {
		t.Helper()
		for _, s := range all {
			s.tells(t, f.ctx, what, want...)
		}
	}
	first, second := happening("published", in(1, 10), x), happening("published", in(1, 10), y)
	tell("at first", ports, first, second)
	tell("at first", cluster, first, second)
	tell("at first", service, first)

	// In the order of one table only what one node does is told everywhere.
	z := f.bind(t, 0, 0, in(40, 55), stack.ClusterScope, 1)
	f.agree(t)
	for _, all := range [][]*distantSubscriber{ports, service, cluster, changes} {
		tell("a range", all, happening("published", in(40, 55), z))
	}
	f.close(t, 2, 0, x)
	f.close(t, 2, 1, y)
	f.agree(t)
	gone := []string{happening("withdrawn", in(1, 10), x), happening("withdrawn", in(1, 10), y)}
	tell("withdrawn", ports, gone...)
	tell("withdrawn", cluster, gone...)
	tell("withdrawn", changes, gone...)
	tell("withdrawn", service, gone[1])
	for i := range f.members {
		at := f.bind(t, i, 5, in(70, 70), stack.NodeScope, 1)
		f.agree(t)
		for _, s := range node {
			if s.server == i {
				s.tells(t, f.ctx, "node scope", happening("published", in(70, 70), at))
			}
		}
		f.close(t, i, 5, at)
		f.agree(t)
	}

	for server := range f.members {
		if server == us[0] {
			continue
		}
		began := time.Now()
		s := f.subscribeAt(t, us[0], server, stack.SubscriptionConfig{Timeout: 200 * time.Millisecond, Scope: stack.ClusterScope}, in(0, 100))
		s.tells(t, f.ctx, "before the timeout", happening("published", in(40, 55), z))
		if _, err := s.Next(f.ctx); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) < 200*time.Millisecond {
			t.Errorf("%s: %v after %v", s.name, err, time.Since(began))
		}
		links := f.subscribeAt(t, us[0], server, stack.SubscriptionConfig{}, stack.AllLinks)
		var got, want []string
		for i := range f.members {
			if i != server {
				a := f.members[i].addr()
				want = append(want, happening("published", stack.Range{Type: stack.LinkState, Lower: uint32(a), Upper: uint32(a)}, stack.SocketAddr{Node: f.members[server].addr()}))
				ev, err := links.Next(f.ctx)
				must(t, err)
				got = append(got, ev.String())
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: links: got %q, want %q", links.name, got, want)
		}
	}
}

// What a subscriber does not read a kernel keeps, all of it.
func (f *four) distantUnread(t *testing.T) {
	const many = 4000
	for _, server := range kernels {
		s := f.subscribeAt(t, us[0], server, stack.SubscriptionConfig{}, stack.Range{Type: castType, Upper: 1<<32 - 1})
		at := f.bind(t, server, 7, stack.Range{Type: castType}, stack.ClusterScope, many)
		f.agree(t)
		f.close(t, server, 7, at)
		f.agree(t)
		bound := map[stack.Range]bool{}
		for range 2 * many {
			ev, err := s.Next(f.ctx)
			if err != nil {
				t.Fatalf("%s: %v, %d are bound", s.name, err, len(bound))
			}
			if bound[ev.Range] != ev.Withdrawn {
				t.Fatalf("%s: %v, which it is already", s.name, ev)
			}
			if bound[ev.Range] = true; ev.Withdrawn {
				delete(bound, ev.Range)
			}
		}
		if len(bound) != 0 {
			t.Errorf("%s: %d are still bound", s.name, len(bound))
		}
	}
}

// A kernel that dies ends the subscriptions at it; one that was not there is no route.
func (f *four) distantLoss(t *testing.T) {
	s := f.subscribeAt(t, us[0], 1, stack.SubscriptionConfig{}, stack.Range{Type: otherType})
	f.kill(t, 1)
	began := time.Now()
	if ev, err := s.Next(f.ctx); !errors.Is(err, stack.ErrUnreachable) {
		t.Errorf("%s: got %v, %v", s.name, ev, err)
	}
	t.Logf("noticed after %v", time.Since(began).Round(time.Millisecond))
	_, err := stack.SubscriptionConfig{At: fourAddr(1)}.Subscribe(f.ctx, f.members[us[0]].(*ourMember).node, stack.Range{})
	if !errors.Is(err, stack.ErrUnreachable) {
		t.Errorf("then: got %v", err)
	}
}

// The tables of two kernels and two nodes of ours agree, as each of ours finds.
//
// Proves: names.audit
func TestAuditOnFour(t *testing.T) {
	f := newFour(t, 15*time.Minute)
	const perNode, types = 150, 300
	for i, m := range f.members {
		for k := range uint32(perNode) { // types that are one's own, and types of all
			m.bind(t, 1, stack.Range{Type: 20000 + (k*uint32(i+1))%types, Lower: k, Upper: k + k%3}, stack.ClusterScope, 1)
		}
		m.bind(t, 2, stack.Range{Type: 30000, Lower: 1, Upper: 9}, stack.ClusterScope, 1)
		m.bind(t, 2, stack.Range{Type: 30000, Lower: 1, Upper: 9}, stack.ClusterScope, 1) // once more
		m.bind(t, 3, stack.Range{Type: 30001, Lower: 1, Upper: 9}, stack.NodeScope, 1)
	}
	for f.audit(t) != nodesOfFour*(perNode+3) { // with {0,A,A} of each; nothing may differ before, either
		must(t, f.ctx.Err())
	}

	// While a kernel and one of ours change theirs.
	end := make(chan bool)
	ended := make(chan bool)
	go func() {
		defer close(ended)
		c := f.members[3].(*ourMember).sockets[1]
		for k := uint32(0); ; k++ {
			select {
			case <-end:
				return
			case <-time.After(time.Millisecond):
			}
			c.Bind(stack.Service{Type: 20000, Instance: 1000 + k})
			c.Unbind(stack.Service{Type: 20000, Instance: 980 + k})
		}
	}()
	for k := range uint32(3) {
		f.members[1].bind(t, 4, stack.Range{Type: 20001, Lower: 5000 * (k + 1), Upper: 5000 * (k + 1)}, stack.ClusterScope, 500)
		f.audit(t)
	}
	close(end)
	<-ended
	for _, m := range f.members {
		m.close(t, 1)
	}
	f.audit(t)
}

// auditSettle is how long what differs is given to arrive: longer than anybody stands still.
const auditSettle = 3 * time.Second

// audit compares the four's tables from each of ours, and returns how many bindings
// the one that was asked last has.
func (f *four) audit(t *testing.T) (bindings int) {
	t.Helper()
	for _, i := range us {
		began := time.Now()
		r, err := f.members[i].(*ourMember).node.Admin().Audit(f.ctx, admin.AuditConfig{
			Types: []uint32{30001, 40000}, Settle: auditSettle, Timeout: 2 * time.Minute,
		})
		must(t, err)
		var all []string
		for _, x := range r.Nodes {
			if x.Err != nil {
				t.Errorf("%v: %v", x.Node, x.Err)
			}
			for _, b := range x.Lacks {
				all = append(all, fmt.Sprint(x.Node, " lacks ", b.Range, b.Socket))
			}
			for _, b := range x.Extra {
				all = append(all, fmt.Sprint(x.Node, " alone has ", b.Range, b.Socket))
			}
		}
		if len(all) > 0 {
			t.Errorf("%v differences: %s", r.Differences(), strings.Join(all[:min(20, len(all))], "\n"))
		}
		if len(r.Nodes) != nodesOfFour-1 {
			t.Errorf("%d nodes asked", len(r.Nodes))
		}
		bindings = r.Bindings
		t.Logf("from %v: %d bindings, %d types, 3 nodes, in %v", r.Node, r.Bindings, len(r.Types), time.Since(began).Round(time.Millisecond))
	}
	return bindings
}
