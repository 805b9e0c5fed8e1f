// SPDX-License-Identifier: Apache-2.0

package replay_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stacktest/replay"
)

// with returns the capture with frame no changed.
func with(c *replay.Capture, no int, change func(f *replay.Frame)) *replay.Capture {
	m := *c
	m.Frames = slices.Clone(c.Frames)
	for i := range m.Frames {
		if f := &m.Frames[i]; f.No == no {
			f.Data = bytes.Clone(f.Data)
			change(f)
			f.Message, f.Bad = frame.Parse(f.Data[frame.EthernetLen:])
		}
	}
	return &m
}

// TestEveryBitCounts changes a bit of every byte of what a node has sent, behind
// the station addresses: no such capture may agree.
//
// Proves: replay.notices
func TestEveryBitCounts(t *testing.T) {
	for _, name := range []string{"03-discovery-trial-conflict"} {
		c, calls := read(t, name)
		n := 0
		for _, node := range []string{"A", "B"} {
			for _, f := range c.Frames {
				if f.Src != stations[node] || testing.Short() && f.No%4 != 0 {
					continue
				}
				for k := 12; k < len(f.Data); k++ {
					n++
					m := with(c, f.No, func(f *replay.Frame) { f.Data[k] ^= 1 << (k % 8) })
					v, err := replay.Replay(m, replay.Options{Node: stations[node].String(), Calls: calls})
					if err == nil && v.OK() {
						t.Errorf("%s %s: a change in byte %d of frame %d, %x, goes unseen", name, node, k, f.No, f.Message.Bytes())
					}
				}
			}
		}
		t.Logf("%s: %d changed captures, each seen", name, n)
	}
}

