// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

// A blockedFlow is a GroupFlow with members that are told at once what is due to them, and
// answer RECLAIM.
type blockedFlow struct {
	GroupFlow
	m    []*GroupMember
	said []string
	mute bool // they do not answer
}

func newBlockedFlow(members, room int) *blockedFlow {
	f := &blockedFlow{}
	f.Room = room
	for range members {
		m := &GroupMember{}
		f.Enter(m)
		f.Join(m)
		f.m = append(f.m, m)
		f.Grant(m)
	}
	f.members++ // ourselves
	return f
}

// read has one block of member i come and be read.
func (f *blockedFlow) read(i, n int) {
	for range n {
		m := f.m[i]
		if !m.Arrived(1) {
			f.said = append(f.said, fmt.Sprint(i, " too much"))
			return
		}
		other := f.Read(m, 1)
		f.tell(m)
		if other != nil {
			f.tell(other)
		}
	}
}

func (f *blockedFlow) tell(m *GroupMember) {
	i := slices.Index(f.m, m)
	if m.Due()&DueAdv != 0 {
		m.Paid(DueAdv)
		f.said = append(f.said, fmt.Sprint(i, " adv ", f.Grant(m)))
	}
	if m.Due()&DueReclaim != 0 {
		m.Paid(DueReclaim)
		f.said = append(f.said, fmt.Sprint(i, " reclaim"))
		if !f.mute {
			f.remit(i, uint16(m.Advertised()-m.Unread()))
		}
	}
}

func (f *blockedFlow) remit(i int, n uint16) {
	other, ok := f.HandleRemit(f.m[i], n)
	if !ok {
		f.said = append(f.said, fmt.Sprint(i, " remit refused"))
	}
	if other != nil {
		f.tell(other)
	}
}

func (f *blockedFlow) want(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(f.said, want) {
		t.Errorf("said %q, want %q", f.said, want)
	}
	f.said = nil
}

// What a reader grants, as kernels do (spec 08 §6.2, "Tested").
func TestGroupGrants(t *testing.T) {
	f := newBlockedFlow(20, 0)
	f.read(0, 1)
	f.want(t, "0 adv 716")
	f.read(0, 194)
	f.want(t)
	f.read(0, 1)
	f.want(t, "0 adv 195")
	for i := 1; i < 12; i++ {
		f.read(i, 1)
	}
	f.said = nil
	if f.m[0].Arrived(GroupBusy+1) || !f.m[0].Arrived(GroupBusy) || f.m[0].Arrived(1) {
		t.Errorf("%d of %d blocks have come", f.m[0].Unread(), f.m[0].Advertised())
	}
	f.m[0].Unarrive(GroupBusy)
	// The 13th to send makes the longest silent one give back what it has: 1, as 0 has
	// sent since.
	f.read(0, 1)
	f.read(12, 1)
	f.want(t, "12 adv 716", "1 reclaim")
	if f.m[1].State() != GroupJoined || f.m[1].Advertised() != GroupIdle || f.Busy() != 12 {
		t.Errorf("%v with %d, %d busy", f.m[1].State(), f.m[1].Advertised(), f.Busy())
	}
	f.read(13, 1)
	f.want(t, "13 adv 716", "2 reclaim")
	f.read(1, 1) // it begins anew
	f.want(t, "1 adv 716", "3 reclaim")
}

// When members do not give back, those that begin to send have a small window, and it is
// filled up: nobody stalls. What they send beyond is noticed.
func TestGroupPending(t *testing.T) {
	f := newBlockedFlow(20, 0)
	f.mute = true
	for i := range 17 {
		f.read(i, 1)
	}
	if f.Busy() != 17 {
		t.Errorf("%d busy", f.Busy())
	}
	f.said = nil
	f.read(17, 1)
	f.want(t, "5 reclaim")
	if f.m[17].State() != GroupPending {
		t.Errorf("it is %v", f.m[17].State())
	}
	f.read(17, 200)
	f.want(t, "17 adv 49", "17 adv 49", "17 adv 49", "17 adv 49")
	f.remit(5, uint16(f.m[5].Advertised()))
	f.want(t, "17 adv 720") // 201 = 4 x 49 + 5 were read
}

