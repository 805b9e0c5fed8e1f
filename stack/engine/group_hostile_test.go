// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

const notMember = "not of a member of the group, or more than it may send=1"

// A groupPeers is an engine in a group, and peers whose port 5 is a member each: what they
// send is made by the test.
type groupPeers struct {
	*peers
	g *Group
}

// newGroupPeers makes members that have joined, with the instances 2, 3 …; the broadcast
// expected of each is number 100.
func newGroupPeers(t testing.TB, peerList int, change ...func(*GroupConfig)) *groupPeers {
	t.Helper()
	c := &groupPeers{peers: newPeers(t, 1, peerList)}
	k := GroupConfig{Service: frame.Service{Type: groupType, Instance: 1}, Events: true}
	for _, f := range change {
		f(&k)
	}
	var err error
	if c.g, err = c.Join(c.now, k); err != nil {
		t.Fatal(err)
	}
	for i := range peerList {
		c.peerList[i].listen(1, groupType, uint32(i+2), uint32(i+2))
		c.tell(i, frame.GroupJoin, 100, 65)
		if m := c.member(i); m == nil || m.phase != joined {
			t.Fatalf("peer %d is no member", i)
		}
	}
	c.texts()
	c.forget()
	return c
}

func (c *groupPeers) member(i int) *member {
	return c.g.find(frame.SocketAddr{Port: 5, Node: c.peerList[i].addr})
}

// tell gives the engine a message of the group protocol of peer i.
func (c *groupPeers) tell(i int, typ frame.GroupType, number, window uint16) {
	c.t.Helper()
	c.tellAs(i, func(f *frame.GroupFields) { f.Type, f.Number, f.Window = typ, number, window })
}

func (c *groupPeers) tellAs(i int, change func(*frame.GroupFields)) {
	c.t.Helper()
	f := frame.GroupFields{
		Common: frame.Common{Prev: c.peerList[i].addr}, DestDroppable: true,
		OrigPort: 5, Orig: c.peerList[i].addr, DestPort: c.g.Addr().Port, Dest: c.Address(),
	}
	change(&f)
	c.on(i, 0).packet(f.Append(nil))
}

// data is a message in the group of peer i's port 5.
func (c *groupPeers) data(i int, typ frame.PayloadType, number frame.Seq, n int, change func(*frame.PayloadFields)) []byte {
	f := frame.PayloadFields{
		Common: frame.Common{Prev: c.peerList[i].addr}, Type: typ, DestDroppable: true, Scope: frame.ClusterScope,
		OrigPort: 5, OrigNode: c.peerList[i].addr, DestNode: c.Address(), NameType: groupType, Upper: frame.GroupWord(number, false),
	}
	if typ == frame.GroupUcastMsg {
		f.DestPort = c.g.Addr().Port
	}
	if change != nil {
		change(&f)
	}
	return f.Append(nil, fmt.Appendf(nil, "%-*d", n, number))
}

// cast gives the engine a broadcast of peer i.
func (c *groupPeers) cast(i int, number frame.Seq) {
	c.t.Helper()
	c.on(i, 0).packet(c.data(i, frame.GroupBcastMsg, number, 10, nil))
}

// texts reads what there is.
func (c *groupPeers) texts() (s []string) {
	buf := make([]byte, 100)
	for {
		n, r, ok := c.g.Read(c.now, buf)
		switch {
		case !ok:
			return s
		case r.Kind == GroupData:
			s = append(s, strings.TrimSpace(string(buf[:n])))
		default:
			s = append(s, fmt.Sprint("event ", r.Kind))
		}
	}
}

