// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/internal/local"
	"github.com/utipc/utipc/stack/internal/poll"
)

// forge makes a node's table wrong.
func (w ward) forge(b stack.Binding, withdrawn bool) {
	inside(w.Node).Loop().Lock()
	defer inside(w.Node).Loop().Unlock()
	inside(w.Node).Engine().Forge(b, withdrawn)
	inside(w.Node).PollOnce(inside(w.Node).Loop().Now(), false)
}

func mustAudit(t *testing.T, c admin.AuditConfig, w ward) *admin.AuditReport {
	t.Helper()
	r, err := w.Node.Admin().Audit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Nodes {
		if x.Err != nil {
			t.Errorf("node %v: %v", x.Node, x.Err)
		}
	}
	return r
}

// found is what a report has found, in short.
func found(r *admin.AuditReport) (all []string) {
	for _, x := range r.Nodes {
		for _, b := range x.Lacks {
			all = append(all, fmt.Sprintf("%v lacks %v %v %d %v", x.Node, b.Range, b.Socket, b.Key, b.Scope))
		}
		for _, b := range x.Extra {
			all = append(all, fmt.Sprintf("%v has %v %v %d %v", x.Node, b.Range, b.Socket, b.Key, b.Scope))
		}
	}
	return all
}

// Nodes that agree: types by the hundred, ranges that overlap, a socket bound to one
// range several times, names of node scope.
//
// Proves: names.audit
func TestAuditOfEqualTables(t *testing.T) {
	inWard(t, 4, func(t *testing.T, all []ward) {
		for i, n := range all {
			c := openWith(t, n.Node, stack.SocketConfig{}, nil)
			openWith(t, n.Node, stack.SocketConfig{Scope: stack.NodeScope}, absent)
			types := uint32(300)
			if i == 0 {
				types = 1100 // more than a service takes of one connection
			}
			for k := range types {
				if err := c.Bind(stack.Range{Type: 100 + k, Lower: uint32(i), Upper: uint32(i) + k%3}); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 {
				c.Bind(absent)
			}
		}
		<-time.After(100 * time.Millisecond)
		r := mustAudit(t, admin.AuditConfig{}, all[1])
		if r.Node != 2 || r.Bindings != 4*304+800 || len(r.Types) != 1102 || len(r.Nodes) != 3 || r.Differences() != 0 || r.Unasked() != 0 {
			t.Errorf("got %d bindings of %d types, %q", r.Bindings, len(r.Types), found(r))
		}
		for i, at := range []stack.NodeAddr{1, 3, 4} {
			if x := r.Nodes[i]; x.Node != at || x.Bindings != r.Bindings {
				t.Errorf("node %v: %d bindings", x.Node, x.Bindings)
			}
		}
	})
}

// What one table has and another has not is found, in both directions, also one more of
// a binding that all have.
//
// Proves: names.audit
func TestAuditFindsDifferences(t *testing.T) {
	inWard(t, 3, func(t *testing.T, all []ward) {
		c := openWith(t, all[0].Node, stack.SocketConfig{}, absent)
		c.Bind(absent)
		<-time.After(10 * time.Millisecond)
		at := insidePacket(c).Addr()
		of := func(typ, lower, key uint32) stack.Binding {
			return stack.Binding{Range: stack.Range{Type: typ, Lower: lower, Upper: lower}, Scope: stack.ClusterScope, Socket: at, Key: key}
		}
		all[0].forge(of(18888, 1, 1), false)  // node 1 alone has it
		all[1].forge(of(18888, 2, 1), false)  // node 2 alone
		all[1].forge(of(18888, 17, 9), false) // once more than it is bound
		all[2].forge(of(200, 3, 9), false)    // of a type that node 1 does not know
		for _, b := range must.Get(all[2].Admin().Names(context.Background())) {
			if b.Range == (stack.Range{Type: stack.NodeState, Lower: 2, Upper: 2}) {
				all[2].forge(b, true)
			}
		}
		socket := at.String()
		want := []string{
			"2 lacks 18888:1-1 " + socket + " 0 cluster",
			"2 has 18888:2-2 " + socket + " 0 cluster",
			"2 has 18888:17-17 " + socket + " 0 cluster",
			"3 lacks 0:2-2 <2:0> 0 cluster",
			"3 lacks 18888:1-1 " + socket + " 0 cluster",
		}
		r := mustAudit(t, admin.AuditConfig{}, all[0])
		if got := found(r); !slices.Equal(got, want) || r.Differences() != len(want) {
			t.Errorf("got\n%q, want\n%q", got, want)
		}
		r = mustAudit(t, admin.AuditConfig{Types: []uint32{200, 201, 18888}}, all[0])
		if got, want := found(r), append(want, "3 has 200:3-3 "+socket+" 0 cluster"); !slices.Equal(got, want) {
			t.Errorf("got\n%q, want\n%q", got, want)
		}
	})
}

// A difference that is over when it is asked about again is none; the table that
// changed may be either.
func TestAuditAsksAgain(t *testing.T) {
	inWard(t, 2, func(t *testing.T, all []ward) {
		for i, w := range all {
			b := stack.Binding{Range: stack.Range{Type: 100, Lower: 1, Upper: 1}, Scope: stack.ClusterScope, Socket: stack.SocketAddr{Node: 9, Port: 9}, Key: 9}
			w.forge(b, false)
			done := make(chan *admin.AuditReport)
			began := time.Now()
			go func() { done <- mustAudit(t, admin.AuditConfig{Types: []uint32{100}, Settle: time.Second}, all[0]) }()
			<-time.After(500 * time.Millisecond)
			w.forge(b, true)
			b.Range.Lower--
			w.forge(b, false)
			if r := <-done; r.Differences() != 0 {
				t.Errorf("change at %d: %q", i+1, found(r))
			}
			if took := time.Since(began); took < time.Second || took > 1100*time.Millisecond {
				t.Errorf("it took %v", took)
			}
			w.forge(b, true)
		}
	})
}

// While names come and go all the time there is nothing to report.
//
// Proves: names.audit
func TestAuditUnderChurn(t *testing.T) {
	inWard(t, 3, func(t *testing.T, all []ward) {
		end := make(chan bool)
		var binders sync.WaitGroup
		for _, n := range all {
			c := openWith(t, n.Node, stack.SocketConfig{}, absent)
			binders.Go(func() {
				for k := uint32(0); ; k++ {
					select {
					case <-end:
						return
					case <-time.After(time.Millisecond / 4):
					}
					c.Bind(stack.Service{Type: 100, Instance: k})
					if k >= 20 {
						c.Unbind(stack.Service{Type: 100, Instance: k - 20})
					}
				}
			})
		}
		for range 5 {
			if r := mustAudit(t, admin.AuditConfig{Types: []uint32{100}}, all[0]); r.Differences() != 0 {
				t.Errorf("got %q", found(r))
			}
		}
		close(end)
		binders.Wait()
	})
}

// A node that does not answer is reported, and the others are asked all the same.
func TestAuditOfASilentNode(t *testing.T) {
	inWard(t, 3, func(t *testing.T, all []ward) {
		all[1].cut()
		began := time.Now()
		r, err := all[0].Node.Admin().Audit(t.Context(), admin.AuditConfig{Timeout: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("it took %v", took)
		}
		if x := r.Nodes[0]; x.Node != 2 || !errors.Is(x.Err, os.ErrDeadlineExceeded) || r.Unasked() != 1 {
			t.Errorf("node %v: %v", x.Node, x.Err)
		}
		if x := r.Nodes[1]; x.Node != 3 || x.Err != nil || x.Bindings != 3 {
			t.Errorf("node %v: %v", x.Node, x.Err)
		}
		<-time.After(5 * time.Second) // contact is lost by now
		if r := mustAudit(t, admin.AuditConfig{}, all[0]); len(r.Nodes) != 1 || r.Nodes[0].Node != 3 || r.Differences() != 0 {
			t.Errorf("got %+v", r.Nodes)
		}
	})
}

// Proves: names.audit
func TestAuditEnds(t *testing.T) {
	inWard(t, 2, func(t *testing.T, all []ward) {
		if _, err := all[0].Node.Admin().Audit(t.Context(), admin.AuditConfig{Settle: -1}); !errors.Is(err, stack.ErrConfig) {
			t.Errorf("got %v", err)
		}
		all[1].cut()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := all[0].Admin().Audit(ctx, admin.AuditConfig{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		ended := make(chan error)
		go func() {
			_, err := all[0].Admin().Audit(t.Context(), admin.AuditConfig{})
			ended <- err
		}()
		<-time.After(100 * time.Millisecond)
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		all[0].Close(ctx)
		var op *net.OpError
		if err := <-ended; !errors.Is(err, net.ErrClosed) || !errors.As(err, &op) || op.Op != "audit" {
			t.Errorf("got %v", err)
		}
		if _, err := all[0].Admin().Audit(t.Context(), admin.AuditConfig{}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	})
	inWard(t, 2, func(t *testing.T, all []ward) { // while what differs has time to settle
		all[0].forge(stack.Binding{Range: stack.Range{Type: 100}, Scope: stack.ClusterScope, Socket: stack.SocketAddr{Node: 9, Port: 9}}, false)
		ended := make(chan error)
		go func() {
			_, err := all[0].Node.Admin().Audit(t.Context(), admin.AuditConfig{Settle: time.Second})
			ended <- err
		}()
		<-time.After(500 * time.Millisecond)
		all[0].Close(t.Context())
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

// A topology service that answers what it was not asked, or without end, is given up.
func TestAuditOfAnImpostor(t *testing.T) {
	x := naming.Subscription{Range: stack.Range{Type: 100, Upper: 1<<32 - 1}, Filter: frame.FilterPorts | frame.FilterClusterScope}
	_, record := naming.AskOnce(&x, 0)
	_, unasked := naming.AskOnce(&x, 7)
	event := func(typ frame.EventType, of []byte, lower uint32) []byte {
		s, err := frame.ParseSubscription(of, frame.LittleEndian)
		if err != nil {
			t.Fatal(err)
		}
		f := frame.TopologyEventFields{Type: typ, Lower: lower, Upper: lower, Port: 7, Node: 2, Subscription: s.Fields()}
		return f.Append(nil)
	}
	a, b, over := event(frame.Published, record, 5), event(frame.Published, record, 6), event(frame.TimedOut, record, 0)
	for _, c := range []struct {
		name string
		say  [][]byte
		want error
		told int
	}{
		{"good", [][]byte{a, b, a, event(frame.Withdrawn, record, 6), over}, nil, 2},
		{"never bound", [][]byte{a, event(frame.Withdrawn, record, 6), over}, stack.ErrTopology, 0},
		{"not asked", [][]byte{a, event(frame.Published, unasked, 5), over}, stack.ErrTopology, 0},
		{"short", [][]byte{a[:40]}, stack.ErrTopology, 0},
		{"long", [][]byte{append(slices.Clone(a), 0), over}, stack.ErrTopology, 0},
		{"too many", [][]byte{a, b, a, b, a, b, a, over}, stack.ErrTopology, 0},
		{"no end", [][]byte{a}, os.ErrDeadlineExceeded, 0},
	} {
		inWard(t, 2, func(t *testing.T, all []ward) {
			n := all[0].Node
			p := newImpostor(t, all[1].Node)
			remote, _ := naming.AskOnce(&x, 0)
			q := local.NewInquiry(inside(n), 2, time.Second, remote, func(wait *poll.List) *local.Line {
				return p.dial(t, n, record, wait, nil, c.say...)
			})
			inside(n).Loop().Lock()
			began := time.Now()
			err := q.Run(t.Context())
			q.Line().Close()
			inside(n).Loop().Unlock()
			if !errors.Is(err, c.want) || err == nil && q.Told() != c.told {
				t.Errorf("%s: %v, told of %d; want %v, %d", c.name, err, q.Told(), c.want, c.told)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("%s: it took %v", c.name, took)
			}
			<-time.After(10 * time.Millisecond)
			p.close()
		})
	}
}
