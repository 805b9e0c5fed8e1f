// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
)

// A sender's messages in the order sent; its broadcasts go one way, its unicasts another.
// After a unicast the next broadcast goes that way too, and the one after it waits until
// it was acknowledged. The receiver gets everything in order, whatever the two ways do.
//
// Proves: group.order
func TestGroupOrderProperty(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 8))
		next := frame.Seq(rnd.Uint32())
		var o GroupOrder
		o.Sync(next, nil)
		var broad, uni []GroupItem // under way
		var sent, got []string
		forced, asked := true, frame.Seq(0)
		acked := true
		take := func(it *GroupItem) {
			got = append(got, string(it.Data))
			if it.AckRequest && it.Numbered {
				if o.Next() != asked+1 {
					t.Fatalf("seed %d: acknowledges %d, want %d", seed, o.Next(), asked+1)
				}
				acked = true
			}
		}
		arrive := func(it GroupItem) {
			now, kept := o.Put(&it)
			if now {
				take(&it)
			} else if !kept {
				t.Fatalf("seed %d: %s refused", seed, it.Data)
			}
			for x, ok := o.Take(); ok; x, ok = o.Take() {
				take(&x)
			}
		}
		n := 0
		for n < 200 || len(broad)+len(uni) > 0 {
			switch k := rnd.IntN(6); {
			case k == 0 && n < 200:
				uni = append(uni, GroupItem{Number: next, Data: fmt.Append(nil, n)})
				sent = append(sent, fmt.Sprint(n))
				forced = true
				n++
			case k <= 2 && n < 200 && acked:
				it := GroupItem{Number: next, Numbered: true, AckRequest: forced, Data: fmt.Append(nil, n)}
				if forced {
					uni = append(uni, it)
					asked, acked, forced = next, false, false
				} else {
					broad = append(broad, it)
				}
				sent = append(sent, fmt.Sprint(n))
				next++
				n++
			case k == 3 && len(uni) > 0:
				it := uni[0]
				uni = uni[1:]
				arrive(it)
			case k >= 4 && len(broad) > 0: // also out of order
				i := rnd.IntN(len(broad))
				it := broad[i]
				broad = slices.Delete(broad, i, i+1)
				arrive(it)
			}
		}
		if !slices.Equal(got, sent) || o.Waiting() != 0 {
			t.Fatalf("seed %d: got\n%v, sent\n%v, %d wait", seed, got, sent, o.Waiting())
		}
	}
}

// A flowLine is one member and a reader, and what is under way between them, in order.
type flowLine struct {
	*GroupMember             // at the reader: what it has granted
	own          GroupMember // at the member: what it may send
	up, down     []flowMessage
	unread       []int // blocks
	left         int   // that it wants to send
}

type flowMessage struct {
	kind GroupDue // 0: data
	n    int
}

func (x *flowLine) done() bool { return x.left <= 0 && len(x.unread)+len(x.up) == 0 }

// pay sends the member what is due to it.
func (x *flowLine) pay(f *GroupFlow) {
	m := x.GroupMember
	if m.Due()&DueAdv != 0 {
		x.down = append(x.down, flowMessage{DueAdv, int(f.Grant(m))})
	}
	if m.Due()&DueReclaim != 0 {
		x.down = append(x.down, flowMessage{DueReclaim, 0})
	}
	m.Paid(DueAdv | DueReclaim)
}

// Members send as they like to a reader that reads as it likes; messages of the protocol
// take their time, in order. Nobody sends more than was granted, and everybody goes on.
//
// Proves: group.flow
func TestGroupFlowProperty(t *testing.T) {
	for seed := range uint64(24) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		f := &GroupFlow{Room: []int{0, 3000, 1}[seed%3]}
		all := make([]*flowLine, 1+rnd.IntN(40))
		for i := range all {
			x := &flowLine{GroupMember: &GroupMember{}, left: 300 + rnd.IntN(600)}
			f.Enter(x.GroupMember)
			f.Join(x.GroupMember)
			x.own.HandleGrant(f.Grant(x.GroupMember))
			all[i] = x
		}
		pay := func(ms ...*GroupMember) {
			for _, x := range all {
				if slices.Contains(ms, x.GroupMember) {
					x.pay(f)
				}
			}
		}
		steps := 0
		busy := true
		for ; busy && steps < 1_000_000; steps++ {
			x := all[rnd.IntN(len(all))]
			switch kind := rnd.IntN(4); {
			case kind == 0 && x.left > 0:
				if n := 1 + rnd.IntN(1+rnd.IntN(65)); x.own.Open(n) {
					x.own.Sent(n)
					x.left -= n
					x.up = append(x.up, flowMessage{0, n})
				}
			case kind == 1 && len(x.down) > 0:
				d := x.down[0]
				x.down = x.down[1:]
				if d.kind == DueReclaim {
					x.up = append(x.up, flowMessage{DueRemit, int(x.own.Remit())})
				} else if !x.own.HandleGrant(uint16(d.n)) {
					t.Fatalf("seed %d: granted too much", seed)
				}
			case kind == 2 && len(x.up) > 0:
				u := x.up[0]
				x.up = x.up[1:]
				if u.kind == 0 {
					if !x.Arrived(u.n) {
						t.Fatalf("seed %d: more than granted: %+v", seed, x.GroupMember)
					}
					x.unread = append(x.unread, u.n)
					break
				}
				other, ok := f.HandleRemit(x.GroupMember, uint16(u.n))
				if !ok {
					t.Fatalf("seed %d: %d given back, refused: %+v", seed, u.n, x.GroupMember)
				}
				pay(x.GroupMember, other)
			case kind == 3 && len(x.unread) > 0:
				other := f.Read(x.GroupMember, x.unread[0])
				x.unread = x.unread[1:]
				pay(x.GroupMember, other)
			}
			if steps%64 == 0 {
				busy = slices.ContainsFunc(all, func(x *flowLine) bool { return !x.done() })
			}
		}
		if busy {
			t.Errorf("seed %d: of %d members some stand still after %d steps", seed, len(all), steps)
		}
		for _, x := range all {
			f.Leave(x.GroupMember)
		}
		if f.Busy() != 0 || f.Members() != 0 || f.active.first != nil || f.pending.first != nil {
			t.Errorf("seed %d: %d busy, %d members are left", seed, f.Busy(), f.Members())
		}
	}
}
