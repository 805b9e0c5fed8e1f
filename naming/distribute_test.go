// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"fmt"
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
)

func item(n uint32) frame.NameItem {
	return frame.NameItem{Range: frame.Range{Type: 100, Lower: n, Upper: n}, Port: n, Key: n + 1}
}

// Every update has a number, whoever is there to hear it, from 0 on; the bulk
// tells the first that is not in it (spec 05 §3).
//
// Proves: names.distribution
func TestPublisherNumbers(t *testing.T) {
	var p Publisher
	if _, next := p.Bulk(); next != 0 {
		t.Errorf("fresh: got %v, want 0", next)
	}
	for i, c := range []struct {
		seq  frame.Seq
		left []uint32
	}{
		{p.Publish(item(1)), []uint32{1}},
		{p.Publish(item(2)), []uint32{1, 2}},
		{p.Publish(item(3)), []uint32{1, 2, 3}},
		{p.Withdraw(item(2)), []uint32{1, 3}},
		{p.Publish(item(2)), []uint32{1, 3, 2}}, // oldest first
		{p.Withdraw(item(9)), []uint32{1, 3, 2}},
	} {
		if c.seq != frame.Seq(i) {
			t.Errorf("update %d: got number %v", i, c.seq)
		}
	}
	items, next := p.Bulk()
	var got []uint32
	for _, it := range items {
		got = append(got, it.Port)
	}
	if next != 6 || !slices.Equal(got, []uint32{1, 3, 2}) {
		t.Errorf("bulk: got %v before %v, want [1 3 2] before 6", got, next)
	}
	for range 65536 - 6 {
		p.Publish(item(7))
		p.Withdraw(item(7))
		if _, next = p.Bulk(); next < 6 {
			break
		}
	}
	if seq := p.Publish(item(8)); seq != next {
		t.Errorf("behind the wrap: got %v, want %v", seq, next)
	}
}

// An arrival is one name message, in short: what it is and its number, which is
// also its item.
type arrival struct {
	kind string // bulk, last, update, withdraw, legacy
	seq  frame.Seq
}

func (a arrival) message(t testing.TB) frame.Names {
	t.Helper()
	f := frame.NamesFields{
		Orig: remote1, Dest: own, NonLegacy: a.kind != "legacy", UpdateSeq: a.seq,
		Bulk: a.kind == "bulk" || a.kind == "last", LastBulk: a.kind == "last", Withdrawal: a.kind == "withdraw",
	}
	f.Prev = remote1
	if a.kind == "bulk" {
		f.UpdateSeq = 0
	}
	m, err := frame.Parse(f.Append(nil, item(uint32(a.seq))))
	if err != nil {
		t.Fatal(err)
	}
	n, err := frame.ParseNames(m)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// apply runs arrivals through an Inbox and returns the items in the order applied.
func apply(t testing.TB, x *Inbox, as ...arrival) (got []string) {
	t.Helper()
	for _, a := range as {
		note := func(it frame.NameItem, withdrawal bool) {
			s := fmt.Sprint(it.Port)
			if withdrawal {
				s = "-" + s
			}
			got = append(got, s)
		}
		if err := x.Handle(a.message(t), note); err != nil {
			t.Fatalf("%v: %v", a, err)
		}
		for x.Due() {
			if k := x.Drain(1, note); k > 2 {
				t.Fatalf("a part of %d items, asked for 1", k)
			}
		}
	}
	return got
}

// permute calls f with every order of as.
func permute(as []arrival, f func([]arrival)) {
	var rec func(int)
	rec = func(i int) {
		if i == len(as) {
			f(as)
			return
		}
		for j := i; j < len(as); j++ {
			as[i], as[j] = as[j], as[i]
			rec(i + 1)
			as[i], as[j] = as[j], as[i]
		}
	}
	rec(0)
}

// Updates are applied in order, each once, behind the bulk, in whatever order
// bulk and updates come. The bulk's own parts keep their order, being on one
// link.
//
// Proves: names.distribution
func TestInboxAllOrders(t *testing.T) {
	for _, first := range []frame.Seq{1, 0, 65534, 32767} {
		as := []arrival{
			{"bulk", 1000},
			{"bulk", 1001},
			{"last", first},
			{"update", first},
			{"withdraw", first + 1},
			{"update", first + 2},
			{"update", first + 2},
		}
		// The last part of the bulk carries the number, and an item of it.
		permute(as, func(as []arrival) {
			bulk := slices.DeleteFunc(slices.Clone(as), func(a arrival) bool { return a.kind != "bulk" && a.kind != "last" })
			if bulk[0].seq != 1000 || bulk[1].seq != 1001 {
				return
			}
			var x Inbox
			got := apply(t, &x, as...)
			// Behind the bulk: the updates in their order.
			s := func(n frame.Seq) string { return fmt.Sprint(n) }
			want := []string{"1000", "1001", s(first), s(first), "-" + s(first+1), s(first + 2)}
			if !slices.Equal(got, want) {
				t.Fatalf("%v: got %v, want %v", as, got, want)
			}
			if len(x.held) != 0 || x.items != 0 {
				t.Fatalf("%v: %d updates with %d items kept", as, len(x.held), x.items)
			}
		})
	}
}

func TestInbox(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []arrival
		want []string
		held int
	}{
		{"no bulk yet: kept", []arrival{{"update", 0}, {"update", 1}}, nil, 2},
		{"older than the bulk: dropped then", []arrival{{"update", 3}, {"update", 5}, {"last", 5}, {"update", 4}}, []string{"5", "5"}, 0},
		{"first part of the bulk does not open", []arrival{{"bulk", 0}, {"update", 0}}, []string{"0"}, 1},
		{"legacy at once", []arrival{{"legacy", 9}, {"legacy", 9}, {"legacy", 2}}, []string{"9", "9", "2"}, 0},
		{"legacy between", []arrival{{"last", 1}, {"legacy", 9}, {"update", 1}}, []string{"1", "9", "1"}, 0},
		{"a hole", []arrival{{"last", 1}, {"update", 2}, {"update", 3}}, []string{"1"}, 2},
		{"filled", []arrival{{"last", 1}, {"update", 2}, {"update", 3}, {"update", 1}}, []string{"1", "1", "2", "3"}, 0},
		{"told twice", []arrival{{"last", 1}, {"update", 1}, {"update", 1}, {"update", 1}}, []string{"1", "1"}, 0},
		{"kept twice", []arrival{{"update", 7}, {"update", 7}, {"last", 7}}, []string{"7", "7"}, 0},
		{"wrap", []arrival{{"last", 65535}, {"update", 0}, {"update", 65535}, {"update", 1}}, []string{"65535", "65535", "0", "1"}, 0},
		// Spec 05 §4: the kernel drops numbers "before 0" while not open; they are
		// still needed.
		{"high numbers before the bulk", []arrival{{"update", 40000}, {"update", 65535}, {"last", 40000}}, []string{"40000", "40000"}, 1},
		{"second bulk repeats", []arrival{{"last", 1}, {"last", 1}, {"update", 1}}, []string{"1", "1", "1"}, 0},
	} {
		var x Inbox
		got := apply(t, &x, c.in...)
		if !slices.Equal(got, c.want) || len(x.held) != c.held {
			t.Errorf("%s: got %v, %d kept; want %v, %d", c.name, got, len(x.held), c.want, c.held)
		}
		x.Reset()
		if len(x.held) != 0 || x.open || x.items != 0 || x.next != 0 {
			t.Errorf("%s: reset leaves %+v", c.name, x)
		}
	}
}

