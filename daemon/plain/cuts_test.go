// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
)

// Of what a program leaves unread the first whole message is found, also where more messages were written
// than are kept. Mutations it catches: begin counts nothing; send does not count what is written; first
// takes a message of which a part was read, all that is unread, or for known what lies before the oldest
// start; firstUnread returns more than comes back.
func TestFirstUnread(t *testing.T) {
	const many = mostCuts + 8
	for _, c := range []struct {
		name  string
		kind  attach.Kind
		sizes []int
		read  int
		want  string // the first letter of each message is its own
	}{
		{"nothing", attach.KindStream, nil, 0, ""},
		{"one", attach.KindStream, []int{6}, 0, "aaaaaa"},
		{"two", attach.KindStream, []int{6, 8}, 0, "aaaaaa"},
		{"the second", attach.KindStream, []int{6, 8}, 6, "bbbbbbbb"},
		{"the first is begun", attach.KindStream, []int{6, 8, 3}, 2, "bbbbbbbb"},
		{"all are begun", attach.KindStream, []int{6, 8}, 7, ""},
		{"all read", attach.KindStream, []int{6, 8}, 14, ""},
		{"long", attach.KindStream, []int{2000, 8}, 0, strings.Repeat("a", frame.MaxReturned)},
		{"long and begun", attach.KindStream, []int{20000, 2000, 8}, 1, strings.Repeat("b", frame.MaxReturned)},
		{"more than are kept", attach.KindStream, repeated(many, 2), 0, letters(many-mostCuts, 2)},
		{"the oldest that is kept", attach.KindStream, repeated(many, 2), 2 * (many - mostCuts), letters(many, 2)[2*(many-mostCuts):][:2]},
		{"a later one", attach.KindStream, repeated(many, 2), 2*(many-mostCuts) + 1, letters(many, 2)[2*(many-mostCuts)+2:][:2]},
		{"messages", attach.KindSeqPacket, []int{6, 8}, 0, "aaaaaa"},
		{"a long message", attach.KindSeqPacket, []int{2000, 8}, 0, strings.Repeat("a", frame.MaxReturned)},
	} {
		t.Run(fmt.Sprint(c.name, " ", c.kind), func(t *testing.T) {
			x := &socket{kind: c.kind}
			d, p, err := newPair(c.kind)
			if err != nil {
				t.Fatal(err)
			}
			defer d.s.Close()
			defer unix.Close(p)
			x.d = d
			x.join(nil)
			for i, n := range c.sizes {
				d.begin()
				if err := d.write([]byte(strings.Repeat(letter(i), n))); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := unix.Read(p, make([]byte, c.read)); err != nil {
				t.Fatal(err)
			}
			if got := string(d.firstUnread(p)); got != c.want {
				t.Errorf("got %d bytes %.20q, want %d %.20q", len(got), got, len(c.want), c.want)
			}
		})
	}
}

// What the program sends to a stream in parts is read in these parts, until mostApart came and nothing went back, if it marks
// every other; and so does the program see the parts of the daemon. Mutations it catches: receive does not count what it has
// read, or reads all as one, or leaves no limit; begin does not begin the count anew; send marks nothing.
func TestPartsOfStream(t *testing.T) {
	x := &socket{kind: attach.KindStream}
	d, p, err := newPair(attach.KindStream)
	if err != nil {
		t.Fatal(err)
	}
	defer d.s.Close()
	defer unix.Close(p)
	x.d = d
	x.join(nil)
	reads := func(want ...string) {
		t.Helper()
		for _, w := range want {
			buf, n, err := d.read(len(scratch{}))
			if err != nil || string(buf[:n]) != w {
				t.Fatalf("%q, %v, want %q", buf[:n], err, w)
			}
			scratches.Put(buf)
		}
	}
	for i := range mostApart + 3 {
		var mark []byte
		if i%2 != 0 {
			mark = credentials()
		}
		if err := unix.Sendmsg(p, []byte(letter(i)), mark, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	reads("a", "b", "c", "d", "efg")
	for range 2 {
		d.begin()
		if err := d.write([]byte("12")); err != nil {
			t.Fatal(err)
		}
	}
	b := make([]byte, 10)
	for _, want := range []string{"12", "2", "12", "2"} {
		if n, err := receiveFirst(p, b, unix.MSG_PEEK); err != nil || string(b[:n]) != want {
			t.Errorf("peeked at %q, %v, want %q", b[:n], err, want)
		}
		if _, err := unix.Read(p, b[:1]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 {
		var mark []byte
		if i%2 != 0 {
			mark = credentials()
		}
		if err := unix.Sendmsg(p, []byte(letter(i)), mark, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	reads("a", "b")
}

func letter(i int) string { return string(rune('a' + i%26)) }

// letters are n messages of a size.
func letters(n, size int) (s string) {
	for i := range n {
		s += strings.Repeat(letter(i), size)
	}
	return s
}

func repeated(n, size int) (sizes []int) {
	for range n {
		sizes = append(sizes, size)
	}
	return sizes
}

// What a program has written is read though it has closed with something unread, which a UNIX socket
// reports as a reset. Mutation it catches: read returns that.
func TestReadAfterReset(t *testing.T) {
	for _, kind := range []attach.Kind{attach.KindStream, attach.KindSeqPacket} {
		t.Run(kind.String(), func(t *testing.T) {
			d, p, err := newPair(kind)
			if err != nil {
				t.Fatal(err)
			}
			defer d.s.Close()
			if err := d.write([]byte("unread")); err != nil {
				t.Fatal(err)
			}
			if _, err := unix.Write(p, []byte("written")); err != nil {
				t.Fatal(err)
			}
			unix.Close(p)
			buf, n, err := d.read(len(scratch{}))
			if err != nil || string(buf[:n]) != "written" {
				t.Fatalf("read %d bytes, %v", n, err)
			}
			scratches.Put(buf)
			if buf, n, err = d.read(len(scratch{})); err != nil || n != 0 {
				t.Errorf("read %d bytes, %v, want the end", n, err)
			}
			scratches.Put(buf)
		})
	}
}