// after checks what a step led to: what is read, what was dropped, what was said to peers.
func (c *groupPeers) after(what, texts, drops string, lines ...string) {
	c.t.Helper()
	if got := strings.Join(c.texts(), " "); got != texts {
		c.t.Errorf("%s: read %q, want %q", what, got, texts)
	}
	c.wantDrops(what, drops)
	var got []string
	for _, l := range c.drain() {
		if strings.Contains(l, "group") {
			_, l, _ = strings.Cut(l, " ")
			l, _, _ = strings.Cut(l, " seq=")
			got = append(got, strings.ReplaceAll(l, fmt.Sprint(c.g.Addr().Port), "G"))
		}
	}
	if !slices.Equal(got, lines) {
		c.t.Errorf("%s: sent %q, want %q", what, got, lines)
	}
}

// The size of a header is checked before its words are read.
//
// Proves: hostile.docs
func TestHostileGroupHeaderSizes(t *testing.T) {
	c := newGroupPeers(t, 1)
	for h := uint32(6); h < 16; h++ { // shorter ones are no packets
		msg := c.data(0, frame.GroupBcastMsg, 100, 60, nil)
		if h != frame.McastLen/4 {
			msg[0], msg[1] = msg[0]&^1|byte(h>>3), msg[1]&^0xe0|byte(h<<5)
			c.on(0, 0).packet(msg)
		}
		f := frame.GroupFields{Common: frame.Common{Prev: c.peerList[0].addr}, OrigPort: 5, Orig: c.peerList[0].addr, DestPort: c.g.Addr().Port, Dest: c.Address(), Type: frame.GroupLeave}
		msg = append(f.Append(nil), make([]byte, 20)...)
		msg[3] = 60
		if h != frame.IntLen/4 {
			msg[0], msg[1] = msg[0]&^1|byte(h>>3), msg[1]&^0xe0|byte(h<<5)
			c.on(0, 0).packet(msg)
		}
	}
	if c.member(0) == nil || c.member(0).phase != joined || c.g.Pending() != 0 || c.drops() == "" {
		t.Error("something of it was taken")
	}
	c.drain()
	msg := c.data(0, frame.GroupBcastMsg, 100, 10, nil)
	msg[4] = msg[4]&0x1f | 4<<5 // the type of events, which never leaves a node
	c.on(0, 0).packet(msg)
	c.after("an event", "", "unknown user or type=1")
	c.tell(0, 6, 0, 0)
	c.tell(0, 7, 0, 0)
	c.after("other types", "", "unknown user or type=2")
	c.done("")
}

// Nobody but members is heard, and for himself alone.
//
// Proves: hostile.docs
func TestHostileGroupStrangers(t *testing.T) {
	c := newGroupPeers(t, 2)
	for _, x := range []struct {
		what string
		do   func(f *frame.PayloadFields)
		drop string
	}{
		{"another port", func(f *frame.PayloadFields) { f.OrigPort = 6 }, notMember},
		{"another node", func(f *frame.PayloadFields) { f.OrigNode = c.peerList[1].addr }, "not for this station or node=1"},
		{"our own", func(f *frame.PayloadFields) { f.OrigPort, f.OrigNode = c.g.Addr().Port, c.Address() }, DropForged.String() + "=1"},
		{"another scope", func(f *frame.PayloadFields) { f.Scope = frame.NodeScope }, ""},
		{"another group", func(f *frame.PayloadFields) { f.NameType = 4243 }, ""},
		{"an error", func(f *frame.PayloadFields) { f.Error = frame.Overload }, "nobody to take it, and not to be returned=1"},
	} {
		for _, typ := range []frame.PayloadType{frame.GroupBcastMsg, frame.GroupMcastMsg, frame.GroupUcastMsg} {
			c.on(0, 0).packet(c.data(0, typ, 100, 10, x.do))
			want := x.drop
			if want == "" {
				want = "nobody to take it, and not to be returned=1"
				if typ == frame.GroupUcastMsg {
					want = notMember
				}
			}
			c.after(fmt.Sprint(x.what, ", ", typ), "", want)
		}
	}
	for _, x := range []struct {
		what string
		do   func(f *frame.GroupFields)
		drop string
	}{
		{"another port", func(f *frame.GroupFields) { f.OrigPort = 6 }, notMember},
		{"no port", func(f *frame.GroupFields) { f.OrigPort = 0 }, "nobody to take it, and not to be returned=1"},
		{"another node", func(f *frame.GroupFields) { f.Orig = c.peerList[1].addr }, "not for this station or node=1"},
		{"to nobody", func(f *frame.GroupFields) { f.DestPort = 77 }, "nobody to take it, and not to be returned=1"},
		{"our own", func(f *frame.GroupFields) { f.OrigPort, f.Orig = c.g.Addr().Port, c.Address() }, "not for this station or node=1"},
	} {
		for typ := range frame.GroupRemit + 1 {
			if typ == frame.GroupJoin && x.what == "another port" {
				continue
			}
			c.tellAs(0, func(f *frame.GroupFields) { f.Type = typ; x.do(f) })
			c.after(fmt.Sprint(x.what, ", ", typ), "", x.drop)
		}
	}
	// An ordinary socket takes nothing of it, and its binding makes it no member.
	p := c.OpenPort(PortConfig{})
	p.Bind(c.now, frame.Range{Type: groupType, Lower: 1, Upper: 1}, frame.NodeScope)
	c.drain()
	c.cast(0, 100)
	c.on(0, 0).packet(c.data(0, frame.GroupUcastMsg, 101, 10, func(f *frame.PayloadFields) { f.DestPort = p.Addr().Port }))
	c.after("an ordinary socket", "100", "nobody to take it, and not to be returned=1", "group/adv G>5 window=716")
	c.done("")
}

