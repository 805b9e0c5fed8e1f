// SPDX-License-Identifier: Apache-2.0

package conversation_test

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/conversation"
	"github.com/utipc/utipc/frame/layers"
)

// FuzzTracker gives a Tracker with small limits any packets: it does not panic, keeps
// its limits, and does the same again. Each packet is two bytes of length, a byte that
// says from which to which of four stations, and the message.
//
// Proves: tools.decode
func FuzzTracker(f *testing.F) {
	for _, name := range []string{"01-discovery-linkup", "12-fragmentation", "13-bundling", "16-loss-gap", "18-two-bearers-failover", "22-groups"} {
		frames, err := layers.ReadFile(filepath.Join(captures, name+".pcap"))
		if err != nil {
			f.Fatal(err)
		}
		var b []byte
		for _, x := range frames[:16] {
			_, m, err := layers.Unwrap(x.Data)
			if err != nil {
				continue
			}
			b = binary.BigEndian.AppendUint16(b, uint16(len(m)))
			b = append(append(b, x.Data[5]&3|x.Data[11]&3<<2), m...)
		}
		f.Add(b)
	}
	limits := conversation.Limits{Links: 3, Stations: 3, Pairs: 3, Services: 3, Numbers: 200}
	f.Fuzz(func(t *testing.T, b []byte) {
		var first string
		for range 2 {
			tr := conversation.NewTracker(limits)
			rest, n := b, 0
			for len(rest) >= 3 {
				size := min(int(binary.BigEndian.Uint16(rest)), len(rest)-3)
				p := conversation.Packet{Number: n + 1, Time: time.Duration(n) * time.Millisecond, Len: size, Message: rest[3 : 3+size]}
				p.Dst.MAC, p.Src.MAC = frame.MAC{rest[2] & 3}, frame.MAC{rest[2] >> 2 & 3}
				p.Lost = rest[2]&0x80 != 0
				rest = rest[3+size:]
				n++
				if v := tr.Add(p); v.Repeats > n || v.Skipped < 0 || v.Acked < 0 || v.Reported < 0 {
					t.Fatalf("packet %d: got %+v", n, v)
				}
			}
			if len(tr.Links()) > limits.Links || len(tr.Senders()) > limits.Links || len(tr.Pairs()) > limits.Pairs || len(tr.Services()) > limits.Services {
				t.Fatalf("got %d links, %d senders, %d pairs, %d services, want at most 3 each",
					len(tr.Links()), len(tr.Senders()), len(tr.Pairs()), len(tr.Services()))
			}
			total, beyond := tr.Totals()
			text := fmt.Sprint(total, beyond)
			for _, l := range tr.Links() {
				text += fmt.Sprint(l, l.Sent)
			}
			for _, x := range tr.Pairs() {
				text += fmt.Sprint(x.Sockets, x.Messages, x.Bytes, x.Returned)
			}
			if first == "" {
				first = text
			} else if text != first {
				t.Fatalf("got %s, then %s", first, text)
			}
		}
	})
}

// TestLimits: beyond each limit nothing is kept, and it is counted.
func TestLimits(t *testing.T) {
	tr := conversation.NewTracker(conversation.Limits{Links: 2, Stations: 8, Pairs: 2, Services: 2})
	for i := range 5 {
		f := frame.PayloadFields{Type: frame.NamedMsg, OrigPort: 7, DestPort: uint32(i + 1), OrigNode: 1, DestNode: frame.NodeAddr(i + 2), NameType: uint32(i + 100)}
		f.Prev, f.Seq = 1, 1
		p := conversation.Packet{Number: i + 1, Message: f.Append(nil, nil)}
		p.Src.MAC, p.Dst.MAC = frame.MAC{1}, frame.MAC{byte(i + 2)}
		tr.Add(p)
	}
	_, beyond := tr.Totals()
	if want := (conversation.Beyond{Links: 3, Pairs: 3, Services: 3}); beyond != want {
		t.Errorf("got %+v, want %+v", beyond, want)
	}
}

// An example of what is found in a capture.
//
// Proves: house.docs
func ExampleTracker() {
	frames, err := layers.ReadFile(filepath.Join(captures, "16-loss-gap.pcap"))
	if err != nil {
		fmt.Println(err)
		return
	}
	t := conversation.NewTracker(conversation.Limits{})
	for i, f := range frames {
		w, message, err := layers.Unwrap(f.Data)
		if err != nil {
			continue
		}
		p := conversation.Packet{Number: i + 1, Time: f.Time.Sub(frames[0].Time), Len: f.Len, Message: message}
		p.Src.MAC, p.Dst.MAC = w.Src, w.Dst
		if v := t.Add(p); v.Class == conversation.Retransmitted && i < 75 {
			fmt.Printf("frame %d repeats frame %d\n", p.Number, v.Repeats)
		}
	}
	for _, l := range t.Links() {
		fmt.Println(l, "retransmitted:", l.Sent[0].Retransmitted)
	}
	// Output:
	// frame 61 repeats frame 35
	// 1001001:eth0-1001002:eth0 retransmitted: 26
}
