// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// Members on three nodes, two of them on one, hear of each other and read what each sends,
// by every way of sending, in order.
func TestGroup(t *testing.T) {
	b := newGroupBed(t, 3)
	x := b.join(0, 1, func(k *GroupConfig) { k.Loopback = true })
	y := b.join(1, 2)
	z := b.join(2, 3)
	w := b.join(2, 3)
	b.want("joined", x, "1 joined", "2 joined", "3 joined", "3 joined")
	b.want("joined", y, "1 joined", "3 joined", "3 joined")
	b.want("joined", z, "1 joined", "2 joined", "3 joined")
	b.want("joined", w, "1 joined", "2 joined", "3 joined")
	for _, s := range []struct {
		what       string
		send       func() error
		x, y, z, w string
	}{
		{"all", func() error { return x.Send(b.now, []byte("all")) }, "1: all", "1: all", "1: all", "1: all"},
		{"some", func() error { return x.SendMulticast(b.now, 3, []byte("some")) }, "", "", "1: some", "1: some"},
		{"one", func() error { return x.SendMulticast(b.now, 2, []byte("one")) }, "", "1: one", "", ""},
		{"any", func() error { return x.SendAnycast(b.now, 1, []byte("any")) }, "1: any", "", "", ""},
		{"to", func() error { return x.SendTo(b.now, y.Addr(), []byte("to")) }, "", "1: to", "", ""},
		{"all again", func() error { return x.Send(b.now, []byte("again")) }, "1: again", "1: again", "1: again", "1: again"},
		{"all once more", func() error { return x.Send(b.now, []byte("more")) }, "1: more", "1: more", "1: more", "1: more"},
		{"of another", func() error { return z.Send(b.now, []byte("z")) }, "3: z", "3: z", "", "3: z"},
		{"nothing", func() error { return x.Send(b.now, nil) }, "", "", "", ""},
	} {
		b.mustSend(s.what, s.send)
		b.settle()
		for i, want := range []string{s.x, s.y, s.z, s.w} {
			var list []string
			if want != "" {
				list = []string{want}
			}
			b.want(s.what, b.in[i], list...)
		}
	}
	z.Leave(b.now)
	b.want("left", x, "3 left")
	b.want("left", y, "3 left")
	b.want("left", w, "3 left")
	b.mustSend("the rest", func() error { return y.Send(b.now, []byte("rest")) })
	b.want("the rest", x, "2: rest")
	b.want("the rest", w, "2: rest")
	b.clean()
}

// Those with one instance take turns in what is sent to any of them, and nobody is sent
// what is for none.
func TestGroupAnycast(t *testing.T) {
	b := newGroupBed(t, 2)
	x := b.join(0, 1, func(k *GroupConfig) { k.Events = false })
	var to []*Group
	for i := range 3 {
		to = append(to, b.join(i%2, 7, func(k *GroupConfig) { k.Events = false }))
	}
	for i := range 9 {
		b.mustSend("any", func() error { return x.SendAnycast(b.now, 7, fmt.Append(nil, i)) })
	}
	b.settle()
	for _, g := range to {
		if got := b.read(g); len(got) != 3 {
			t.Errorf("read %q, want three of nine", got)
		}
	}
	if err := x.SendAnycast(b.now, 8, []byte("x")); err != ErrNoMember {
		t.Errorf("to nobody: got %v", err)
	}
	if err := x.SendMulticast(b.now, 8, []byte("x")); err != ErrNoMember {
		t.Errorf("to none: got %v", err)
	}
	if err := x.SendTo(b.now, frame.SocketAddr{Port: 1, Node: 0x1001002}, []byte("x")); err != ErrNoMember {
		t.Errorf("to a stranger: got %v", err)
	}
	if err := x.Send(b.now, make([]byte, frame.MaxPayload+1)); !errors.Is(err, ErrTooLong) {
		t.Errorf("too long: got %v", err)
	}
	b.clean()
}