// TestFieldsCount changes one field of one frame, sent or received, in places of
// special interest.
//
// Proves: replay.notices, group.kernels, socket.simulated
func TestFieldsCount(t *testing.T) {
	const eth = frame.EthernetLen
	for _, c := range []struct {
		capture, node string
		no, at        int // frame, byte of the message
		what          string
	}{
		{"01-discovery-linkup", "A", 1, 6, "capability of the first request"},
		{"01-discovery-linkup", "A", 3, 55, "network hash"},
		{"01-discovery-linkup", "A", 5, 11, "node answered"},
		{"01-discovery-linkup", "A", 12, 9, "acknowledge of the first STATE"},
		{"01-discovery-linkup", "A", 22, 23, "probe"},
		{"01-discovery-linkup", "A", 25, 1, "keepalive"},
		{"01-discovery-linkup", "A", 25, 11, "number of a STATE"},
		{"01-discovery-linkup", "A", 19, 19, "number of the next packet"},
		{"01-discovery-linkup", "A", 15, 59, "key of an item"},
		{"01-discovery-linkup", "A", 15, 4, "last bulk"},
		{"01-discovery-linkup", "A", 11, 21, "session of a peer's ACTIVATE (received)"},
		{"01-discovery-linkup", "A", 11, 7, "session it answers (received)"},
		{"01-discovery-linkup", "A", 24, 23, "probe of the peer (received)"},
		{"03-discovery-trial-conflict", "A", 13, 59, "suggested address"},
		{"03-discovery-trial-conflict", "B", 13, 59, "suggested address (received)"},
		{"05-names", "A", 25, 19, "number of an update"},
		{"05-names", "A", 46, 11, "number of a broadcast"},
		{"05-names", "A", 46, 22, "network of a broadcast"},
		{"05-names", "A", 131, 47, "first name of those of a process that ends"},
		{"05-names", "A", 135, 37, "count of a bundle on the broadcast link"},
		{"05-names", "A", 136, 103, "second name in a bundle"},
		{"05-names", "A", 138, 17, "last broadcast"},
		{"05-names", "A", 81, 7, "broadcast acknowledge that opens the window (received)"},
		{"05-names", "B", 132, 7, "broadcast acknowledge after sixteen"},
		{"07-rdm-reject", "B", 32, 4, "error code"},
		{"07-rdm-reject", "A", 28, 7, "broadcast acknowledge"},
		{"07-rdm-reject", "A", 29, 19, "originating port"},
		{"07-rdm-reject", "A", 29, 23, "destination port"},
		{"07-rdm-reject", "A", 29, 39, "instance"},
		{"07-rdm-reject", "A", 29, 43, "data"},
		{"07-rdm-reject", "A", 100, 9, "acknowledge of a packet"},
		{"07-rdm-reject", "A", 26, 55, "port of a binding (received)"},
		{"07-rdm-reject", "A", 157, 9, "acknowledge after sixteen"},
		{"07-rdm-reject", "B", 23, 4, "error code"},
		{"08-stream", "B", 67, 1, "answer to a message that asks"},
		{"08-stream", "B", 66, 1, "a message that asks (received)"},
		{"08-stream", "B", 77, 37, "blocks read before a message asks"},
		{"08-stream", "B", 123, 37, "blocks read before a message asks"},
		{"08-stream", "B", 59, 4, "error code"},
		{"08-stream", "A", 56, 4, "error code"},
		{"08-stream", "A", 66, 1, "a message that asks"},
		{"08-stream", "A", 76, 1, "a message that asks"},
		{"08-stream", "A", 77, 1, "answer to a message that asks (received)"},
		{"09-seqpacket", "A", 27, 1, "connection request"},
		{"09-seqpacket", "A", 28, 19, "port that accepts (received)"},
		{"09-seqpacket", "A", 33, 4, "error code"},
		{"09-seqpacket", "A", 43, 9, "acknowledge of a packet"},
		{"09-seqpacket", "B", 27, 1, "connection request (received)"},
		{"09-seqpacket", "B", 27, 19, "port that asks (received)"},
		{"09-seqpacket", "B", 28, 3, "size of the answer"},
		{"09-seqpacket", "B", 30, 24, "data that is returned"},
		{"09-seqpacket", "B", 102, 37, "blocks acknowledged"},
		{"09-seqpacket", "B", 102, 38, "window"},
		{"10-conn-process-crash", "B", 49, 4, "error code"},
		{"10-conn-process-crash", "B", 49, 33, "data that nobody has read"},
		{"10-conn-process-crash", "B", 84, 23, "port of the peer"},
		{"11-node-crash", "B", 53, 21, "session after a crash"},
		{"11-node-crash", "B", 47, 57, "signature after a crash"},
		{"11-node-crash", "A", 53, 21, "session of a node that is back (received)"},
		{"12-fragmentation", "A", 232, 37, "blocks acknowledged"},
		{"12-fragmentation", "A", 26, 17, "number of a fragment"},
		{"12-fragmentation", "B", 279, 9, "acknowledge between fragments"},
		{"13-bundling", "A", 237, 37, "count of a bundle"},
		{"14-multicast", "A", 71, 1, "copies to each node"},
		{"14-multicast", "A", 72, 31, "node a copy is for"},
		{"14-multicast", "A", 96, 1, "copies to each node"},
		{"14-multicast", "A", 150, 31, "node of a broadcast"},
		{"14-multicast", "B", 168, 18, "number of a fragment on the broadcast link"},
		{"14-multicast", "B", 127, 7, "broadcast acknowledge after sixteen"},
		{"14-multicast", "C", 126, 7, "broadcast acknowledge after sixteen"},
		{"15-broadcast-loss", "A", 86, 11, "number of a repeated broadcast"},
		{"15-broadcast-loss", "A", 237, 11, "number of a broadcast repeated after a probe"},
		{"15-broadcast-loss", "A", 88, 47, "block of the broadcast link (received)"},
		{"15-broadcast-loss", "A", 195, 7, "broadcast acknowledge with a gap (received)"},
		{"15-broadcast-loss", "C", 114, 45, "block of the broadcast link"},
		{"15-broadcast-loss", "C", 86, 11, "number of a broadcast (received)"},
		{"16-loss-gap", "A", 196, 11, "number of a repeated packet"},
		{"16-loss-gap", "A", 192, 3, "size of a report (received)"},
		{"16-loss-gap", "B", 60, 45, "block"},
		{"17-reorder-dup", "B", 80, 11, "number of a STATE after one was lost"},
		{"18-two-bearers-failover", "A", 243, 37, "count of a failover"},
		{"18-two-bearers-failover", "A", 333, 9, "acknowledge of what waited"},
		{"18-two-bearers-failover", "B", 240, 51, "number of a packet in a tunnel"},
		{"18-two-bearers-failover", "B", 240, 67, "data that is returned in a tunnel"},
		{"18-two-bearers-failover", "A", 681, 37, "blocks acknowledged after the first time"},
		{"18-two-bearers-failover", "A", 549, 37, "sync point"},
		{"19-two-bearers-disable", "A", 102, 49, "acknowledge of what ends a link"},
		{"19-two-bearers-disable", "B", 97, 37, "count of an empty failover"},
		{"20-link-reset-properties", "A", 28, 23, "priority"},
		{"20-link-reset-properties", "A", 30, 22, "peer stopping"},
		{"20-link-reset-properties", "A", 47, 39, "tolerance"},
		{"20-link-reset-properties", "A", 91, 21, "session after a reset"},
		{"20-link-reset-properties", "A", 89, 22, "redundant link of the last word"},
		{"21-topology", "B", 69, 11, "number of a broadcast after contact was lost"},
		{"21-topology", "B", 65, 19, "number of the bulk after updates"},
		{"21-topology", "A", 46, 22, "broadcast acknowledge invalid"},
		{"22-groups", "A", 58, 37, "number in a JOIN"},
		{"22-groups", "A", 59, 37, "number in a JOIN (received)"},
		{"22-groups", "A", 60, 39, "window of an ADV"},
		{"22-groups", "A", 84, 43, "acknowledge request of a broadcast"},
		{"22-groups", "A", 94, 41, "number of the next broadcast in a unicast"},
		{"22-groups", "A", 86, 37, "number in an ACK that lets the next broadcast go (received)"},
		{"22-groups", "B", 59, 9, "packet that a JOIN acknowledges"},
		{"22-groups", "B", 59, 39, "window of a JOIN"},
		{"22-groups", "B", 77, 39, "window of a JOIN"},
		{"22-groups", "B", 88, 37, "number in an ACK"},
		{"22-groups", "B", 88, 39, "spare half of an ACK"},
		{"22-groups", "B", 89, 39, "window of an ADV"},
		{"22-groups", "B", 134, 37, "number in a LEAVE"},
		{"22-groups", "C", 78, 39, "window of an ADV"},
		{"23-group-bulk", "A", 65, 23, "port that a JOIN is for"},
		{"23-group-bulk", "A", 76, 41, "number of a broadcast"},
		{"23-group-bulk", "A", 61, 39, "window of an ADV (received)"},
		{"23-group-bulk", "A", 376, 37, "number in an ACK"},
		{"23-group-bulk", "B", 298, 39, "window of an ADV, all read"},
		{"23-group-bulk", "B", 425, 39, "window of an ADV to one that blocks"},
		{"23-group-bulk", "C", 67, 9, "packet that a JOIN acknowledges"},
		{"23-group-bulk", "C", 73, 39, "window of an ADV"},
	} {
		cap, calls := read(t, c.capture)
		// Of bits that are part of one field any will do; flags are said by hand.
		bit := byte(1)
		switch c.what {
		case "keepalive", "last bulk":
			bit = 0x08
		case "copies to each node", "answer to a message that asks", "a message that asks (received)", "a message that asks", "answer to a message that asks (received)":
			bit = 0x04
		case "peer stopping":
			bit = 0x20
		case "priority", "redundant link of the last word":
			bit = 0x10
		case "packet that a JOIN acknowledges": // one less were a matter of when that came
			bit = 0x04
		case "broadcast acknowledge invalid", "window of an ADV (received)":
			bit = 0x40
		case "error code", "connection request", "connection request (received)":
			bit = 0x02
		}
		changed := false
		m := with(cap, c.no, func(f *replay.Frame) { f.Data[eth+c.at] ^= bit; changed = true })
		if !changed {
			t.Fatalf("%s has no frame %d", c.capture, c.no)
		}
		o := replay.Options{Node: stations[c.node].String(), Calls: calls}
		if v, err := replay.Replay(m, o); err == nil && v.OK() {
			t.Errorf("%s %s: changed %s of frame %d: got %v, want a difference", c.capture, c.node, c.what, c.no, v)
		}
	}
}

