// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// fragmentBed is two nodes whose bearers have these MTUs, in contact.
func fragmentBed(t testing.TB, mtus ...int) *bed {
	b := &bed{t: t}
	for i, mtu := range mtus {
		a := newArena(t, netdev.ArenaConfig{Small: 4096, Jumbo: 256, JumboSize: 65535 + frame.EthernetLen})
		b.attach(b.bare(Config{Address: frame.NodeAddr(i + 1), Arena: a}, uint64(i)), BearerConfig{MTU: mtu})
	}
	if !b.until(5*time.Second, func() bool { return b.nodes[0].reach(2) != nil && b.nodes[1].reach(1) != nil }) {
		t.Fatal("no contact")
	}
	return b
}

// pattern is n bytes no two places of which look alike for long.
func pattern(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i ^ i>>8*7)
	}
	return data
}

// A message of any length arrives whole, by name and by socket address, whatever the
// two ends' MTUs are; what fits in a packet is not cut.
//
// Proves: link.long
func TestMessagesOfAnyLength(t *testing.T) {
	for _, mtus := range [][2]int{{100, 100}, {112, 1500}, {123, 123}, {124, 124}, {500, 9000}, {1500, 1500}, {9000, 1500}, {9000, 9000}, {65000, 65000}} {
		t.Run(fmt.Sprint(mtus), func(t *testing.T) {
			b := fragmentBed(t, mtus[0], mtus[1])
			x, y := b.nodes[0], b.nodes[1]
			svc := frame.Service{Type: 18888, Instance: 17}
			to := y.OpenPort(PortConfig{})
			if err := to.Bind(b.now, svc.Range(), frame.ClusterScope); err != nil {
				t.Fatal(err)
			}
			if !b.until(time.Second, func() bool { return x.knows(svc.Range()) }) {
				t.Fatal("the name did not come")
			}
			from := x.OpenPort(PortConfig{})
			l := x.nodes[0].links[0]
			limit := l.PacketLimit()
			cut := uint64(0)
			buf := make([]byte, frame.MaxPayload+1)
			for _, n := range []int{
				1, limit - frame.NamedLen, limit - frame.NamedLen + 1, limit - frame.BasicLen, limit - frame.BasicLen + 1,
				2 * (limit - frame.IntLen), 5000, frame.MaxPayload - 1, frame.MaxPayload,
			} {
				n = min(n, frame.MaxPayload)
				for _, named := range []bool{true, false} {
					data, hlen := pattern(n), frame.BasicLen
					var err error
					if named {
						hlen = frame.NamedLen
						err = from.SendService(b.now, svc, data)
					} else {
						err = from.Send(b.now, to.Addr(), data)
					}
					if err != nil {
						t.Fatalf("%d bytes: %v", n, err)
					}
					if hlen+n > limit {
						cut++
					}
					b.until(10*time.Second, func() bool { return to.Pending() > 0 })
					if k, r, ok := to.Read(buf); !ok || r.Named() != named || !bytes.Equal(buf[:k], data) {
						t.Fatalf("%d bytes: %d bytes came, %v", n, k, ok)
					}
				}
			}
			if l.SentFragmented != cut || l.Resets+y.nodes[0].links[0].Resets != 0 {
				t.Errorf("%d messages were cut, want %d; %d resets", l.SentFragmented, cut, l.Resets+y.nodes[0].links[0].Resets)
			}
			b.pass(5 * time.Second)
			b.wantFree()
		})
	}
}

// The fragments are those of a kernel: capture 06, frames 37 and 38.
//
// Proves: link.long
func TestFragmentsAsKernel(t *testing.T) {
	p := newScriptedPeer(t, func(c *Config) { c.Margin = 32 }).up()
	defer p.done()
	p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq = 1 }, nameItem(0x66327553, 0x44caefcb, 0x44caefcb, 5)))
	p.drain()
	s := p.OpenPort(PortConfig{Importance: frame.Critical, Returnable: true})
	if err := s.SendService(p.now, frame.Service{Type: 0x66327553, Instance: 0x44caefcb}, pattern(2*1388-40+53)); err != nil {
		t.Fatal(err)
	}
	p.collect()
	var got []string
	for i, f := range p.sent {
		b := f.bytes[frame.EthernetLen:]
		line := fmt.Sprintf("%d: %x", len(b), b[:frame.IntLen])
		if i == 0 {
			line += fmt.Sprintf(" %x", b[frame.IntLen:frame.IntLen+frame.NamedLen])
		}
		got = append(got, line)
	}
	port := fmt.Sprintf("%08x", s.number)
	wantLines(t, "fragments", got,
		"1428: 5940059400000000000300030100100100010000000000000100100101001002"+"0000000000000003 "+
			"47400b0d4010000000000000"+"01001001"+port+"00000005"+"0100100101001002"+"6632755344caefcb",
		"1428: 5940059420000000000300040100100100020000000000000100100101001002"+"0000000000000003",
		"93: 5940005d40000000000300050100100100030000000000000100100101001002"+"0000000000000003")
	p.sent = nil
}

