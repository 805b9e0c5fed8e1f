// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
)

// A nagleSender is the sender of a stream, which sends whatever is due at once.
type nagleSender struct {
	Nagle
	limit int
	out   []string // packets, by their bytes of data; "?" asks for an answer
}

func newNagleSender(limit int) *nagleSender { return &nagleSender{Nagle: NewNagle(true), limit: limit} }

func (r *nagleSender) sendDue() {
	for n, ask, ok := r.Next(); ok; n, ask, ok = r.Next() {
		r.Sent()
		r.packet(n, ask)
	}
}

func (r *nagleSender) packet(n int, ask bool) {
	r.out = append(r.out, fmt.Sprint(n, map[bool]string{true: "?"}[ask]))
}

func (r *nagleSender) write(n int) {
	if r.Alone(n, r.limit) {
		r.Flush()
		r.sendDue()
		r.Count()
		r.packet(n, false)
		return
	}
	r.Hold(n, r.limit)
	r.sendDue()
}

// do carries out a line of words: "5x10" writes 10 bytes five times, "answer" and "data"
// come from the peer, "nodelay" and "delay" are the user's, "flush" is Close's.
func (r *nagleSender) do(words string) {
	for _, w := range strings.Fields(words) {
		switch w {
		case "answer":
			r.HandleAnswer()
		case "data":
			r.HandleData()
		case "flush":
			r.Flush()
		case "nodelay", "delay":
			r.SetNoDelay(w == "nodelay")
		default:
			times, n := 0, 0
			fmt.Sscanf(w, "%dx%d", &times, &n)
			for range times {
				r.write(n)
			}
		}
		r.sendDue()
	}
}

// got is what was sent, repetitions joined.
func (r *nagleSender) got() string {
	var s []string
	for i := 0; i < len(r.out); {
		n := 1
		for i+n < len(r.out) && r.out[i+n] == r.out[i] {
			n++
		}
		if n == 1 {
			s = append(s, r.out[i])
		} else {
			s = append(s, fmt.Sprint(n, "x", r.out[i]))
		}
		i += n
	}
	r.out = nil
	return strings.Join(s, " ")
}

// What is written and heard, and what is sent. Spec 07 §5.3; the first two rows are what
// it says of kernels.
//
// Proves: socket.nagle
func TestNagle(t *testing.T) {
	for _, c := range []struct {
		name, do, want string
		held           int
	}{
		{"four plain, the fifth asks", "5x10", "4x10 10?", 0},
		{"then eight, and sixteen", "5x10 answer 9x10 answer 17x10", "4x10 10? 8x10 10? 16x10 10?", 0},
		{"what is held meanwhile", "7x10", "4x10 10?", 20},
		{"held, and released by the answer: it paid, so the last asks", "7x10 answer", "4x10 10? 20?", 0},
		{"one alone did not pay", "6x10 answer 9x10", "4x10 10? 9x10 10?", 0},
		{"it pays from two in a packet on", "5x10 4x702 answer", "4x10 10? 1404 1404?", 0},
		{"not with three in two", "5x10 3x702 answer 9x1", "4x10 10? 1404 702 8x1 1?", 0},
		{"it paid, and nothing is held: the next asks at once", "5x10 2x10 answer 3x10 data answer 1x10", "4x10 10? 20? 30 10", 0},
		{"packets are full", "5x10 141x10", "4x10 10?", 1410},
		{"and of one length but the last", "5x10 300x10 answer", "4x10 10? 2x1404 192?", 0},
		{"64 blocks are held, no more", "5x10 32x1404", "4x10 10?", 32 * 1404},
		{"the next one sends them all, and asks nothing", "5x10 33x1404", "4x10 10? 33x1404", 0},
		{"an answer after that: it did not pay", "5x10 33x1404 answer 9x1", "4x10 10? 33x1404 8x1 1?", 0},
		{"an answer after that: it paid", "5x10 4501x10 answer 1x1", "4x10 10? 32x1404 2 80?", 1},
		{"data of the peer releases, and asks nothing", "7x10 data", "4x10 10? 20", 0},
		{"and four go alone, with the answer still to come", "7x10 data 6x10", "4x10 10? 20 4x10", 20},
		{"a long one goes alone, behind what is held", "7x10 1x1429", "4x10 10? 20 1429", 0},
		{"one of the packet's length is held in two", "5x10 1x1428 answer", "4x10 10? 1404 24", 0},
		{"one that asks, in two", "4x10 1x1428", "4x10 1404 24?", 0},
		{"no delay", "7x10 nodelay 3x10", "4x10 10? 20 3x10", 0},
		{"delay again", "7x10 nodelay 3x10 delay 2x10", "4x10 10? 20 3x10", 20},
		{"the end", "7x10 flush", "4x10 10? 20", 0},
		{"answers that nobody asked for", "answer answer 5x10 answer answer 9x10", "4x10 10? 8x10 10?", 0},
		{"traffic both ways never waits", strings.Repeat("3x10 data ", 100), "300x10", 0},
		{
			"the most that go alone", "5x1 answer 9x1 answer 17x1 answer 33x1 answer 65x1 answer 129x1 answer 257x1 answer 513x1 answer 1025x1 answer 1025x1",
			"4x1 1? 8x1 1? 16x1 1? 32x1 1? 64x1 1? 128x1 1? 256x1 1? 512x1 1? 1024x1 1? 1024x1 1?", 0,
		},
	} {
		r := newNagleSender(1428)
		r.do(c.do)
		if got := r.got(); got != c.want || r.Held() != c.held {
			t.Errorf("%s: %s:\n got %s, %d held\nwant %s, %d held", c.name, c.do, got, r.Held(), c.want, c.held)
		}
	}
}