// Where less may wait fewer have a large window, but never none.
func TestGroupRoom(t *testing.T) {
	for _, c := range []struct{ members, room, busy int }{
		{20, 0, 17}, {200, 0, 26}, {1000, 0, 65}, {20, 1 << 14, 17}, {20, 5000, 5}, {20, 100, 1}, {20, 1, 1},
	} {
		f := newBlockedFlow(c.members, c.room)
		f.mute = true
		for i := range f.m {
			f.read(i, 1)
		}
		if f.Busy() != c.busy {
			t.Errorf("%d members, room %d: %d busy, want %d", c.members, c.room, f.Busy(), c.busy)
		}
		sum := 0
		for _, m := range f.m {
			sum += m.Advertised()
		}
		if most := max(c.room, (c.members-1)*GroupIdle+GroupBusy); c.room > 0 && sum > most {
			t.Errorf("%d members, room %d: %d granted", c.members, c.room, sum)
		}
	}
}

// Each answer that a reclaimed member may give.
func TestGroupRemit(t *testing.T) {
	for _, c := range []struct {
		name          string
		unread        int
		remitted      int
		want          string
		advertised    int
		state         GroupState
		read          int // after which
		afterRead     string
		stateThen     GroupState
		advertisedEnd int
	}{
		{"all", 0, 780, "", 65, GroupJoined, 0, "", GroupJoined, 65},
		{"some unread", 5, 775, "", 70, GroupRemitted, 5, "", GroupJoined, 65},
		{"under way", 5, 770, "", 75, GroupRemitted, 5, "", GroupRemitted, 70},
		{"none", 5, 0, "", 845, GroupRemitted, 5, "", GroupRemitted, 840},
		{"too much", 0, 781, "0 remit refused", 780, GroupReclaiming, 0, "", GroupReclaiming, 780},
		{"far too much", 0, 65535, "0 remit refused", 780, GroupReclaiming, 0, "", GroupReclaiming, 780},
	} {
		f := newBlockedFlow(14, 0)
		f.mute = true
		for i := range 12 {
			f.read(i, 1)
		}
		f.m[0].advertised = 780
		if !f.m[0].Arrived(c.unread) {
			t.Fatal(c.name)
		}
		f.read(12, 1)
		f.said = nil
		f.remit(0, uint16(c.remitted))
		if got := strings.Join(f.said, ", "); got != c.want || f.m[0].Advertised() != c.advertised || f.m[0].State() != c.state {
			t.Errorf("%s: said %q, %d granted, %v", c.name, got, f.m[0].Advertised(), f.m[0].State())
		}
		f.said = nil
		if c.read > 0 {
			f.Read(f.m[0], c.read)
			f.tell(f.m[0])
		}
		if got := strings.Join(f.said, ", "); got != c.afterRead || f.m[0].Advertised() != c.advertisedEnd || f.m[0].State() != c.stateThen {
			t.Errorf("%s, read: said %q, %d granted, %v", c.name, got, f.m[0].Advertised(), f.m[0].State())
		}
		f.said = nil
		if f.m[0].State() != GroupReclaiming {
			if f.remit(0, 0); len(f.said) != 1 {
				t.Errorf("%s: a second answer was taken", c.name)
			}
		}
	}
}

// A window takes what is granted up to 65535 blocks, and gives it back at once.
func TestGroupWindow(t *testing.T) {
	var m GroupMember
	for _, c := range []struct {
		n    uint16
		ok   bool
		then int
	}{{65, true, 65}, {0, true, 65}, {65470, true, 65535}, {1, false, 65535}, {65535, false, 65535}} {
		if ok := m.HandleGrant(c.n); ok != c.ok || m.Window() != c.then {
			t.Errorf("%d: got %v, %d", c.n, ok, m.Window())
		}
	}
	if m.Sent(35); !m.Open(65500) || m.Open(65501) {
		t.Errorf("window %d", m.Window())
	}
	if got := m.Remit(); got != 65500 || m.Window() != GroupIdle {
		t.Errorf("gave back %d, keeps %d", got, m.Window())
	}
	if m.Unremit(65500); m.Window() != 65500 {
		t.Errorf("window %d", m.Window())
	}
	for n, want := range map[int]int{0: 1, 979: 1, 980: 2, 66000: 65} {
		if got := GroupBlocks(n); got != want {
			t.Errorf("%d bytes: %d blocks, want %d", n, got, want)
		}
	}
}

// Only the number right behind the broadcast's own counts, once (spec 08, "Validation").
func TestGroupAcks(t *testing.T) {
	for _, first := range []frame.Seq{7, 65535} {
		var a GroupAcks
		var x, y, z GroupMember
		a.Ask(first)
		for _, m := range []*GroupMember{&x, &y, &z, &x} {
			a.Await(m)
		}
		for _, off := range []frame.Seq{0, 2, 6, 65535} {
			if a.Handle(&x, first+off) {
				t.Errorf("number %d for broadcast %d counts", first+off, first)
			}
		}
		if !a.Handle(&x, first+1) || a.Handle(&x, first+1) || a.Missing() != 2 {
			t.Errorf("%d missing, want 2 of 3", a.Missing())
		}
		a.Forget(&y)
		a.Forget(&y)
		if !z.Awaited() || !a.Handle(&z, first+1) || a.Missing() != 0 || a.Handle(&z, first+1) {
			t.Errorf("%d missing, want none", a.Missing())
		}
	}
}

