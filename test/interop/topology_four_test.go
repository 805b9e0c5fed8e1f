// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/interop/rig"
)

// Filter bits of a subscription.
const (
	subPorts    = 0x01
	subService  = 0x02
	subCancel   = 0x04
	subCluster  = 0x20
	subNode     = 0x40
	subNoStatus = 0x80

	forever = 0xffffffff // timeout
)

// A subscriber is a program in a kernel's world, connected to a topology server.
type subscriber struct {
	f      *four
	name   string
	server int // member
	swap   bool
	job    *rig.Job
	fences int
}

// subscriber connects a program of a kernel to the topology server of a member.
func (f *four) subscriber(t *testing.T, client, server int, swap bool) *subscriber {
	t.Helper()
	args := []string{"topology"}
	order := "native"
	if client != server {
		args = append(args, "-N", fmt.Sprintf("%x", uint32(f.members[server].addr())))
	}
	if swap {
		args = append(args, "-swap")
		order = "swapped"
	}
	j, err := f.members[client].(*kernelMember).job(args...)
	must(t, err)
	t.Cleanup(func() { j.Kill() })
	return &subscriber{f: f, name: fmt.Sprintf("%s order, at %d from %d", order, server, client), server: server, swap: swap, job: j}
}

// ask sends a subscription.
func (s *subscriber) ask(t *testing.T, r stack.Range, timeout, filter uint32, handle string) {
	t.Helper()
	must(t, s.job.Send(fmt.Sprintf("%d %d %d %d %d %s", r.Type, r.Lower, r.Upper, timeout, filter, handle)))
}

// events returns those that came since the last call, as "HANDLE KIND RANGE SOCKET",
// in the order of their handles. It sends a subscription that ends at once: what is before its end has come.
func (s *subscriber) events(t *testing.T) (all []string) {
	t.Helper()
	s.fences++
	fence := fmt.Sprintf("fence%d", s.fences)
	s.ask(t, stack.Range{Type: 1 << 31}, 0, subPorts, fence)
	return s.until(t, "timeout", fence)
}

// until returns the events until one of a kind for a handle.
func (s *subscriber) until(t *testing.T, kind, handle string) (all []string) {
	t.Helper()
	for {
		line, err := s.job.Expect(s.f.ctx, "event ")
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		ev, err := parseEvent(line)
		must(t, err)
		if ev.kind == kind && ev.handle == handle {
			break
		}
		all = append(all, s.text(ev.handle, ev.kind, ev.bound))
	}
	return byHandle(all)
}

// byHandle puts events in the order of their handles. Those of one handle keep theirs.
func byHandle(all []string) []string {
	slices.SortStableFunc(all, func(a, b string) int {
		a, _, _ = strings.Cut(a, " ")
		b, _, _ = strings.Cut(b, " ")
		return strings.Compare(a, b)
	})
	return all
}

// text is an event as it is compared. Kernels swap the range of a timeout once too
// often for subscribers of the other byte order.
func (s *subscriber) text(handle, kind string, x bound) string {
	if kind == "timeout" {
		return handle + " timeout"
	}
	return fmt.Sprintf("%s %s %v %v", handle, kind, x.Range, x.Socket)
}