// What held messages wait for is no reason to let a long one wait: they go first, and
// it goes at once.
//
// Proves: link.long
func TestLongMessageEndsHolding(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	s := p.OpenPort(PortConfig{})
	to := frame.SocketAddr{Port: 9, Node: popAddr}
	p.users()
	p.Hold(true)
	for _, d := range []string{"a", "b", strings.Repeat("x", 1500)} {
		if err := s.Send(p.now, to, []byte(d)); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.users(); !strings.HasPrefix(got, "[a b] ") || strings.Count(got, "x") != 1500 {
		t.Errorf("got %.40q", got)
	}
	p.Hold(false)
	p.Flush(p.now)
}

// Without chunks for all of its fragments nothing of a message is sent, and none is
// kept; where there never can be enough it is too long.
//
// Proves: link.long
func TestFragmentsAllOrNothing(t *testing.T) {
	a := newArena(t, netdev.ArenaConfig{Small: 64, Reserve: 16})
	p := scriptedPeerOn(t, a).up()
	s := p.OpenPort(PortConfig{})
	to := frame.SocketAddr{Port: 9, Node: popAddr}
	p.users()
	free := a.Free()
	if err := s.Send(p.now, to, make([]byte, frame.MaxPayload)); err != nil { // 47 chunks of 48
		t.Errorf("got %v", err)
	}
	p.users()
	p.report(nil)
	for range 3 {
		p.report(nil)
	}
	if a.Free() != free || p.Unsent() != 0 {
		t.Fatalf("%d chunks are free, want %d; %d unsent", a.Free(), free, p.Unsent())
	}
	var kept []*netdev.Buffer
	for range 5 {
		kept = append(kept, a.Get(1514, netdev.Data))
	}
	if err := s.Send(p.now, to, make([]byte, frame.MaxPayload)); err != ErrMemory || a.Free() != free-5 {
		t.Errorf("got %v, %d chunks free, want %v and %d", err, a.Free(), ErrMemory, free-5)
	}
	if got := p.users(); got != "" {
		t.Errorf("sent %.20q", got)
	}
	for _, b := range kept {
		b.Release()
	}
	p.SetMTU(p.now, 0, 1400) // 49
	p.up()
	p.users()
	if err := s.Send(p.now, to, make([]byte, frame.MaxPayload)); !neverFits(err) {
		t.Errorf("got %v, want a MemoryError", err)
	}
}

// neverFits reports whether err says that a message takes more chunks than data may have.
func neverFits(err error) bool {
	var e *MemoryError
	return errors.As(err, &e) && e.Needed > e.Most && e.Most > 0 && errors.Is(err, syscall.ENOBUFS) && !errors.Is(err, ErrTooLong)
}

// At its importance's limit a long message is not taken, not even the part for which
// there would be room; below it is taken whole.
func TestLongMessageAndLimit(t *testing.T) {
	p := newScriptedPeer(t).up()
	s := p.OpenPort(PortConfig{})
	to := frame.SocketAddr{Port: 9, Node: popAddr}
	var err error
	n := 0
	for ; err == nil; n++ {
		err = s.Send(p.now, to, make([]byte, 10000)) // 8 fragments
	}
	var b *Blocked
	// Up to 50 in the window, then 100 wait, and the message that reaches the limit goes
	// beyond it.
	if !errors.As(err, &b) || b.Unacked != 50 || b.Backlog != 102 || n != 20 {
		t.Errorf("message %d: got %v", n, err)
	}
	p.now += time.Second
}