// What has no place is refused; Sync drops what it goes past.
func TestGroupOrderRefuses(t *testing.T) {
	numbered := func(n frame.Seq) *GroupItem { return &GroupItem{Number: n, Numbered: true, Data: []byte("x")} }
	for _, c := range []struct {
		name      string
		it        *GroupItem
		now, kept bool
	}{
		{"expected", numbered(65530), true, false},
		{"before", numbered(65529), false, false},
		{"long before", numbered(33000), false, false},
		{"next but one", numbered(65531), false, true},
		{"beyond the wrap", numbered(5), false, true},
		{"the last", numbered(65530 + 1023 - 65536), false, true},
		{"too far", numbered(65530 + 1024 - 65536), false, false},
		{"a unicast too far", &GroupItem{Number: 2000}, false, false},
		{"a unicast before", &GroupItem{Number: 65000}, true, false},
		{"a unicast that waits", &GroupItem{Number: 65531}, false, true},
	} {
		var o GroupOrder
		o.Sync(65530, nil)
		if now, kept := o.Put(c.it); now != c.now || kept != c.kept {
			t.Errorf("%s: got %v, %v", c.name, now, kept)
		}
		if !c.kept && o.Waiting() > 0 {
			t.Errorf("%s: %d wait", c.name, o.Waiting())
		}
	}
	var o GroupOrder
	o.Sync(10, nil)
	for _, n := range []frame.Seq{13, 12, 14} {
		o.Put(numbered(n))
	}
	o.Put(&GroupItem{Number: 14})
	if _, kept := o.Put(numbered(13)); kept || o.Waiting() != 4 {
		t.Errorf("a repetition waits")
	}
	if _, ok := o.Take(); ok {
		t.Errorf("took what has no turn")
	}
	var dropped []frame.Seq
	o.Sync(14, func(it *GroupItem) { dropped = append(dropped, it.Number) })
	if want := []frame.Seq{12, 13}; !slices.Equal(dropped, want) || o.Waiting() != 2 {
		t.Errorf("dropped %v, %d wait", dropped, o.Waiting())
	}
	for i, numbered := range []bool{true, false} { // of two of one number that which came first
		if it, ok := o.Take(); !ok || it.Numbered != numbered {
			t.Errorf("%d: took %+v, %v", i, it, ok)
		}
	}
	if o.Next() != 15 || o.Waiting() != 0 {
		t.Errorf("expects %d, %d wait", o.Next(), o.Waiting())
	}
}

// The data of what waits is the queue's own.
func TestGroupOrderCopies(t *testing.T) {
	var o GroupOrder
	d := []byte("abc")
	o.Put(&GroupItem{Number: 1, Numbered: true, Data: d})
	d[0] = 'x'
	o.Put(&GroupItem{Number: 0, Numbered: true})
	if it, ok := o.Take(); !ok || string(it.Data) != "abc" {
		t.Errorf("took %q, %v", it.Data, ok)
	}
}

func TestGroupLag(t *testing.T) {
	var l, other GroupLag
	shared := &Lagging{Data: make([]byte, 10)}
	for i := range 3 {
		x := &Lagging{Data: make([]byte, 10)}
		if i == 0 {
			x = shared
		}
		if more := l.Push(x); more != 10 {
			t.Errorf("%d bytes more wait, want 10", more)
		}
	}
	if more := other.Push(shared); more != 0 || shared.Held() != 2 {
		t.Errorf("%d bytes more wait, for %d members, want 0, for 2", more, shared.Held())
	}
	if l.Len() != 3 || !l.Fits(10, 4) || l.Fits(10, 3) || l.Fits(maxLagBytes-29, 4) || !l.Fits(maxLagBytes-30, 4) {
		t.Errorf("%d wait", l.Len())
	}
	if fewer := l.Drop(); fewer != 0 {
		t.Errorf("%d bytes fewer wait, want 0: they wait for another", fewer)
	}
	if fewer := other.Drop(); fewer != 10 {
		t.Errorf("%d bytes fewer wait, want 10", fewer)
	}
	if l.Len() != 2 || !l.Fits(maxLagBytes-20, 4) {
		t.Errorf("%d wait", l.Len())
	}
	l.Drop()
	l.Drop()
	if l.Len() != 0 || !l.Fits(maxLagBytes, 1) {
		t.Errorf("%d wait", l.Len())
	}
}
