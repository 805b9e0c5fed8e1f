// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
)

// udpOverIP puts a message into a datagram between two ports.
func udpOverIP(six bool, from, to uint16, message []byte) []byte {
	udp := []byte{byte(from >> 8), byte(from), byte(to >> 8), byte(to), byte((8 + len(message)) >> 8), byte(8 + len(message)), 0, 0}
	udp = append(udp, message...)
	b := make([]byte, 12)
	copy(b, "\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01")
	if six {
		b = append(b, 0x86, 0xdd, 0x60, 0, 0, 0, byte(len(udp)>>8), byte(len(udp)), 17, 64)
		return append(append(b, make([]byte, 32)...), udp...)
	}
	n := 20 + len(udp)
	b = append(b, 8, 0, 0x45, 0, byte(n>>8), byte(n), 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2)
	return append(b, udp...)
}

// ipFragments cuts the datagram in a frame of udpOverIP into fragments of so many bytes.
func ipFragments(b []byte, id uint16, size int) (all [][]byte) {
	six := b[12] == 0x86
	head, data := b[:34], b[34:]
	if six {
		head, data = b[:54], b[54:]
	}
	for at := 0; at < len(data); at += size {
		end := min(at+size, len(data))
		more := end < len(data)
		f := bytes.Clone(head)
		if six {
			binary.BigEndian.PutUint16(f[18:], uint16(8+end-at))
			f[20] = 44
			place := uint16(at)
			if more {
				place |= 1
			}
			f = binary.BigEndian.AppendUint16(append(f, 17, 0), place)
			f = binary.BigEndian.AppendUint32(f, uint32(id))
		} else {
			binary.BigEndian.PutUint16(f[16:], uint16(20+end-at))
			binary.BigEndian.PutUint16(f[18:], id)
			place := uint16(at / 8)
			if more {
				place |= 0x2000
			}
			binary.BigEndian.PutUint16(f[20:], place)
		}
		all = append(all, append(f, data[at:end]...))
	}
	return all
}

// Fragments of four datagrams between each other, backwards and twice; one that misses some,
// and one that contradicts itself. Each whole one is printed where it becomes whole, in every
// view, and the last lines name what never became whole.
//
// Mutations it catches: read without the joined frame; follows without its bytes; frames
// without Flush; total without the names.
func TestDecodeFragments(t *testing.T) {
	f := frame.PayloadFields{Type: frame.DirectMsg, OrigNode: 0x1001001, DestNode: 0x1001002, OrigPort: 3, DestPort: 4}
	f.Prev = 0x1001001
	datagram := func(six bool, fill byte) []byte {
		return udpOverIP(six, 6118, 6118, f.Append(nil, bytes.Repeat([]byte{fill}, 2900)))
	}
	a, b := ipFragments(datagram(false, 'a'), 1, 1480), ipFragments(datagram(false, 'b'), 2, 1480)
	c, d := ipFragments(datagram(true, 'c'), 1, 1448), ipFragments(datagram(false, 'd'), 4, 1480)
	bad := ipFragments(datagram(false, 'e'), 5, 1480)
	other := ipFragments(udpOverIP(false, 53, 99, make([]byte, 2000)), 6, 1480)
	broken := bytes.Clone(bad[0])
	broken[len(broken)-1]++
	all := pcap(1, 1<<16,
		a[0], b[1], c[2], c[0], a[0], d[1], // 6
		b[0], bad[0], broken, bad[1], // 10: the first makes b whole
		c[1], a[1], other[0]) // 13: two more
	out, errs, status := utipc(bytes.NewReader(all), "decode", "-")
	got := strings.Split(out, "\n")
	if errs != "" || status != cmdline.Done || len(got) != 13+2+1 {
		t.Fatalf("got %q, %q, status %d, want 13 frames and 2 lines", out, errs, status)
	}
	for n, want := range map[int]string{
		2:  "fragment 1480-2939 of 10.0.0.1>10.0.0.2 id=0002",
		3:  "fragment 2896-2939 of ::>:: id=0001",
		5:  "fragment 0-1479 of 10.0.0.1>10.0.0.2 id=0001, again",
		7:  "fragments=2 udp 1001001>1001002 data-low/direct",
		9:  "fragment 0-1479 of 10.0.0.1>10.0.0.2 id=0005, refused: it contradicts others",
		10: "id=0005, refused: it contradicts others",
		11: "fragments=3 udp 1001001>1001002 data-low/direct",
		12: "fragments=2 udp 1001001>1001002 data-low/direct",
		14: "incomplete: 10.0.0.1>10.0.0.2 id=0004, 1460 of 2940 bytes in frame 6",
		15: "13 frames, 3 tipc, 0 unknown, 0 malformed, 13 fragments, 3 joined, 2 refused, 1 incomplete",
	} {
		if !strings.Contains(got[n-1], want) {
			t.Errorf("line %d: got %q, want %q", n, got[n-1], want)
		}
	}

	out, _, _ = utipc(bytes.NewReader(all), "decode", "--json", "-")
	got = strings.Split(out, "\n")
	var total struct {
		Total struct {
			TIPC, Fragments, Joined, Refused, Incomplete int
			Datagrams                                    []struct {
				From, To  string
				ID, Bytes int
				Of        int
				Frames    []int
			} `json:"incomplete_datagrams"`
		}
	}
	if err := json.Unmarshal([]byte(got[13]), &total); err != nil {
		t.Fatal(err)
	}
	if x := total.Total; x.TIPC != 3 || x.Fragments != 13 || x.Joined != 3 || x.Refused != 2 || x.Incomplete != 1 ||
		len(x.Datagrams) != 1 || x.Datagrams[0].ID != 4 || x.Datagrams[0].Of != 2940 || x.Datagrams[0].Frames[0] != 6 {
		t.Errorf("got %s", got[13])
	}
	if want := `"udp":true,"fragments":[3,4,11]`; !strings.Contains(got[10], want) {
		t.Errorf("got %s, want %s", got[10], want)
	}

	// The views: the tracker sees each datagram, with the bytes of all its frames.
	out, _, _ = utipc(bytes.NewReader(all), "decode", "--ladder", "--ascii", "-")
	if got := strings.Count(out, " data to 4 2900B "); got != 3 {
		t.Errorf("got %d arrows, want 3, in\n%s", got, out)
	}
	out, _, _ = utipc(bytes.NewReader(all), "decode", "--stats", "-")
	for _, frames := range [][][]byte{{a[0], a[1], b[0], b[1]}, c} {
		if wire := itoa(len(bytes.Join(frames, nil))); !strings.Contains(out, "  bytes  ") || !strings.Contains(out, " "+wire+" ") {
			t.Errorf("got\n%s\nwant %s bytes", out, wire)
		}
	}
}

// Twenty datagrams that were never whole are counted, and sixteen of them named.
func TestDecodeManyIncomplete(t *testing.T) {
	var all [][]byte
	for id := range 20 {
		all = append(all, ipFragments(udpOverIP(false, 6118, 6118, make([]byte, 2000)), uint16(id), 1480)[0])
	}
	out, _, _ := utipc(bytes.NewReader(pcap(1, 1<<16, all...)), "decode", "-")
	if n := strings.Count(out, "incomplete: 10.0.0.1>"); n != 16 || !strings.Contains(out, "id=000f, 1480 bytes in frame 16\nincomplete: 4 more\n") ||
		!strings.HasSuffix(lastLine(t, out), "20 fragments, 0 joined, 0 refused, 20 incomplete") {
		t.Errorf("got %s", out)
	}
}