// A JOIN without a binding makes a member that is limited in number and forgotten in time.
//
// Proves: hostile.docs
func TestHostileGroupJoinFlood(t *testing.T) {
	c := newGroupPeers(t, 2)
	for port := range uint32(1000) {
		c.tellAs(0, func(f *frame.GroupFields) { f.Type, f.OrigPort = frame.GroupJoin, 1000+port })
	}
	c.after("a flood", "", strings.Replace(notMember, "=1", fmt.Sprint("=", 1000-maxJoining), 1))
	if got := len(c.g.members); got != 2+maxJoining {
		t.Errorf("%d members", got)
	}
	c.tellAs(1, func(f *frame.GroupFields) { f.Type, f.OrigPort = frame.GroupJoin, 1000 })
	c.after("of another", "", "")
	if got := len(c.g.Members()); got != 2 {
		t.Errorf("%d members to send to", got)
	}
	c.on(0, 0).packet(c.data(0, frame.GroupUcastMsg, 0, 10, func(f *frame.PayloadFields) { f.OrigPort = 1000 }))
	c.after("one sends", "", notMember)
	for range 12 {
		c.wait(c.now + joiningTime/10)
		for i := range c.peerList {
			c.on(i, 0).report(nil)
		}
	}
	if got := len(c.g.members); got != 2 || c.g.flow.Members() != 2 {
		t.Errorf("%d members after %v", got, c.now)
	}
	c.after("in the end", "", "")
	c.done("")
}

// Whatever a member says of its window it cannot have it wrap, nor may it send more than
// it was granted.
//
// Proves: hostile.docs
func TestHostileGroupWindow(t *testing.T) {
	c := newGroupPeers(t, 1)
	c.tell(0, frame.GroupAdv, 0, 65535)
	c.after("too much", "", notMember)
	c.tell(0, frame.GroupAdv, 0, 65470)
	c.tell(0, frame.GroupAdv, 0, 1)
	c.after("one more", "", notMember)
	if got := c.member(0).flow.Window(); got != 65535 {
		t.Errorf("window %d", got)
	}
	c.tell(0, frame.GroupJoin, 100, 65535)
	c.after("by JOIN", "", notMember)
	c.tell(0, frame.GroupReclaim, 0, 0)
	c.after("reclaimed", "", "", "group/remit G>5 window=65535")
	if got := c.member(0).flow.Window(); got != 65 {
		t.Errorf("window %d", got)
	}
	for i := range 70 { // 65 were granted
		c.cast(0, 100+frame.Seq(i))
	}
	var want []string
	for i := range 65 {
		want = append(want, fmt.Sprint(100+i))
	}
	c.after("more than granted", strings.Join(want, " "), strings.Replace(notMember, "=1", "=5", 1), "group/adv G>5 window=716")
	c.done("")
}