// What joining, and the first messages, look like on the wire (captures 22 and 23).
func TestGroupOnTheWire(t *testing.T) {
	b := newGroupBed(t, 3)
	x, z := b.join(0, 1), b.join(2, 3)
	b.lines = nil
	y := b.join(1, 2)
	for _, g := range b.in {
		b.read(g)
	}
	send := func(text string) {
		b.mustSend(text, func() error { return x.Send(b.now, []byte(text)) })
		b.settle()
		b.read(y)
		b.read(z)
		b.settle()
	}
	send("one")
	send("two")
	if err := x.SendTo(b.now, y.Addr(), []byte("u")); err != nil {
		t.Error(err)
	}
	b.settle()
	b.read(y)
	send("three")
	send("four")
	y.Leave(b.now)
	b.settle()
	var got []string
	for _, l := range b.lines {
		if !strings.Contains(l, "group") && !strings.Contains(l, "4242") || strings.Contains(l, "1001003") {
			continue
		}
		l = strings.NewReplacer(fmt.Sprint(x.Addr().Port), "X", fmt.Sprint(y.Addr().Port), "Y").Replace(l)
		f := strings.Fields(l)
		var keep []string
		for _, w := range f[1:] {
			if strings.HasPrefix(w, "seq=") || strings.HasPrefix(w, "bcast-seq") {
				break
			}
			keep = append(keep, w)
		}
		got = append(got, f[0]+" "+strings.Join(keep, " "))
	}
	want := []string{
		"1001002>* name/publish update=1 4242:2-2=Y/",
		"1001001>1001002 group/join X>Y next=0 window=0",
		"1001002>1001001 group/join Y>X next=0 window=0",
		"1001001>1001002 group/adv X>Y window=65",
		"1001002>1001001 group/adv Y>X window=65",
		"1001001>1001002 data-low/group-bcast X>0 group=4242 group-seq=0 ack-request droppable bytes=3",
		"1001002>1001001 group/ack Y>X next=1",
		"1001002>1001001 group/adv Y>X window=716",
		"1001001>* data-low/group-bcast X>* group=4242 group-seq=1 droppable bytes=3",
		"1001001>1001002 data-low/group-ucast X>Y group=4242 group-seq=2 droppable bytes=1",
		"1001001>1001002 data-low/group-bcast X>0 group=4242 group-seq=2 ack-request droppable bytes=5",
		"1001002>1001001 group/ack Y>X next=3",
		"1001001>* data-low/group-bcast X>* group=4242 group-seq=3 droppable bytes=4",
		"1001002>1001001 group/leave Y>X next=0",
		"1001002>* name/withdraw update=2 4242:2-2=Y/",
	}
	for i := range got {
		if j := strings.Index(got[i], "=Y/"); j >= 0 {
			got[i] = got[i][:j+3]
		}
	}
	slices.Sort(got[1:3])
	slices.Sort(got[3:5])
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	x.Leave(b.now)
	b.clean()
}

