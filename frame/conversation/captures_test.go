// SPDX-License-Identifier: Apache-2.0

package conversation_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame/conversation"
	"github.com/utipc/utipc/frame/layers"
)

const captures = "../../test/testdata/captures"

// follow feeds a capture to a Tracker.
func follow(t testing.TB, name string, see func(p conversation.Packet, v conversation.Verdict)) *conversation.Tracker {
	t.Helper()
	frames, err := layers.ReadFile(filepath.Join(captures, name+".pcap"))
	if err != nil {
		t.Fatal(err)
	}
	tr := conversation.NewTracker(conversation.Limits{})
	for i, f := range frames {
		w, m, err := layers.Unwrap(f.Data)
		if err != nil {
			continue
		}
		p := conversation.Packet{Number: i + 1, Time: f.Time.Sub(frames[0].Time), Len: f.Len, Message: m}
		if w.UDP {
			p.Src.IP, p.Dst.IP = w.From, w.To
		} else {
			p.Src.MAC, p.Dst.MAC = w.Src, w.Dst
		}
		v := tr.Add(p)
		if see != nil {
			see(p, v)
		}
	}
	return tr
}

// A tally is what a kernel's tool said of what its node sent on a link.
type tally struct{ packets, retrans, naks, probes, fragments, fragmented, bundles, bundled uint64 }

var numbers = regexp.MustCompile(`\d+`)

// told reads what a node, A or B, said of a link in the "tipc link statistics show" of
// a capture's text.
func told(t *testing.T, name, node, link string) (sent tally, ok bool) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(captures, name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	in := false
	for l := range strings.Lines(string(b)) {
		l, mine := strings.CutPrefix(l, node+": ")
		if !mine {
			in = false
			continue
		}
		if strings.HasPrefix(l, "Link <") {
			in = strings.HasPrefix(l, "Link <"+link)
			continue
		}
		if !in {
			continue
		}
		var n []uint64
		for _, x := range numbers.FindAllString(l, -1) {
			v, _ := strconv.ParseUint(x, 10, 64)
			n = append(n, v)
		}
		switch l = strings.TrimSpace(l); {
		case strings.HasPrefix(l, "TX packets"):
			sent.packets, sent.fragments, sent.fragmented, sent.bundles, sent.bundled = n[0], n[1], n[2], n[3], n[4]
			ok = true
		case strings.HasPrefix(l, "TX states"):
			sent.probes, sent.naks, sent.retrans = n[1], n[2], n[4]
		case strings.HasPrefix(l, "TX naks"):
			sent.naks, sent.retrans = n[0], n[2]
		}
	}
	return sent, ok
}

func tallyOf(c *conversation.Counters) tally {
	return tally{
		c.Numbered - c.Retransmitted - c.Duplicates, c.Retransmitted, c.Naks, c.Probes,
		c.Fragments, c.Fragmented, c.Bundles, c.Bundled,
	}
}

// TestLinksAsKernelsCount compares what is read off captures with what the kernels in
// them counted on the same links. They were asked before the capture's end, so there
// may be one probe more in it; and of capture 17, in which link messages get lost, it has
// fewer reports than were sent.
//
// Proves: tools.decode
func TestLinksAsKernelsCount(t *testing.T) {
	for _, c := range []struct{ name, node string }{
		{"13-bundling", "A"}, {"16-loss-gap", "A"}, {"16-loss-gap", "B"}, {"17-reorder-dup", "A"}, {"17-reorder-dup", "B"},
	} {
		tr := follow(t, c.name, nil)
		want, ok := told(t, c.name, c.node, "100100")
		if len(tr.Links()) != 1 || !ok {
			t.Fatalf("%s: got %d links, statistics: %v, want 1, true", c.name, len(tr.Links()), ok)
		}
		i := map[string]int{"A": 0, "B": 1}[c.node]
		got := tallyOf(&tr.Links()[0].Sent[i])
		if got.probes == want.probes+1 {
			got.probes--
		}
		if c.name == "17-reorder-dup" && c.node == "B" && got.naks > 0 && got.naks < want.naks {
			got.naks = want.naks
		}
		if got != want {
			t.Errorf("%s, %s: got %+v, the kernel told %+v", c.name, c.node, got, want)
		}
	}
}

// TestBroadcastsAsKernelsCount does so for the broadcast link.
//
// Proves: tools.decode
func TestBroadcastsAsKernelsCount(t *testing.T) {
	for _, name := range []string{"14-multicast", "15-broadcast-loss"} {
		tr := follow(t, name, nil)
		want, ok := told(t, name, "A", "broadcast-link>")
		if !ok || want.packets == 0 {
			t.Fatalf("%s: no statistics of broadcasts", name)
		}
		i := slices.IndexFunc(tr.Senders(), func(s *conversation.Sender) bool { return s.End.Node == 0x1001001 })
		if i < 0 {
			t.Fatalf("%s: node 1001001 has not broadcast", name)
		}
		if got := tallyOf(&tr.Senders()[i].Sent); got.packets != want.packets || got.retrans != want.retrans || got.fragments != want.fragments {
			t.Errorf("%s: got %+v, the kernel told %+v", name, got, want)
		}
	}
	tr := follow(t, "15-broadcast-loss", nil)
	for _, l := range tr.Links() {
		if got := l.Sent[1].BroadcastNaks; l.Ends[0].Node == 0x1001001 && got != 17 {
			t.Errorf("%v: got %d reports of missing broadcasts, the kernel told 17", l, got)
		}
	}
}