// Without the peer's consent nothing is held, and the zero value holds nothing; nor does
// a link whose packets hold no data.
func TestNagleOff(t *testing.T) {
	for _, r := range []*nagleSender{{limit: 1428}, {Nagle: NewNagle(false), limit: 1428}, newNagleSender(frame.ShortLen)} {
		if r.do("100x10 answer 10x10 data 10x10"); r.got() != "120x10" || r.Held() != 0 {
			t.Errorf("%+v", r)
		}
	}
}

// What is due and cannot go stays due: nothing is sent twice, asked twice or forgotten.
func TestNagleStaysDue(t *testing.T) {
	r := newNagleSender(1428)
	r.do("5x10 200x10")
	r.HandleAnswer()
	if n, ask, ok := r.Next(); n != 1404 || ask || !ok {
		t.Fatal(n, ask, ok)
	}
	if n, ask, ok := r.Next(); n != 1404 || ask || !ok || r.Held() != 2000 || r.Packets() != 2 {
		t.Fatal("not the same again:", n, ask, ok)
	}
	r.Sent()
	if n, ask, ok := r.Next(); n != 596 || !ask || !ok || r.Held() != 596 || r.Packets() != 1 || !r.Due() {
		t.Fatal(n, ask, ok)
	}
	r.HandleAnswer() // too early, and not of this question
	r.HandleData()
	if n, _, ok := r.Next(); n != 596 || !ok {
		t.Fatal(n, ok)
	}
	r.Sent()
	if _, _, ok := r.Next(); ok || r.Due() || r.Held() != 0 || r.Packets() != 0 {
		t.Error("something is left")
	}
	r.got()
	r.do("5x10 5x10")
	if r.Drop(); r.Held() != 0 || r.Due() {
		t.Error("dropped, and there")
	}
}