// A reader that stops lets so much come as it has granted, and a strict sender waits, who
// is told for whom; then it goes on, and nothing is lost.
func TestGroupStrict(t *testing.T) {
	for _, local := range []int{1, 0} {
		b := newGroupBed(t, 2)
		quiet := func(k *GroupConfig) { k.Events = false }
		x, y, z := b.join(0, 1, quiet), b.join(local, 2, quiet), b.join(1, 3, quiet)
		sent, blocks := 0, 0
		try := func() error {
			err := x.Send(b.now, fmt.Append(nil, sent))
			if err == nil {
				sent++
			}
			return err
		}
		b.mustSend("first", try)
		b.settle()
		b.want("first", y, "1: 0") // so that it grants more
		for range 100000 {
			b.settle()
			b.read(z)
			err := try()
			if err == nil {
				continue
			}
			m, ok := err.(*MemberBlocked)
			if !ok || m.Acks == 0 && m.Member != y.Addr() {
				t.Fatalf("got %v", err)
			}
			if m.Acks == 0 {
				if m.Window != 0 || m.Need != 1 || m.Instance != 2 || !connFull(err) {
					t.Errorf("got %+v", m)
				}
				break
			}
		}
		if sent != 781 {
			t.Errorf("sent %d before it stopped, want 781", sent)
		}
		x.port.e.TakeReadyGroups(nil)
		want, buf := 1, make([]byte, 10)
		for want < 3000 {
			b.settle()
			n, r, ok := y.Read(b.now, buf)
			if !ok {
				t.Fatalf("stalled: %d sent, %d read", sent, want)
			}
			if r.From != x.Addr() || string(buf[:n]) != fmt.Sprint(want) {
				t.Fatalf("read %s, want %d", buf[:n], want)
			}
			want++
			b.settle()
			if slices.Contains(x.port.e.TakeReadyGroups(nil), x) {
				blocks++
				for try() == nil {
					b.settle()
					b.read(z)
				}
			}
		}
		if blocks < 5 || blocks > 40 {
			t.Errorf("woken %d times", blocks)
		}
		b.read(y)
		b.clean()
	}
}

// Long messages, in fragments and lent, both ways of sending.
func TestGroupLengths(t *testing.T) {
	b := newGroupBed(t, 3)
	x, y, z := b.join(0, 1), b.join(1, 2), b.join(2, 3)
	for _, g := range b.in {
		b.read(g)
	}
	buf := make([]byte, frame.MaxPayload)
	for i, n := range []int{1, 979, 980, 981, 1400, 2048, 2049, 30000, frame.MaxPayload} {
		for range 2 {
			b.mustSend("send", func() error { return x.Send(b.now, text(n, i)) })
			b.settle()
			for _, g := range []*Group{y, z} {
				k, r, ok := g.Read(b.now, buf)
				if !ok || r.Len != n || !bytes.Equal(buf[:k], text(n, i)) {
					t.Errorf("%d bytes: got %d, %v", n, k, ok)
				}
			}
		}
		b.mustSend("send", func() error { return x.SendTo(b.now, z.Addr(), text(n, i)) })
		b.settle()
		if k, _, ok := z.Read(b.now, buf); !ok || !bytes.Equal(buf[:k], text(n, i)) {
			t.Errorf("%d bytes to one: got %d, %v", n, k, ok)
		}
	}
	b.clean()
}

// With frames lost each reader gets everything of each sender once and in order, whatever
// way it went.
//
// Proves: group.order
func TestGroupOrderUnderLoss(t *testing.T) {
	for _, policy := range []SlowPolicy{Strict, Lag, DropOldest} {
		b := newGroupBed(t, 3)
		rnd := NewSeeded(uint64(policy)+5, 9)
		set := func(k *GroupConfig) { k.Policy, k.Limit, k.Events, k.Loopback = policy, 4000, false, true }
		for i := range 4 {
			b.join(i%3, uint32(1+i/2), set)
		}
		b.lose = func(int, []byte) bool { return rnd.r.IntN(20) == 0 }
		want := make([][][]string, len(b.in)) // by reader and sender
		got := make([][][]string, len(b.in))
		for i := range b.in {
			want[i], got[i] = make([][]string, len(b.in)), make([][]string, len(b.in))
		}
		who := map[frame.SocketAddr]int{}
		for i, g := range b.in {
			who[g.Addr()] = i
		}
		buf := make([]byte, 4000)
		read := func() {
			for i, g := range b.in {
				for rnd.r.IntN(3) > 0 {
					n, r, ok := g.Read(b.now, buf)
					if !ok {
						break
					}
					got[i][who[r.From]] = append(got[i][who[r.From]], strings.TrimRight(string(buf[:n]), " "))
				}
			}
		}
		for k := range 600 {
			s := rnd.r.IntN(len(b.in))
			g, to, kind := b.in[s], rnd.r.IntN(len(b.in)), rnd.r.IntN(4)
			data := fmt.Appendf(nil, "%d", k)
			if rnd.r.IntN(10) == 0 {
				data = fmt.Appendf(nil, "%-3000d", k)
			}
			if b.in[to] == g && kind == 0 {
				kind = 1
			}
			b.mustSend("send", func() error {
				read()
				switch kind {
				case 0:
					return g.SendTo(b.now, b.in[to].Addr(), data)
				case 1:
					return g.SendMulticast(b.now, 1, data)
				}
				return g.Send(b.now, data)
			})
			for i, x := range b.in {
				if kind >= 2 || kind == 1 && x.Service.Instance == 1 || kind == 0 && i == to {
					want[i][s] = append(want[i][s], fmt.Sprint(k))
				}
			}
		}
		done := func() bool {
			read()
			for i := range got {
				for j := range got[i] {
					if len(got[i][j]) != len(want[i][j]) {
						return false
					}
				}
			}
			return true
		}
		b.until(20*time.Second, done)
		for i := range got {
			for j := range got[i] {
				if !slices.Equal(got[i][j], want[i][j]) {
					t.Errorf("policy %d: %d read of %d\n%v, want\n%v", policy, i, j, got[i][j], want[i][j])
				}
			}
		}
		b.lose = nil
		b.clean()
	}
}

