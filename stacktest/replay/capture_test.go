// SPDX-License-Identifier: Apache-2.0

package replay_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
	"github.com/utipc/utipc/stacktest/replay"
)

// pcap writes frames as a file; cut is the longest that is kept of each.
func pcap(frames []layers.Frame, cut int) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 0xa1b2c3d4)
	b = le.AppendUint16(le.AppendUint16(b, 2), 4)
	b = append(b, make([]byte, 8)...)
	b = le.AppendUint32(le.AppendUint32(b, 65535), 1)
	for _, f := range frames {
		d := f.Data[:min(cut, len(f.Data))]
		b = le.AppendUint32(b, uint32(f.Time.Unix()))
		b = le.AppendUint32(b, uint32(f.Time.Nanosecond()/1000))
		b = le.AppendUint32(le.AppendUint32(b, uint32(len(d))), uint32(len(f.Data)))
		b = append(b, d...)
	}
	return b
}

func plain(t *testing.T, name string) []layers.Frame {
	t.Helper()
	f, err := layers.ReadFile(filepath.Join(captures, name+".pcap"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func parse(t *testing.T, b []byte) *replay.Capture {
	t.Helper()
	c, err := replay.Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What is around and in a capture beside whole frames of TIPC is told, and does not
// disturb the replay.
//
// Proves: replay.input
func TestForeignFrames(t *testing.T) {
	whole := plain(t, "01-discovery-linkup")
	with := func(at int, data []byte) []layers.Frame {
		f := whole[at]
		f.Data = data
		return slices.Insert(slices.Clone(whole), at, f)
	}
	each := func(change func(b []byte) []byte) (all []layers.Frame) {
		for _, f := range whole {
			f.Data = change(slices.Clone(f.Data))
			all = append(all, f)
		}
		return all
	}
	arp := append(slices.Clone(whole[0].Data[:12]), 8, 6, 0, 1)
	for _, c := range []struct {
		name   string
		frames []layers.Frame
		note   string
		ok     bool
	}{
		{"as it is", whole, "", true},
		{"ARP", with(3, arp), "1 frames, the first is 4, carry other protocols", true},
		{"three bytes", with(60, []byte{1, 2, 3}), "1 frames, the first is 61, carry other protocols", true},
		{"TIPC over UDP", with(60, plain(t, "26-udp-multicast")[0].Data), "carry UDP", true},
		{"VLAN tags", each(func(b []byte) []byte { return slices.Insert(b, 12, 0x81, 0, 0, 5) }), "69 frames, the first is 1, have VLAN tags", true},
		{"padding", each(func(b []byte) []byte { return append(b, make([]byte, 9)...) }), "", true},
		{"an encrypted frame of another", with(30, append(slices.Clone(whole[8].Data[:14]), bytes.Repeat([]byte{0xe0}, 60)...)), "1 frames, the first is 31, are encrypted", true},
		{"a broken frame of another", with(30, append(slices.Clone(whole[8].Data[:14]), bytes.Repeat([]byte{0x42}, 60)...)), "1 frames, the first is 31, do not parse", true},
	} {
		m := parse(t, pcap(c.frames, 1<<16))
		if got := strings.Join(m.Notes, "; "); c.note == "" && got != "" || !strings.Contains(got, c.note) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.note)
		}
		v, err := replay.Replay(m, replay.Options{Node: "1001001"})
		if err != nil || v.OK() != c.ok {
			t.Errorf("%s: got %v, %v, want agreement %v", c.name, v, err, c.ok)
		}
	}
}

// A file that ends anywhere is replayed as far as it goes.
//
// Proves: replay.input
func TestTruncatedFile(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(captures, "01-discovery-linkup.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	step := 1
	if testing.Short() {
		step = 7
	}
	for n := 0; n < len(b); n += step {
		c, err := replay.Read(bytes.NewReader(b[:n]))
		if err != nil {
			if n > 24 {
				t.Errorf("cut to %d: got %v, want what is there", n, err)
			}
			continue
		}
		v, err := replay.Replay(c, replay.Options{Node: "1001001"})
		switch {
		case errors.Is(err, replay.ErrNode): // nothing of it is there yet
		case err != nil || !v.OK():
			t.Errorf("cut to %d, %d frames: got %v, %v, want agreement\n%v", n, len(c.Frames), v, err, v.Diff)
		}
	}
}

// Frames that the capture cut are compared as far as they go, and not fed.
//
// Proves: replay.input
func TestCutFrames(t *testing.T) {
	whole := plain(t, "04-discovery-no-link")
	c := parse(t, pcap(whole, 60))
	if got := strings.Join(c.Notes, "; "); !strings.Contains(got, "21 frames, the first is 1, are cut short") {
		t.Errorf("got %q, want a note of 21 frames", got)
	}
	if _, err := replay.Replay(c, replay.Options{Node: "1001002"}); !errors.Is(err, replay.ErrNode) {
		t.Errorf("all cut: got %v, want ErrNode: not even who they are is known", err)
	}
	// Only the later ones are cut: those of this node agree up to there.
	some := slices.Clone(whole)
	c = parse(t, pcap(some, 1<<16))
	for i := range c.Frames {
		if f := &c.Frames[i]; f.No > 6 {
			f.Data, f.Cut, f.Message, f.Bad = f.Data[:60], true, frame.Message{}, frame.ErrTruncated
		}
	}
	v, err := replay.Replay(c, replay.Options{Node: "1001002"})
	if err != nil || v.Diff == nil || v.Sent < 2 {
		t.Errorf("some cut: got %v, %v, want what can be compared, and a difference", v, err)
	}
}

// A capture that starts in the middle is refused with the reason.
//
// Proves: replay.input
func TestStartsInTheMiddle(t *testing.T) {
	whole := plain(t, "01-discovery-linkup")
	for _, x := range []struct {
		first int // frames left out
		node  string
		want  string
	}{
		{3, "1001001", "frame 2, the first of 1001001, is not the broadcast request or trial"},
		{8, "1001002", "is of a link that is up"}, // B's own request is there, its ACTIVATE too
		{11, "1001001", "frame 1, the first of 1001001, is not the broadcast request or trial"},
		{20, "1001002", "frame 3 of 1001002 is of a link that is up"},
	} {
		v, err := replay.Replay(parse(t, pcap(whole[x.first:], 1<<16)), replay.Options{Node: x.node})
		if x.first == 8 {
			// Nothing shows the middle; the answers do not fit.
			if err != nil || v.OK() {
				t.Errorf("without the first %d: got %v, %v, want a difference", x.first, v, err)
			}
			continue
		}
		if !errors.Is(err, replay.ErrMiddle) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("without the first %d: got %v, %v, want ErrMiddle, %q", x.first, v, err, x.want)
		}
	}
}

// Proves: replay.input
func TestStation(t *testing.T) {
	c, calls := read(t, "04-discovery-no-link")
	for _, x := range []struct{ name, want string }{
		{"1001002", "52:54:8a:10:0b:00"},
		{"1.1.2", "52:54:8a:10:0b:00"},
		{"52:54:93:d1:d7:00", "52:54:93:d1:d7:00"},
		{"C", "52:54:93:d1:d7:00"},
		{"1.1.1", ""}, // two have it
		{"1.1.9", ""},
		{"D", ""},
		{"", ""},
	} {
		s, err := c.Station(x.name, calls)
		if x.want == "" && !errors.Is(err, replay.ErrNode) || x.want != "" && (err != nil || s.MAC.String() != x.want) {
			t.Errorf("%q: got %v, %v, want %q", x.name, s, err, x.want)
		}
	}
}

// A node with several bearers is one, by whichever of them it is named.
func TestStationOfSeveralBearers(t *testing.T) {
	c, calls := read(t, "18-two-bearers-failover")
	if all := c.Stations(); len(all) != 2 || len(all[0].MACs) != 2 || len(all[1].MACs) != 2 {
		t.Errorf("got %v, want 2 nodes with 2 bearers each", all)
	}
	for _, name := range []string{"A", "1.1.1", "52:54:61:4f:d8:00", "52:54:61:4f:d8:01"} {
		if s, err := c.Station(name, calls); err != nil || s.MAC != stations["A"] {
			t.Errorf("%q: got %v, %v, want %v", name, s, err, stations["A"])
		}
	}
}

// A verdict that takes too many allowances is none.
//
// Proves: replay.notices
func TestTooManyAllowances(t *testing.T) {
	for _, x := range []struct {
		n    int
		want bool
	}{{0, true}, {5, true}, {6, false}} {
		v := replay.Verdict{Of: 100, Sent: 100, Allowed: map[string]int{"a": x.n / 2, "b": x.n - x.n/2}}
		if v.OK() != x.want {
			t.Errorf("%d of 100 frames: got %v, want agreement %v", x.n, &v, x.want)
		}
	}
	for _, a := range replay.Allowances {
		if a.Name == "" || a.Field == "" || a.Rule == "" || a.Capture == "" || a.Reason == "" {
			t.Errorf("%+v does not say all", a)
		}
	}
}