// tells checks the events that came since the last call.
func (s *subscriber) tells(t *testing.T, what string, want ...string) {
	t.Helper()
	got := s.events(t)
	if byHandle(want); !slices.Equal(got, want) {
		t.Errorf("%s: %s: got\n\t%s\nwant\n\t%s", s.name, what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// Programs of a kernel subscribe at its own topology server, at the other kernel's and
// at ours, in both byte orders, and are told the same.
//
// Proves: names.subscriptions
func TestTopologyOnFour(t *testing.T) {
	f := newFour(t, 15*time.Minute)
	_ = t.Run("events", f.topologyEvents) &&
		t.Run("records", f.topologyRecords) &&
		t.Run("links", f.topologyLinks)
}

// topologyServers are the members whose servers are asked.
func topologyServers() []int { return everybody }

// about makes the events that subscriptions with these handles get.
func about(kind string, r stack.Range, at stack.SocketAddr, handles ...string) (all []string) {
	for _, h := range handles {
		all = append(all, fmt.Sprintf("%s %s %v %v", h, kind, r, at))
	}
	return all
}

func (f *four) topologyEvents(t *testing.T) {
	const client = 1
	var all []*subscriber
	for _, server := range topologyServers() {
		for _, swap := range []bool{false, true} {
			all = append(all, f.subscriber(t, client, server, swap))
		}
	}
	tell := func(what string, want ...string) {
		t.Helper()
		f.agree(t)
		for _, s := range all {
			s.tells(t, what, want...)
		}
	}
	ask := func(r stack.Range, timeout, filter uint32, handle string) {
		t.Helper()
		for _, s := range all {
			s.ask(t, r, timeout, filter, handle)
		}
	}
	in := func(lower, upper uint32) stack.Range { return stack.Range{Type: fourType, Lower: lower, Upper: upper} }
	const cluster, node = stack.ClusterScope, stack.NodeScope

	// What is there beforehand, all of one node, so that the order is the same in all
	// tables.
	a := f.bind(t, 2, 0, in(1, 10), cluster, 1)
	f.bind(t, 2, 0, in(5, 20), cluster, 1)
	b := f.bind(t, 2, 1, in(1, 10), cluster, 1)
	f.agree(t)
	ask(in(0, 100), forever, subPorts, "ports")
	ask(in(0, 100), forever, subService, "service")
	ask(in(50, 60), forever, subPorts, "part")
	ask(in(0, 100), forever, subPorts|subNoStatus, "changes")
	ask(in(0, 100), forever, subPorts|subCluster, "cluster")
	ask(in(0, 100), forever, subPorts|subNode, "node")
	first := about("published", in(1, 10), a, "ports", "service", "cluster")
	first = append(first, about("published", in(5, 20), a, "ports", "service", "cluster")...)
	tell("at first", append(first, about("published", in(1, 10), b, "ports", "cluster")...)...)

	c := f.bind(t, 0, 0, in(1, 10), cluster, 1)
	tell("one more of a range", about("published", in(1, 10), c, "ports", "changes", "cluster")...)
	d := f.bind(t, 3, 0, in(40, 55), cluster, 1)
	tell("a range", about("published", in(40, 55), d, "ports", "service", "part", "changes", "cluster")...)
	ask(in(50, 60), forever, subPorts|subCancel, "part")
	ask(in(0, 100), forever, subPorts|subCancel, "changed") // no such subscription
	tell("cancelled")
	f.unbind(t, 3, 0, d, in(40, 55), cluster, 1)
	tell("withdrawn", about("withdrawn", in(40, 55), d, "ports", "service", "changes", "cluster")...)
	f.close(t, 2, 1, b)
	tell("one of three withdrawn", about("withdrawn", in(1, 10), b, "ports", "changes", "cluster")...)
	f.close(t, 0, 0, c)
	tell("the second of three", about("withdrawn", in(1, 10), c, "ports", "changes", "cluster")...)
	f.unbind(t, 2, 0, a, in(1, 10), cluster, 1)
	tell("the last of three", about("withdrawn", in(1, 10), a, "ports", "service", "changes", "cluster")...)

	// Of node scope: told by the own node's server only.
	for i := range f.members {
		at := f.bind(t, i, 5, in(70, 70), node, 1)
		f.agree(t)
		for _, s := range all {
			var want []string
			if s.server == i {
				want = about("published", in(70, 70), at, "ports", "service", "changes", "node")
			}
			s.tells(t, fmt.Sprintf("node scope of %d", i), want...)
		}
		f.close(t, i, 5, at)
		f.agree(t)
		for _, s := range all {
			s.events(t)
		}
	}

	// Subscriptions that end by themselves. (Kernels may swap two timeouts that are due
	// at once, so there is one at a time.)
	for _, timeout := range []uint32{0, 200} {
		began := time.Now()
		ask(in(0, 100), timeout, subPorts, "brief")
		for _, s := range all {
			want := about("published", in(5, 20), a, "brief")
			if got := s.until(t, "timeout", "brief"); !slices.Equal(got, want) {
				t.Errorf("%s: before the timeout got %q, want %q", s.name, got, want)
			}
		}
		if took := time.Since(began); took < time.Duration(timeout)*time.Millisecond {
			t.Errorf("a timeout of %d ms came after %v", timeout, took)
		}
	}
	f.close(t, 2, 0, a)
	tell("after the timeout", about("withdrawn", in(5, 20), a, "ports", "service", "changes", "cluster")...)

	// Nodes.
	nodes := stack.Range{Type: stack.NodeState, Upper: 1<<32 - 1}
	ask(nodes, forever, subService, "nodes")
	var want []string
	for i := range f.members {
		a := f.members[i].addr()
		want = append(want, about("published", stack.Range{Type: stack.NodeState, Lower: uint32(a), Upper: uint32(a)}, stack.SocketAddr{Node: a}, "nodes")...)
	}
	f.agree(t)
	for _, s := range all { // in the order in which contact was made, first the own
		got := s.events(t)
		if own := want[s.server]; len(got) == 0 || got[0] != own {
			t.Errorf("%s: nodes begin with %q, want %s", s.name, got, own)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: nodes: got %q, want %q", s.name, got, want)
		}
	}
}

// Records that are too long, too short or make no sense.
func (f *four) topologyRecords(t *testing.T) {
	const client = 1
	f.bind(t, 2, 0, stack.Range{Type: fourType, Lower: 7, Upper: 7}, stack.ClusterScope, 1)
	f.agree(t)
	const good = "384a0000" + "00000000" + "64000000" + "ffffffff" // fourType, 0 to 100, for ever; then filter and handle
	for _, tt := range []struct {
		what, hex string
		closes    bool
		told      bool
	}{
		{"as it should be", good + "01000000" + "6100000000000000", false, true},
		{"40 bytes", good + "01000000" + "6100000000000000" + "0123456789abcdef01234567", false, true},
		{"27 bytes", good + "01000000" + "61000000000000", true, false},
		{"ports and service", good + "03000000" + "6100000000000000", true, false},
		{"lower above upper", "384a0000" + "65000000" + "64000000" + "ffffffff" + "01000000" + "6100000000000000", true, false},
		{"no filter", good + "00000000" + "6100000000000000", false, false},
		{"no status alone", good + "80000000" + "6100000000000000", false, false},
		{"unknown bits", good + "01ff0000" + "6100000000000000", false, true},
	} {
		for _, server := range topologyServers() {
			s := f.subscriber(t, client, server, false)
			must(t, s.job.Send("raw "+tt.hex))
			if tt.closes {
				ctx, cancel := context.WithTimeout(f.ctx, agreement)
				if _, err := s.job.Expect(ctx, "closed"); err != nil {
					t.Errorf("%s, %s: not closed: %v", tt.what, s.name, err)
				}
				cancel()
				continue
			}
			want := []string{}
			if tt.told {
				at := f.socketOf(fourType)
				want = about("published", stack.Range{Type: fourType, Lower: 7, Upper: 7}, at, "a")
			}
			s.tells(t, tt.what, want...)
		}
	}
}

// socketOf is the only socket bound to a type.
func (f *four) socketOf(typ uint32) (at stack.SocketAddr) {
	for x := range f.want {
		if x.Range.Type == typ {
			at = x.Socket
		}
	}
	return at
}

// A subscriber at another node is told of that node's links.
func (f *four) topologyLinks(t *testing.T) {
	const client = 1
	for _, server := range topologyServers() {
		s := f.subscriber(t, client, server, false)
		s.ask(t, stack.Range{Type: stack.LinkState, Upper: 1<<32 - 1}, forever, subPorts, "links")
		var want []string
		for i := range f.members {
			if peer := f.members[i].addr(); i != server {
				r := stack.Range{Type: stack.LinkState, Lower: uint32(peer), Upper: uint32(peer)}
				want = append(want, about("published", r, stack.SocketAddr{Node: f.members[server].addr()}, "links")...)
			}
		}
		got := s.events(t)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: links: got %q, want %q", s.name, got, want)
		}
	}
}