// Members come and go, nodes are lost, while all send: who stays gets everything of those
// who stay.
//
// Proves: group.order
func TestGroupChurn(t *testing.T) {
	for _, policy := range []SlowPolicy{Strict, Lag} {
		b := newGroupBed(t, 3)
		rnd := NewSeeded(uint64(policy)+3, 4)
		set := func(k *GroupConfig) { k.Policy, k.Limit = policy, 4000 }
		x, y := b.join(0, 1, set), b.join(1, 2, set)
		stay := map[frame.SocketAddr]int{x.Addr(): 0, y.Addr(): 0}
		var guests []*Group
		buf := make([]byte, 100)
		read := func() {
			for _, g := range append([]*Group{x, y}, guests...) {
				for {
					n, r, ok := g.Read(b.now, buf)
					if !ok {
						break
					}
					if k, ok := stay[r.From]; ok && r.Kind == GroupData && (g == x || g == y) {
						if string(buf[:n]) != fmt.Sprint(k) {
							t.Fatalf("policy %d: read %s, want %d", policy, buf[:n], k)
						}
						stay[r.From]++
					}
				}
			}
		}
		b.lose = func(int, []byte) bool { return rnd.r.IntN(50) == 0 }
		sent := [2]int{}
		for step := range 400 {
			switch k := rnd.r.IntN(8); {
			case k == 0 && len(guests) < 6:
				g, err := b.nodes[rnd.r.IntN(3)].Join(b.now, GroupConfig{Service: frame.Service{Type: groupType, Instance: 9}, Events: true})
				if err != nil {
					t.Fatal(err)
				}
				guests = append(guests, g)
			case k == 1 && len(guests) > 0:
				i := rnd.r.IntN(len(guests))
				guests[i].Leave(b.now)
				guests = slices.Delete(guests, i, i+1)
			case k == 2 && step%40 == 5:
				b.nodes[2].Leave(b.now)
			case k == 3 && len(guests) > 0:
				guests[0].Send(b.now, []byte("guest"))
			default:
				i := rnd.r.IntN(2)
				b.mustSend("send", func() error {
					read()
					return []*Group{x, y}[i].Send(b.now, fmt.Append(nil, sent[i]))
				})
				sent[i]++
			}
			b.pass(time.Millisecond)
			read()
		}
		if !b.until(longTime, func() bool { read(); return stay[x.Addr()] == sent[0] && stay[y.Addr()] == sent[1] }) {
			t.Errorf("policy %d: got %v, sent %v", policy, stay, sent)
		}
		b.lose = nil
		b.in = append(b.in, guests...)
		b.clean()
	}
}
