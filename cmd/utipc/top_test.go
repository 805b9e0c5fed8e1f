// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// liveBed opens nodes 1001001, 1001002 … on a hub, on the clock of the world, and waits
// until each has a link to each. A node that the machine holds up for a while is not lost.
func liveBed(t *testing.T, nodes int) (all []*stack.Node) {
	t.Helper()
	h := hub.New(hub.Config{})
	for i := range nodes {
		port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		n, err := stack.Open(t.Context(), stack.Config{Bearers: []stack.Bearer{port}, Address: stack.NodeAddr(0x1001001 + i), Wait: stack.Sleep, Chunks: 512, Tolerance: 30 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			n.Close(ctx)
		})
		all = append(all, n)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, n := range all {
		for _, other := range all {
			if n == other {
				continue
			}
			if err := n.WaitFor(ctx, stack.Service{Type: stack.LinkState, Instance: uint32(other.Addr())}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// What happened between two samples: rates, rows of what is new, counters that began anew.
func TestTopRates(t *testing.T) {
	at := time.Unix(1000, 0)
	link := func(sent, again uint64) admin.Link {
		l := admin.Link{Peer: 0x1001002, Bearer: "eth0\x1b[2J", Up: true, Active: true}
		l.SentPackets, l.Retransmits, l.RTT = sent, again, 1500*time.Microsecond
		return l
	}
	socket := func(port uint32, in uint64, blocked time.Duration) admin.Socket {
		s := admin.Socket{Addr: stack.SocketAddr{Node: 0x1001001, Port: port}, Bindings: []stack.Binding{{Range: stack.Range{Type: 18888, Lower: 17, Upper: 17}}}}
		s.MessagesIn, s.BytesIn, s.BlockedFor = in, 100*in, blocked
		return s
	}
	inside := socket(1, 5, 0)
	inside.Inside = true
	was := topSample{at: at, node: 0x1001001, links: []admin.Link{link(100, 10)}, sockets: []admin.Socket{inside, socket(7, 50, time.Second), socket(8, 500, 0)}}
	now := topSample{at: at.Add(2 * time.Second), node: 0x1001001, links: []admin.Link{link(280, 30)}, sockets: []admin.Socket{inside, socket(7, 250, 2*time.Second), socket(8, 20, 0), socket(9, 2, 0)}}
	now.waits = []stack.Wait{{
		Socket: stack.SocketAddr{Node: 0x1001001, Port: 7}, To: stack.Service{Type: 18888, Instance: 3}, Bytes: 64, Since: at,
		BlockedError: stack.BlockedError{Name: stack.Service{Type: 18888, Instance: 3}},
	}}
	v := now.since(was)
	v.sort("rate")
	want := []string{
		`1001002   eth0\u001b[2J ACTIVE       0   90.0  10.00      0     0     0     0  1500us      0`,
		"<1001001:7>          packets       100      0    10k       0      0      0  150.0 18888:17",
		"<1001001:8>          packets      10.0      0   1.0k       0      0      0    0.0 18888:17",
		"<1001001:9>          packets       1.0      0    100       0      0      0    0.0 18888:17",
		"<1001001:7>          18888:3                    64       2s waits for name 18888:3",
	}
	lines := v.lines(topLayout{})
	k := 0
	for _, l := range lines {
		if k < len(want) && l == want[k] {
			k++
		}
	}
	if k < len(want) {
		t.Errorf("no line %q in this order in\n%s", want[k], strings.Join(lines, "\n"))
	}
	if got := strings.Join(v.lines(topLayout{links: 1, sockets: 1, waits: 1}), "\n"); !strings.Contains(got, "and 2 more") || strings.Contains(got, "<1001001:9>") {
		t.Errorf("with one row of each:\n%s", got)
	}
	v.sort("name")
	if v.sort("loss"); v.Sockets[0].Socket != "<1001001:7>" {
		t.Errorf("of equal loss the first is %v", v.Sockets[0])
	}
}

func TestHuman(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 0.04: "0.0", 12.34: "12.3", 99.96: "100", 999.4: "999", 999.6: "1.0k", 9960: "10k", 123456: "123k", 2.5e6: "2.5M", 1e30: "much"} {
		if got := human(x); got != want {
			t.Errorf("human(%v): got %q, want %q", x, got, want)
		}
	}
}

// One picture of a living node: text, and JSON.
//
// Proves: tools.small
func TestTopOnce(t *testing.T) {
	onBoth(t, 2, func(t *testing.T, all []*stack.Node) {
		if _, err := all[0].ListenPacket(t.Context(), "tipcrdm", stack.Range{Type: 18888, Lower: 1, Upper: 9}); err != nil {
			t.Fatal(err)
		}
		attachTo(t, all[0], nil)
		sample := func(args ...string) string {
			var out, errs bytes.Buffer
			c := top{}
			f := flagsOf(&c)
			if _, err := cmdline.Parse(f, args, 0, 0); err != nil {
				t.Fatal(err)
			}
			if err := c.check(); err != nil {
				t.Fatal(err)
			}
			if err := c.run(t.Context(), all[0], cmdline.Stdio{In: nil, Out: &out, Err: &errs}); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
		text := sample("--once", "--interval", "20ms")
		for _, want := range []string{"node 1001001  ", "\n1001002   eth0     ACTIVE ", " 18888:1-9\n", "dropped nothing"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		if strings.ContainsRune(text, '\x1b') {
			t.Errorf("control characters in %q", text)
		}
		d := json.NewDecoder(strings.NewReader(sample("--json", "--count", "2", "--interval", "20ms")))
		for range 2 {
			var v topView
			if err := d.Decode(&v); err != nil || v.Node != "1001001" || len(v.Links) != 1 || v.Links[0].State != "ACTIVE" || len(v.Sockets) != 1 || v.Seconds < 0.001 {
				t.Errorf("%v, got %+v", err, v)
			}
		}
		if d.More() {
			t.Error("more than two pictures")
		}
	})
}

func TestTopMisuse(t *testing.T) {
	for _, c := range [][]string{{"--sort", "x"}, {"--interval", "1ms"}, {"--count", "-1"}, {"--once", "--count", "2"}, {"x"}} {
		if _, errs, code := utipc(nil, append([]string{"top"}, c...)...); code != cmdline.Misuse {
			t.Errorf("%q: exit %d, %q", c, code, errs)
		}
	}
}

// What is no terminal is not taken for one.
func TestNoTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if openTerminal(r, w) != nil || openTerminal(nil, w) != nil || openTerminal(r, &bytes.Buffer{}) != nil {
		t.Error("a pipe is a terminal")
	}
}

// A table is as narrow as the screen: columns go, those that can be spared first, and what is left is cut.
//
// Mutations it catches: fit drops the column with the smallest spare; lines cuts nothing; the room of the
// rows is not counted for a column that is wider than its head.
func TestTableIsNarrow(t *testing.T) {
	table := &table{none: "none at all", columns: []column{{"A", 3, true, 0}, {"b", 4, false, 1}, {"c", 4, false, 2}, {"text", 4, true, 0}}}
	check := func(width int, want ...string) {
		t.Helper()
		got := table.lines(0, width, false)
		for i := range want {
			want[i] = strings.ReplaceAll(want[i], ".", " ")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d wide: got %q, want %q", width, got, want)
		}
	}
	check(8, "A...text", "none.at.") // no row, nothing to be narrower for
	table.rows = [][]cell{{{text: "longer"}, {text: "1"}, {text: "2"}, {text: "the rest"}}}
	check(0, "A.........b....c text", "longer....1....2 the rest")
	check(30, "A.........b....c text", "longer....1....2 the rest")
	check(23, "A.........b....c text", "longer....1....2 the re")
	check(20, "A.........b text", "longer....1 the rest")
	check(12, "A......text", "longer the r")
	check(9, "A......te", "longer th")
	if got := table.lines(0, 9, true); got[0] != "\x1b[7mA      te\x1b[0m" {
		t.Errorf("with colours the head is %q", got[0])
	}
}

// The lines of a screen go to the tables that want them.
//
// Mutations it catches: share gives a table more than it wants, or none.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		lines int
		wants []int
		want  []int
	}{
		{9, []int{3, 3, 3}, []int{3, 3, 3}},
		{9, []int{1, 20, 2}, []int{1, 6, 2}},
		{10, []int{1, 1, 1}, []int{1, 1, 1}},
		{0, []int{5, 5, 5}, []int{1, 1, 1}},
		{8, []int{5, 5, 5}, []int{3, 3, 2}},
	} {
		if got := share(c.lines, c.wants); !slices.Equal(got, c.want) {
			t.Errorf("%d lines for %v: got %v, want %v", c.lines, c.wants, got, c.want)
		}
	}
}

// While the node cannot be asked, the last picture stays and the last line says since when it is old; without a
// screen that is said once.
//
// Mutations it catches: foot does not look at trouble; heard tells each time.
func TestTopInTrouble(t *testing.T) {
	var errs bytes.Buffer
	p := top{sort: "rate", last: topSample{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}}
	for range 3 {
		p.heard(errors.New("the daemon is away"), true, &errs)
	}
	if got, want := p.foot(80, false), "not current since 03:04:05: the daemon is away"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := errs.String(), "utipc top: no newer picture: the daemon is away\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if p.heard(nil, true, &errs); !strings.HasPrefix(p.foot(80, false), "by rate   r rate") {
		t.Errorf("got %q after it", p.foot(80, false))
	}
	for _, l := range topHelp {
		if len(l) > 80 {
			t.Errorf("the help has a line of %d characters: %q", len(l), l)
		}
	}
}