// Capture 08: a kernel writes 1000 bytes a hundred times, and the answers come after 5,
// 50 and 100 of them; what it sent is sent here.
//
// Proves: socket.nagle
func TestNagleCapture08(t *testing.T) {
	frames, err := layers.ReadFile("../test/testdata/captures/08-stream.pcap")
	if err != nil {
		t.Fatal(err)
	}
	r := newNagleSender(1428)
	for _, f := range frames[60:149] {
		_, b, err := layers.Unwrap(f.Data)
		if err != nil {
			t.Fatal(err)
		}
		m, err := frame.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := frame.ParsePayload(m); err == nil && p.OrigPort() == 0x93d09c25 && p.Error() == frame.OK {
			r.packet(len(p.Data()), p.SrcDroppable())
		}
	}
	want := r.got()
	r.do("5x1000 answer 9x1000 36x1000 answer 17x1000 33x1000 answer")
	if got := r.got(); got != want || len(want) < 60 {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// A nagleModel is the text of spec 07 §5.3, with the packets themselves.
type nagleModel struct {
	limit, oneway, start, acc, cnt int
	expect                         bool
	queue                          []int
	out                            []string
}

func (m *nagleModel) transmit(ask bool) {
	for i, n := range m.queue {
		m.out = append(m.out, fmt.Sprint(n, map[bool]string{true: "?"}[ask && i == len(m.queue)-1]))
	}
	m.queue = nil
}

func (m *nagleModel) write(send int) {
	before := m.oneway
	if m.oneway++; before < m.start || send > m.limit {
		m.transmit(false)
		m.out = append(m.out, fmt.Sprint(send))
		return
	}
	for send > 0 {
		last := len(m.queue) - 1
		if last < 0 || m.queue[last] == m.limit-24 {
			m.queue = append(m.queue, 0)
			last++
		}
		n := min(send, m.limit-24-m.queue[last])
		m.queue[last] += n
		send -= n
	}
	m.acc++
	blocks := 0
	for _, n := range m.queue {
		blocks += (n+24)/1024 + 1
	}
	switch {
	case blocks <= 64 && m.expect:
	case blocks > 64:
		m.cnt += len(m.queue)
		m.transmit(false)
	default:
		m.expect, m.acc, m.cnt = true, 0, 0
		m.transmit(true)
	}
}

func (m *nagleModel) answer() {
	m.cnt += len(m.queue)
	ask := false
	if m.cnt == 0 || m.acc/m.cnt < 2 {
		m.oneway, m.start, m.expect = 0, min(2*m.start, 1024), false
	} else {
		m.start, m.expect = 4, len(m.queue) > 0
		ask = m.expect
	}
	m.acc, m.cnt = 0, 0
	m.transmit(ask)
}

// Whatever is written and heard, what is sent is what the specification says; no byte is
// lost or held for nothing, and never more than the limit.
//
// Proves: socket.nagle
func TestNagleRandom(t *testing.T) {
	sizes := []int{1, 10, 100, 700, 1000, 1404, 1405, 1428, 1429, 5000}
	for seed := range uint64(300) {
		chance := rand.New(rand.NewPCG(seed, 5))
		limit := []int{60, 1428, 1460, 1500, 8960, 65000}[chance.IntN(6)]
		r, m := newNagleSender(limit), &nagleModel{limit: limit, start: 4}
		answers, data := 1+chance.IntN(60), 1+chance.IntN(300)
		wrote, sent := 0, 0
		for step := range 1000 {
			switch {
			case r.asked && chance.IntN(answers) == 0:
				r.HandleAnswer()
				m.answer()
			case chance.IntN(data) == 0:
				r.HandleData()
				m.oneway = 0
				m.transmit(false)
			default:
				n := sizes[chance.IntN(len(sizes))]
				wrote += n
				r.write(n)
				m.write(n)
			}
			r.sendDue()
			for i, s := range r.out {
				n := 0
				fmt.Sscan(strings.TrimSuffix(s, "?"), &n)
				sent += n
				if n < 1 || i >= len(m.out) || m.out[i] != s {
					t.Fatalf("seed %d, step %d: sent %v, want %v", seed, step, r.out, m.out)
				}
			}
			if len(m.out) != len(r.out) || r.asked != m.expect {
				t.Fatalf("seed %d, step %d: sent %v, asked %v, want %v, %v", seed, step, r.out, r.asked, m.out, m.expect)
			}
			r.out, m.out = r.out[:0], m.out[:0]
			if wrote != sent+r.Held() || r.Held() > 0 && !r.asked || r.Due() || r.Packets() != len(m.queue) || r.Held() > 0 && r.blocks() > 64 {
				t.Fatalf("seed %d, step %d: %d written, %d sent, %d held, %d packets, asked %v", seed, step, wrote, sent, r.Held(), r.Packets(), r.asked)
			}
		}
	}
}

func TestNagleAllocatesNothing(t *testing.T) {
	g := NewNagle(true)
	n := testing.AllocsPerRun(100, func() {
		for range 100 {
			if g.Alone(10, 1428) {
				g.Count()
			} else {
				g.Hold(10, 1428)
			}
			for _, _, ok := g.Next(); ok; _, _, ok = g.Next() {
				g.Sent()
			}
		}
		g.HandleAnswer()
		g.Flush()
	})
	if n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