// TestCallsCount replays without a line of the calls that is about broadcasts or
// connections, or with another in its place.
//
// Proves: replay.notices, group.kernels, socket.simulated
func TestCallsCount(t *testing.T) {
	for _, x := range []struct{ capture, node, line, instead string }{
		{"05-names", "A", "A unbind 2688700929 5000:60-60 cluster", ""},
		{"05-names", "A", "1.851594 A close", "1.852894 A close"},
		{"07-rdm-reject", "B", "1.2 B slow eth0 400", ""},
		{"07-rdm-reject", "B", "2.5 B slow eth0 400", "2.5 B slow eth0 440"},
		{"08-stream", "B", "read 3655906485 12000", "read 3655906485 13000"},
		{"08-stream", "B", "B accept 3973906959 3233693113", ""},
		{"08-stream", "A", "A nodelay 4088915118", ""},
		{"08-stream", "A", "A nodelay 4088915118", "A nodelay 4088915118 off"},
		{"08-stream", "A", "1.136100 A send 2479922213 frame:62+49000:1000", ""},
		{"08-stream", "A", "A connect 2479922213 9002:1 stream", "A connect 2479922213 9002:1"},
		{"08-stream", "A", "A send 888592917 frame:29", "A send 888592917 frame:31"},
		{"09-seqpacket", "A", "A shutdown 1062716394", "A close 1062716394"},
		{"09-seqpacket", "A", "A connect 1062716394 9000:1 sink", "A connect 1062716394 9000:1"},
		{"09-seqpacket", "A", "A connect 1062716394 9000:1 sink", "A connect 1062716394 9000:1 sink medium"},
		{"09-seqpacket", "A", "A connect 1062716394 9000:1 sink", "A connect 1062716394 9000:1 sink text:x"},
		{"09-seqpacket", "A", "A connect 1062716394 9000:1 sink", "A connect 1062716394 <1001002:2479193336> sink"},
		{"09-seqpacket", "B", "accept 3274408815 2950934533 sink", "accept 3274408815 2950934533"},
		{"09-seqpacket", "B", "accept 2479193336 2793232826 echo", "accept 2479193336 2793232826 sink"},
		{"10-conn-process-crash", "B", "B accept 2403985391 2268056870", "B accept 2403985391 2268056870 sink"},
		{"10-conn-process-crash", "B", "B close 28327135", ""},
		{"11-node-crash", "B", "B crash", "B disable eth0"},
		{"14-multicast", "A", "method 1366550407 replicast", "method 1366550407 auto"},
		{"14-multicast", "A", "method 1366550407 replicast", "method 1366550407 broadcast"},
		{"14-multicast", "A", "method 1041772422 broadcast", "method 1041772422 replicast"},
		{"14-multicast", "A", "mcast 1041772422 7777:0-10 frame:110", ""},
		{"14-multicast", "B", "mcast 3247236482 7777:0-4 frame:170", "mcast 3247236482 7777:0-3 frame:170"},
		{"14-multicast", "C", "mcast 2632569789 7777:5 frame:188", "mcast 2632569789 7777:5 frame:193"},
		{"15-broadcast-loss", "A", "A ticks 2.25", "A ticks 2"},
		{"15-broadcast-loss", "A", "A ticks 2.25", "A ticks 2.5"},
		{"15-broadcast-loss", "B", "B lost 77", ""},
		{"15-broadcast-loss", "C", "C lost 233", ""},
		{"22-groups", "A", "4242:1 loopback", "4242:2 loopback"},
		{"22-groups", "A", "each 3 text:hello-three", "all text:hello-three"},
		{"22-groups", "A", "any 3 text:hello-3", "any 2 text:hello-3"},
		{"22-groups", "A", "A leave 3110602988", ""},
		{"22-groups", "B", "loopback busy:3.8", "loopback"},
		{"22-groups", "B", "B late 72 1.5", ""},
		{"22-groups", "C", "C leave 1142425823", ""},
		{"23-group-bulk", "A", "A join 2919825266 4242:1", "A bind 2919825266 4242:1"},
		{"23-group-bulk", "B", "1.630310 B group-send 1036337009 all frame:431", "1.633505 B group-send 1036337009 all frame:431"},
		{"23-group-bulk", "C", "4242:3 busy:5.8", "4242:3"},
	} {
		c, _ := read(t, x.capture)
		text, err := os.ReadFile(filepath.Join(captures, x.capture+".calls"))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, x.line) })
		if i < 0 {
			t.Fatalf("%s has no line %q", x.capture, x.line)
		}
		if lines[i] = strings.Replace(lines[i], x.line, x.instead, 1); x.instead == "" {
			lines[i] = ""
		}
		changed, err := replay.ParseCalls(strings.NewReader(strings.Join(lines, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		o := replay.Options{Node: stations[x.node].String(), Calls: changed}
		if x.node == "B" && x.capture == "07-rdm-reject" {
			o.Until = 89
		}
		if v, err := replay.Replay(c, o); err == nil && v.OK() {
			t.Errorf("%s %s: %q for %q: got %v, want a difference", x.capture, x.node, x.instead, x.line, v)
		}
	}
}

// TestOrderCounts has frames come twice, not at all, or in another order.
//
// Proves: replay.notices
func TestOrderCounts(t *testing.T) {
	c, calls := read(t, "01-discovery-linkup")
	o := replay.Options{Node: "A", Calls: calls}
	at := func(no int) int { return slices.IndexFunc(c.Frames, func(f replay.Frame) bool { return f.No == no }) }
	for _, x := range []struct {
		name   string
		change func(f []replay.Frame) []replay.Frame
	}{
		{"a request is missing", func(f []replay.Frame) []replay.Frame { return slices.Delete(f, at(3), at(3)+1) }},
		{"a response is missing", func(f []replay.Frame) []replay.Frame { return slices.Delete(f, at(7), at(7)+1) }},
		{"the bulk is missing", func(f []replay.Frame) []replay.Frame { return slices.Delete(f, at(15), at(15)+1) }},
		{"a reply came twice", func(f []replay.Frame) []replay.Frame { return slices.Insert(f, at(25), f[at(25)]) }},
		{"STATE and opening are exchanged", func(f []replay.Frame) []replay.Frame {
			f[at(12)].Data, f[at(13)].Data = f[at(13)].Data, f[at(12)].Data
			f[at(12)].Message, f[at(13)].Message = f[at(13)].Message, f[at(12)].Message
			return f
		}},
		{"the peer's probe never came", func(f []replay.Frame) []replay.Frame { return slices.Delete(f, at(24), at(24)+1) }},
	} {
		m := *c
		m.Frames = x.change(slices.Clone(c.Frames))
		if v, err := replay.Replay(&m, o); err == nil && v.OK() {
			t.Errorf("%s: got %v, want a difference", x.name, v)
		}
	}
}

// TestTimersHaveBounds has every frame from one on recorded later, so that one
// timer rings too late, or earlier.
//
// Proves: replay.notices
func TestTimersHaveBounds(t *testing.T) {
	c, calls := read(t, "01-discovery-linkup")
	o := replay.Options{Node: "A", Calls: calls}
	const probe = 22 // due at 1.685 s, recorded at 1.695
	for _, x := range []struct {
		by   time.Duration
		want bool
	}{
		{0, true},
		{50 * time.Millisecond, true},
		{replay.LateBy(375 * time.Millisecond), false},
		{-20 * time.Millisecond, true},
		{-replay.EarlyBy - 20*time.Millisecond, false},
	} {
		m := *c
		m.Frames = slices.Clone(c.Frames)
		for i := range m.Frames {
			if m.Frames[i].No >= probe {
				m.Frames[i].At += x.by
			}
		}
		m.End += x.by
		v, err := replay.Replay(&m, o)
		if err != nil || v.OK() != x.want {
			t.Errorf("%v later: got %v, %v, want agreement %v", x.by, v, err, x.want)
		}
	}
}

// TestAnswersHaveBounds has the last frame, an answer, recorded later.
//
// Proves: replay.notices
func TestAnswersHaveBounds(t *testing.T) {
	c, calls := read(t, "01-discovery-linkup")
	for _, x := range []struct {
		by   time.Duration
		want bool
	}{
		{0, true},
		{replay.AnswersWithin - 10*time.Millisecond, true},
		{replay.AnswersWithin + time.Millisecond, false},
	} {
		m := *c
		m.Frames = slices.Clone(c.Frames)
		m.Frames[len(m.Frames)-1].At += x.by
		m.End += x.by
		v, err := replay.Replay(&m, replay.Options{Node: "A", Calls: calls})
		if err != nil || v.OK() != x.want {
			t.Errorf("%v later: got %v, %v, want agreement %v", x.by, v, err, x.want)
		}
	}
}

// TestSlowInterface ends a capture anywhere while an interface of the node delays what it
// sends: what it sent is known as far as it was recorded.
//
// Proves: replay.notices
func TestSlowInterface(t *testing.T) {
	c, calls := read(t, "07-rdm-reject")
	for until := 27; until <= 89; until++ {
		v, err := replay.Replay(c, replay.Options{Node: "B", Calls: calls, Until: until})
		if err != nil {
			t.Fatal(err)
		}
		if !v.OK() {
			t.Errorf("up to %d: got %v, want agreement\n%v", until, v, v.Diff)
		}
	}
	calls, err := replay.ParseCalls(strings.NewReader("1 1001002 slow eth7 5"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replay.Replay(c, replay.Options{Node: "1001002", Calls: calls}); err == nil || !strings.Contains(err.Error(), "line 1 of the calls: slow: there is no interface eth7") {
		t.Errorf("got %v, want the line and the interface", err)
	}
}