var notDelivered = regexp.MustCompile(`(?m)^(\d+)(?:-(\d+))? .*NOT DELIVERED`)

// TestLostFramesAreFound compares the frames that others repeat with those that were
// taken away on the wire, as the capture's text lists them.
//
// Proves: tools.decode
func TestLostFramesAreFound(t *testing.T) {
	const name = "16-loss-gap"
	repeated := map[int]bool{}
	follow(t, name, func(_ conversation.Packet, v conversation.Verdict) {
		if v.Class == conversation.Retransmitted {
			repeated[v.Repeats] = true
		}
	})
	b, err := os.ReadFile(filepath.Join(captures, name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	lost := 0
	for _, m := range notDelivered.FindAllStringSubmatch(string(b), -1) {
		from, _ := strconv.Atoi(m[1])
		to := from
		if m[2] != "" {
			to, _ = strconv.Atoi(m[2])
		}
		for n := from; n <= to; n++ {
			lost++
			if !repeated[n] {
				t.Errorf("frame %d was lost, and none is found to repeat it", n)
			}
		}
	}
	if want := 21; lost != want {
		t.Errorf("got %d lost frames in the text, want %d", lost, want)
	}
	if extra := len(repeated) - lost; extra > 5 { // what B's kernel counted as duplicates
		t.Errorf("got %d frames repeated without need, the kernel told 5", extra)
	}
}

// TestAllCaptures follows all captures: every frame of TIPC is read, and what is
// counted adds up.
//
// Proves: tools.decode
func TestAllCaptures(t *testing.T) {
	names, _ := filepath.Glob(filepath.Join(captures, "*.pcap"))
	for _, file := range names {
		name := strings.TrimSuffix(filepath.Base(file), ".pcap")
		packets, ofLinks := uint64(0), uint64(0)
		tr := follow(t, name, func(p conversation.Packet, v conversation.Verdict) {
			packets++
			if v.Link != nil || v.Broadcast {
				ofLinks++
			}
			if v.Repeats >= p.Number || v.Err != nil {
				t.Errorf("%s frame %d: got %+v", name, p.Number, v)
			}
		})
		got, beyond := tr.Totals()
		if got.Packets != packets || got.Malformed != 0 || beyond != (conversation.Beyond{}) {
			t.Errorf("%s: got %+v, %+v, want %d packets", name, got, beyond, packets)
		}
		var sum uint64
		for _, l := range tr.Links() {
			for _, c := range l.Sent {
				sum += c.Packets
				if c.Retransmitted+c.Duplicates+c.Late > c.Numbered || c.Naks > c.States {
					t.Errorf("%s: %v: got %+v", name, l, c)
				}
			}
		}
		for _, s := range tr.Senders() {
			sum += s.Sent.Packets
		}
		if sum != ofLinks {
			t.Errorf("%s: got %d packets in the counters, want %d", name, sum, ofLinks)
		}
	}
}

// TestPairsAndServices looks at who speaks with whom in two captures.
//
// Proves: tools.decode
func TestPairsAndServices(t *testing.T) {
	tr := follow(t, "16-loss-gap", nil)
	if len(tr.Services()) != 1 || len(tr.Pairs()) != 1 {
		t.Fatalf("got %d services, %d pairs, want 1, 1", len(tr.Services()), len(tr.Pairs()))
	}
	// Of 250 messages 900 bytes each; a message that is repeated counts once.
	if s := *tr.Services()[0]; s.Range.String() != "8888:1-1" || s.Messages != 250 || s.Bytes != 225000 || s.Returned != 0 {
		t.Errorf("got %+v, want 250 messages, 225000 bytes to 8888:1", s)
	}
	if p := *tr.Pairs()[0]; p.Messages != [2]uint64{250, 0} || p.Connected || p.Sockets[0].String() != "<1001001:1560346350>" {
		t.Errorf("got %+v, want 250 messages from <1001001:1560346350>", p)
	}
	tr = follow(t, "08-stream", nil)
	connected := 0
	for _, p := range tr.Pairs() {
		if p.Connected && p.Service != nil {
			connected++
		}
	}
	if connected == 0 {
		t.Error("08-stream: got no connection to a service")
	}
}

// BenchmarkTracker follows capture 16: the time and memory a packet takes.
func BenchmarkTracker(b *testing.B) {
	frames, err := layers.ReadFile(filepath.Join(captures, "16-loss-gap.pcap"))
	if err != nil {
		b.Fatal(err)
	}
	var packets []conversation.Packet
	for i, f := range frames {
		w, m, err := layers.Unwrap(f.Data)
		if err != nil {
			b.Fatal(err)
		}
		p := conversation.Packet{Number: i + 1, Time: f.Time.Sub(frames[0].Time), Len: f.Len, Message: m}
		p.Src.MAC, p.Dst.MAC = w.Src, w.Dst
		packets = append(packets, p)
	}
	b.ReportAllocs()
	tr := conversation.NewTracker(conversation.Limits{})
	for i := 0; b.Loop(); i++ {
		tr.Add(packets[i%len(packets)])
	}
}