func TestInboxLimits(t *testing.T) {
	none := func(frame.NameItem, bool) {}
	var x Inbox
	var err error
	n := 0
	for ; err == nil && n < 1<<16; n++ {
		err = x.Handle(arrival{"update", frame.Seq(n)}.message(t), none)
	}
	if err != ErrInbox || n != maxHeld+1 {
		t.Errorf("updates: got %v at %d, want %v at %d", err, n, ErrInbox, maxHeld+1)
	}
	x.Reset()
	many := make([]frame.NameItem, 3000)
	for n = 0; ; n++ {
		f := frame.NamesFields{NonLegacy: true, UpdateSeq: frame.Seq(n), Orig: remote1}
		m, perr := frame.Parse(f.Append(nil, many...))
		if perr != nil {
			t.Fatal(perr)
		}
		names, perr := frame.ParseNames(m)
		if perr != nil {
			t.Fatal(perr)
		}
		if err = x.Handle(names, none); err != nil {
			break
		}
	}
	if err != ErrInbox || n != maxHeldItems/3000 {
		t.Errorf("items: got %v at %d, want %v at %d", err, n, ErrInbox, maxHeldItems/3000)
	}
}

// FuzzInbox: whatever comes, nothing that has its turn is kept, nothing is kept
// twice, and the number expected only goes back with another bulk.
//
// Proves: names.distribution
func FuzzInbox(f *testing.F) {
	f.Add([]byte{3, 1, 1, 5, 1, 6, 0, 0, 2, 4})
	f.Fuzz(func(t *testing.T, b []byte) {
		var x Inbox
		for ; len(b) >= 2; b = b[2:] {
			a := arrival{[...]string{"bulk", "last", "update", "withdraw", "update"}[b[0]%5], frame.Seq(b[1])}
			open, next := x.open, x.next
			err := x.Handle(a.message(t), func(frame.NameItem, bool) {})
			for x.Due() {
				x.Drain(1, func(frame.NameItem, bool) {})
			}
			if err != nil || len(x.held) > maxHeld || x.items != len(x.held) {
				t.Fatalf("%v: %v, %d kept with %d items", a, err, len(x.held), x.items)
			}
			if open && !x.open || a.kind != "last" && x.next.Before(next) {
				t.Fatalf("%v: went back from %v to %v", a, next, x.next)
			}
			for i, h := range x.held {
				if x.open && h.seq.AtMost(x.next) && h.seq == x.next {
					t.Fatalf("%v: %v has its turn and is kept", a, h.seq)
				}
				if i > 0 && h.seq == x.held[i-1].seq {
					t.Fatalf("%v: %v kept twice", a, h.seq)
				}
			}
		}
	})
}
