// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// A member that is made of a port has the port's number: what is sent to the port, or to its names,
// does not reach it until the member has left, and then it does, also after a second membership.
// A port makes one member at a time. Mutations: Join does not use Of; Leave does not call
// giveNumberBack; retire takes a number out that another port has.
func TestGroupOf(t *testing.T) {
	b := newGroupBed(t, 2)
	n := b.nodes[0]
	p, out := n.OpenPort(PortConfig{}), n.OpenPort(PortConfig{})
	if err := p.Bind(b.now, frame.Range{Type: 900, Lower: 1, Upper: 1}, frame.ClusterScope); err != nil {
		t.Fatal(err)
	}
	send := func() {
		t.Helper()
		if err := errors.Join(out.Send(b.now, p.Addr(), []byte("x")), out.SendService(b.now, frame.Service{Type: 900, Instance: 1}, []byte("x"))); err != nil {
			t.Error(err)
		}
		b.settle()
	}
	received := func(what string, want int) {
		t.Helper()
		got := 0
		for _, _, ok := p.Read(nil); ok; _, _, ok = p.Read(nil) {
			got++
		}
		if got != want {
			t.Errorf("%s: the port received %d messages, want %d", what, got, want)
		}
	}
	x := b.join(1, 1, func(k *GroupConfig) { k.Events = false })
	of := func(k *GroupConfig) { k.Of, k.Events = p, false }
	for range 2 {
		send()
		received("before", 2)
		g := b.join(0, 2, of)
		if g.Addr() != p.Addr() {
			t.Errorf("the member is %v, the port %v", g.Addr(), p.Addr())
		}
		_, err := n.Join(b.now, GroupConfig{Service: frame.Service{Type: groupType}, Of: p})
		wantErr(t, "a second member", err, ErrConfig)
		send()
		b.mustSend("to the member", func() error { return x.SendTo(b.now, p.Addr(), []byte("member")) })
		b.want("the member", g, "1: member")
		received("meanwhile", 0)
		g.Leave(b.now)
	}
	send()
	received("after", 2)

	g := b.join(0, 2, of)
	p.Close(b.now)
	b.mustSend("to the member", func() error { return x.SendTo(b.now, p.Addr(), []byte("on")) })
	b.want("the port is closed", g, "1: on")
	g.Leave(b.now)
	b.settle()
	_, err := n.Join(b.now, GroupConfig{Service: frame.Service{Type: groupType}, Of: p})
	wantErr(t, "of a closed port", err, ErrConfig)
	out.Close(b.now)
	b.clean()
}

// A Join that fails leaves the port as it was. Mutation: Join does not call giveNumberBack.
func TestGroupOfFails(t *testing.T) {
	s := newService(t, ownAddr)
	for i := range uint32(naming.MaxBindings) {
		s.table.Insert(at(100, i, i, 5, ownAddr))
	}
	p := s.OpenPort(PortConfig{})
	_, err := s.Join(s.now, GroupConfig{Service: frame.Service{Type: groupType}, Of: p})
	wantErr(t, "join", err, ErrTooManyBindings)
	wantErr(t, "send", p.Send(s.now, p.Addr(), []byte("x")), nil)
	if p.Pending() != 1 || s.Ports() != 1 {
		t.Errorf("%d messages, %d ports, want one of each", p.Pending(), s.Ports())
	}
}

// Who had no anycast yet has one first, the newest before the others; then who had none for longest.
// Mutations: the oldest is first; a member's turn is not noted; turns are by address.
func TestGroupAnycastOrder(t *testing.T) {
	b := newGroupBed(t, 2)
	quiet := func(k *GroupConfig) { k.Events = false }
	x := b.join(0, 1, quiet)
	var to []*Group
	add := func(node int) { to = append(to, b.join(node, 7, quiet)) }
	next := func() byte {
		b.mustSend("any", func() error { return x.SendAnycast(b.now, 7, []byte("any")) })
		b.settle()
		at := byte('-')
		for i, g := range to {
			if len(b.read(g)) > 0 {
				at = 'a' + byte(i)
			}
		}
		return at
	}
	for i := range 4 {
		add(i % 2)
	}
	var got []byte
	for range 6 {
		got = append(got, next())
	}
	add(0)
	for range 6 {
		got = append(got, next())
	}
	if want := "dcbadc" + "ebadce"; string(got) != want {
		t.Errorf("received by %s, want %s", got, want)
	}
	b.clean()
}

// An empty message is not sent, but fails where another would; Room says whether one would.
// Mutations: sendOne, or cast, returns nil for it at once; Room does not look at stuck, or at the members.
func TestGroupEmpty(t *testing.T) {
	b := newGroupBed(t, 2)
	x := b.join(0, 1)
	if x.Room() {
		t.Error("alone it has room")
	}
	wantErr(t, "alone", x.Send(b.now, nil), ErrNoMember)
	y := b.join(1, 2)
	b.read(y)
	if !x.Room() {
		t.Error("with a member it has no room")
	}
	for x.SendTo(b.now, y.Addr(), make([]byte, 500)) == nil {
		b.settle()
	}
	for what, err := range map[string]error{
		"to all": x.Send(b.now, nil), "to one": x.SendTo(b.now, y.Addr(), nil),
		"to some": x.SendMulticast(b.now, 2, nil), "to any": x.SendAnycast(b.now, 2, nil),
	} {
		if !errors.As(err, new(*MemberBlocked)) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if x.Room() {
		t.Error("blocked it has room")
	}
	got := b.read(y)
	b.settle()
	if !x.Room() {
		t.Error("after the member has read there is no room")
	}
	b.mustSend("empty", func() error { return x.Send(b.now, nil) })
	b.mustSend("after", func() error { return x.SendTo(b.now, y.Addr(), []byte("x")) })
	b.settle()
	if got = append(got, b.read(y)...); got[len(got)-1] != "1: x" || slices.ContainsFunc(got, func(s string) bool { return strings.HasSuffix(s, ": ") }) {
		t.Errorf("read %q", got)
	}
	b.clean()
}

// A change is told to the newest of those who subscribed first. Mutation: tellPending goes through
// them by age.
func TestNewestSubscriptionFirst(t *testing.T) {
	s := newService(t, ownAddr)
	var made []*Subscription
	for range 3 {
		x, err := s.Subscribe(s.now, SubscriptionConfig{Range: frame.Range{Type: 100, Upper: 9}})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, x)
	}
	s.table.Insert(at(100, 2, 2, 5, ownAddr))
	ready := s.TakeSubscriptions(nil)
	slices.Reverse(made)
	if !slices.Equal(ready, made) {
		t.Errorf("told in the order %v, want %v", ready, made)
	}
}