// Exactly one acknowledgement of each member counts, with the one number.
//
// Proves: hostile.docs
func TestHostileGroupAcks(t *testing.T) {
	c := newGroupPeers(t, 2)
	next := uint16(c.g.next)
	for i := range c.peerList {
		c.tell(i, frame.GroupAck, next+1, 0) // when none is expected
	}
	c.after("unasked", "", strings.Replace(notMember, "=1", "=2", 1))
	if err := c.g.Send(c.now, []byte("x")); err != nil {
		t.Fatal(err)
	}
	c.drain()
	for _, n := range []uint16{next, next + 2, next + 7, next - 1, next + 1 + 1<<15} {
		c.tell(0, frame.GroupAck, n, 0)
		c.after(fmt.Sprint("number ", n), "", notMember)
	}
	c.tell(0, frame.GroupAck, next+1, 0)
	c.after("the number", "", "")
	for range 3 {
		c.tell(0, frame.GroupAck, next+1, 0)
		c.after("again", "", notMember)
	}
	err, ok := c.g.Send(c.now, []byte("y")).(*MemberBlocked)
	if !ok || err.Acks != 1 || err.Member != c.member(1).addr {
		t.Errorf("got %+v", err)
	}
	c.TakeReadyGroups(nil)
	c.tell(1, frame.GroupAck, next+1, 0)
	if got := c.TakeReadyGroups(nil); !slices.Contains(got, c.g) {
		t.Error("nobody was told")
	}
	if err := c.g.Send(c.now, []byte("y")); err != nil {
		t.Error(err)
	}
	c.done("")
}

// A member that goes without acknowledging holds up nobody, however it goes.
//
// Proves: hostile.docs
func TestHostileGroupAckNeverComes(t *testing.T) {
	for _, x := range []struct {
		what string
		go_  func(c *groupPeers)
	}{
		{"LEAVE", func(c *groupPeers) { c.tell(1, frame.GroupLeave, 100, 0) }},
		{"unbound", func(c *groupPeers) {
			c.on(1, 0).packet(c.peerList[1].names(func(f *frame.NamesFields) { f.UpdateSeq, f.Withdrawal = 2, true }, nameItem(groupType, 3, 3, 5)))
		}},
		{"node lost", func(c *groupPeers) { c.on(1, 0).leave() }},
	} {
		c := newGroupPeers(t, 2)
		if err := c.g.Send(c.now, []byte("x")); err != nil {
			t.Fatal(err)
		}
		c.tell(0, frame.GroupAck, uint16(c.g.next), 0)
		if _, ok := c.g.Send(c.now, []byte("y")).(*MemberBlocked); !ok {
			t.Fatal("not blocked")
		}
		c.TakeReadyGroups(nil)
		x.go_(c)
		if got := c.TakeReadyGroups(nil); !slices.Contains(got, c.g) {
			t.Errorf("%s: nobody was told", x.what)
		}
		if err := c.g.Send(c.now, []byte("y")); err != nil {
			t.Errorf("%s: %v", x.what, err)
		}
		c.done(x.what)
	}
}

// Who was not asked to give back cannot, nor more than it had.
//
// Proves: hostile.docs
func TestHostileGroupRemit(t *testing.T) {
	c := newGroupPeers(t, 1)
	m := c.member(0)
	for _, n := range []uint16{0, 1, 65, 66, 65535} {
		c.tell(0, frame.GroupRemit, n, 0)
		c.after(fmt.Sprint("unasked ", n), "", notMember)
	}
	if m.flow.State() != flowctl.GroupJoined || m.flow.Advertised() != 65 {
		t.Errorf("%v, %d granted", m.flow.State(), m.flow.Advertised())
	}
	c.done("")
}

// What comes early waits within bounds, whatever numbers a member uses.
//
// Proves: hostile.docs
func TestHostileGroupQueue(t *testing.T) {
	c := newGroupPeers(t, 1)
	for _, n := range []frame.Seq{99, 1124, 40000, 100 + 1<<15} {
		c.cast(0, n)
		c.after(fmt.Sprint("number ", n), "", notMember)
	}
	for range 3 {
		c.cast(0, 102)
	}
	c.after("repeated", "", strings.Replace(notMember, "=1", "=2", 1))
	for i := range 100 { // 64 more were granted
		c.cast(0, 200+frame.Seq(i))
	}
	if got := c.member(0).order.Waiting(); got != 65 {
		t.Errorf("%d wait", got)
	}
	c.drops()
	c.tell(0, frame.GroupJoin, 200, 0)
	if got := c.texts(); len(got) != 64 || got[0] != "200" {
		t.Errorf("read %q", got)
	}
	if m := c.member(0); m.order.Waiting() != 0 || m.flow.Unread() != 0 {
		t.Errorf("%d wait, %d blocks unread", m.order.Waiting(), m.flow.Unread())
	}
	c.done("")
}

// A JOIN that is repeated sets no numbers back.
//
// Proves: hostile.docs
func TestHostileGroupReplayedJoin(t *testing.T) {
	c := newGroupPeers(t, 1)
	c.cast(0, 100)
	c.cast(0, 101)
	c.after("before", "100 101", "", "group/adv G>5 window=716")
	for _, n := range []uint16{100, 101, 0, 60000} {
		c.tell(0, frame.GroupJoin, n, 65)
		c.after(fmt.Sprint("JOIN ", n), "", notMember)
	}
	if got := c.member(0).flow.Window(); got != 65 {
		t.Errorf("window %d", got)
	}
	c.cast(0, 100)
	c.after("an old one", "", notMember)
	c.cast(0, 102)
	c.after("the next", "102", "")
	c.tell(0, frame.GroupJoin, 110, 0) // that goes on, as those that left some out
	c.cast(0, 110)
	c.after("forward", "110", "")
	c.done("")
}

func (c *groupPeers) peerList0() frame.SocketAddr {
	return frame.SocketAddr{Port: 5, Node: c.peerList[0].addr}
}

// A group of this node alone hears nothing of others.
//
// Proves: hostile.docs
func TestHostileGroupNodeScope(t *testing.T) {
	c := &groupPeers{peers: newPeers(t, 1, 1)}
	var err error
	if c.g, err = c.Join(c.now, GroupConfig{Service: frame.Service{Type: groupType, Instance: 1}, Scope: frame.NodeScope, Events: true}); err != nil {
		t.Fatal(err)
	}
	c.peerList[0].listen(1, groupType, 2, 2)
	c.forget()
	c.tell(0, frame.GroupJoin, 0, 65)
	c.after("JOIN", "", notMember)
	for _, s := range []frame.Scope{frame.NodeScope, frame.ClusterScope} {
		for typ, want := range map[frame.PayloadType]string{frame.GroupBcastMsg: "nobody to take it, and not to be returned=1", frame.GroupUcastMsg: notMember} {
			c.on(0, 0).packet(c.data(0, typ, 0, 10, func(f *frame.PayloadFields) { f.Scope = s }))
			c.after(fmt.Sprint(typ, " of scope ", s), "", want)
		}
	}
	other, err := c.Join(c.now, GroupConfig{Service: frame.Service{Type: groupType, Instance: 2}, Scope: frame.NodeScope})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.g.Send(c.now, []byte("here")); err != nil {
		t.Error(err)
	}
	buf := make([]byte, 10)
	if n, r, ok := other.Read(c.now, buf); !ok || string(buf[:n]) != "here" || r.From != c.g.Addr() {
		t.Errorf("read %q, %+v", buf[:n], r)
	}
	c.after("here", fmt.Sprint("event ", MemberJoined), "")
	c.done("")
}
