// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	glayers "github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"github.com/utipc/utipc/frame/layers"
)

const captures = "../../test/testdata/captures"

func capture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(captures, name+".pcap"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readAll reads as far as it goes; err is nil at the end of the file.
func readAll(b []byte) (all []layers.Frame, err error) {
	r, err := layers.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	for {
		f, err := r.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			if _, again := r.Next(); again != err {
				return all, errors.New("Next after an error: another error")
			}
			return all, err
		}
		all = append(all, f)
	}
}

// toNg writes frames as pcapng.
func toNg(t testing.TB, frames []layers.Frame) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := pcapgo.NewNgWriter(&b, glayers.LinkTypeEthernet)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		ci := gopacket.CaptureInfo{Timestamp: f.Time, CaptureLength: len(f.Data), Length: f.Len}
		if err := w.WritePacket(ci, f.Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadFile(t *testing.T) {
	frames, err := layers.ReadFile(filepath.Join(captures, "01-discovery-linkup.pcap"))
	if err != nil || len(frames) != 69 {
		t.Fatalf("got %d frames, %v, want 69, nil", len(frames), err)
	}
	for i, f := range frames {
		if !f.IsEthernet() || f.Cut() || f.Len != len(f.Data) {
			t.Errorf("frame %d: got Ethernet %v, cut %v, want true, false", i+1, f.IsEthernet(), f.Cut())
		}
	}
	if got, want := frames[7].Time.Sub(frames[0].Time).Round(time.Millisecond), 931*time.Millisecond; got != want {
		t.Errorf("frame 8: got %v, want %v after frame 1", got, want)
	}
	if _, err := layers.ReadFile(filepath.Join(captures, "none.pcap")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such file: got %v, want %v", err, os.ErrNotExist)
	}
}

func TestReadNg(t *testing.T) {
	want, err := readAll(capture(t, "06-rdm"))
	if err != nil {
		t.Fatal(err)
	}
	want[3].Data = want[3].Data[:40] // as by a snap length
	got, err := readAll(toNg(t, want))
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %d frames, %v, want %d, nil", len(got), err, len(want))
	}
	for i := range want {
		if !bytes.Equal(got[i].Data, want[i].Data) || got[i].Len != want[i].Len || !got[i].Time.Equal(want[i].Time) || !got[i].IsEthernet() {
			t.Errorf("frame %d: got %+v, want %+v", i+1, got[i], want[i])
		}
	}
	if !got[3].Cut() {
		t.Errorf("frame 4: got whole, want cut")
	}
}

func TestReadBigEndianNanoseconds(t *testing.T) {
	b := binary.BigEndian.AppendUint32(nil, 0xa1b23c4d)
	b = append(b, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1) // snap length 0
	b = append(b, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0, 60, 1, 2, 3)
	got, err := readAll(b)
	if err != nil || len(got) != 1 {
		t.Fatalf("got %d frames, %v, want 1, nil", len(got), err)
	}
	if f := got[0]; !f.Time.Equal(time.Unix(7, 9)) || f.Len != 60 || !f.Cut() || !bytes.Equal(f.Data, []byte{1, 2, 3}) {
		t.Errorf("got %+v, want 3 of 60 bytes at 7 s 9 ns", f)
	}
}

func TestReadDamaged(t *testing.T) {
	whole := capture(t, "01-discovery-linkup")
	frames, _ := readAll(whole)
	ng := toNg(t, frames)
	edit := func(b []byte, at int, v uint32) []byte {
		b = bytes.Clone(b)
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	first := bytes.Index(ng, frames[0].Data) - 28  // the first packet's block
	fourth := bytes.Index(ng, frames[3].Data) - 28 // the first three are alike
	for _, c := range []struct {
		name   string
		b      []byte
		frames int
		want   error
	}{
		{"nothing", nil, 0, layers.ErrEmpty},
		{"one byte", []byte{0xd4}, 0, layers.ErrFormat},
		{"text", []byte("no capture at all"), 0, layers.ErrFormat},
		{"half a head", whole[:20], 0, layers.ErrCut},
		{"head alone", whole[:24], 0, nil},
		{"half a record's head", whole[:30], 0, layers.ErrCut},
		{"a record's head alone", whole[:40], 0, layers.ErrCut},
		{"half a frame", whole[:80], 0, layers.ErrCut},
		{"last byte missing", whole[:len(whole)-1], 68, layers.ErrCut},
		{"huge record", edit(whole, 32, 0xfffffff0), 0, layers.ErrDamaged},
		{"captured more than there was", edit(whole, 36, 10), 0, layers.ErrDamaged},
		{"version", edit(whole, 4, 9), 0, layers.ErrFormat},
		{"gzip without content", []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}, 0, layers.ErrCut},
		{"pcapng: half a section", ng[:10], 0, layers.ErrCut},
		{"pcapng: whole", ng, 69, nil},
		{"pcapng: last byte missing", ng[:len(ng)-1], 68, layers.ErrCut},
		{"pcapng: in the fourth block", ng[:fourth+30], 3, layers.ErrCut},
		{"pcapng: byte order", edit(ng, 8, 0), 0, layers.ErrDamaged},
		{"pcapng: huge block", edit(ng, fourth+4, 0x7ffffff0), 3, layers.ErrDamaged},
		{"pcapng: tiny block", edit(ng, fourth+4, 8), 3, layers.ErrDamaged},
		{"pcapng: huge frame", edit(ng, first+20, 0x7ffffff0), 0, layers.ErrDamaged},
		{"pcapng: no such interface", edit(ng, first+8, 7), 0, layers.ErrDamaged},
	} {
		got, err := readAll(c.b)
		if !errors.Is(err, c.want) || len(got) != c.frames {
			t.Errorf("%s: got %d frames, %v, want %d, %v", c.name, len(got), err, c.frames, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "runtime error") {
			t.Errorf("%s: a panic instead of a check: %v", c.name, err)
		}
	}
}

// TestReadCutAnywhere cuts both formats at every byte: what is whole is read, and
// the cut is said.
func TestReadCutAnywhere(t *testing.T) {
	pcap := capture(t, "04-discovery-no-link")
	frames, _ := readAll(pcap)
	for name, b := range map[string][]byte{"pcap": pcap, "pcapng": toNg(t, frames)} {
		before := 0
		for n := range b {
			got, err := readAll(b[:n])
			if len(got) < before || len(got) > len(frames) {
				t.Fatalf("%s cut to %d: got %d frames, want at least %d", name, n, len(got), before)
			}
			if before = len(got); before == len(frames) && name == "pcap" && err == nil {
				t.Errorf("%s cut to %d: got nil, want an error", name, n)
			}
		}
	}
}

// Proves: wire.hostile
func FuzzReader(f *testing.F) {
	pcap := capture(f, "01-discovery-linkup")
	frames, _ := readAll(pcap)
	f.Add(pcap[:600])
	f.Add(toNg(f, frames[:3]))
	f.Add(toNg(f, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := readAll(b)
		if err != nil && strings.Contains(err.Error(), "runtime error") {
			t.Errorf("a panic instead of a check: %v", err)
		}
		for i, x := range all {
			if len(x.Data) > x.Len || len(x.Data) > 256<<10 {
				t.Errorf("frame %d: got %d bytes of %d", i+1, len(x.Data), x.Len)
			}
			if x.IsEthernet() {
				layers.Unwrap(x.Data)
			}
		}
	})
}

// TestReadNgOptions gives pcapgo options that it cannot bear. The error says what is wrong.
//
// Mutation it catches: nextBlock without checkOptions.
func TestReadNgOptions(t *testing.T) {
	u32 := binary.LittleEndian.AppendUint32
	block := func(typ uint32, body []byte) []byte {
		n := uint32(len(body) + 12)
		return u32(append(u32(u32(nil, typ), n), body...), n)
	}
	section := block(0x0a0d0d0a, []byte{0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	iface := func(options ...byte) []byte { return block(1, append([]byte{1, 0, 0, 0, 0, 0, 4, 0}, options...)) }
	packet := block(6, append(make([]byte, 12), 4, 0, 0, 0, 9, 0, 0, 0, 'd', 'a', 't', 'a'))
	simple := block(3, []byte{9, 0, 0, 0, 'd', 'a', 't', 'a', '9', 'b', 'y', 't', 'e', 0, 0, 0})
	for _, c := range []struct {
		name   string
		iface  []byte
		last   []byte
		frames int
		want   error
	}{
		{"none", iface(), packet, 1, nil},
		{"resolution 1 ns", iface(9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0), packet, 1, nil},
		{"resolution 2^-127 s", iface(9, 0, 1, 0, 0xff, 0, 0, 0, 0, 0, 0, 0), packet, 0, layers.ErrDamaged},
		{"resolution 10^-20 s", iface(9, 0, 1, 0, 20, 0, 0, 0, 0, 0, 0, 0), packet, 0, layers.ErrDamaged},
		{"resolution 10^-19 s", iface(9, 0, 1, 0, 19, 0, 0, 0, 0, 0, 0, 0), packet, 1, nil},
		{"resolution without a byte", iface(9, 0, 0, 0, 0, 0, 0, 0), packet, 0, layers.ErrDamaged},
		{"offset of 4 bytes", iface(14, 0, 4, 0, 1, 2, 3, 4, 0, 0, 0, 0), packet, 0, layers.ErrDamaged},
		{"empty filter", iface(11, 0, 0, 0, 0, 0, 0, 0), packet, 0, layers.ErrDamaged},
		{"statistics, received as 4 bytes", iface(), block(5, append(make([]byte, 12), 4, 0, 4, 0, 1, 2, 3, 4)), 0, layers.ErrDamaged},
		{"longer than its block", iface(1, 0, 200, 0, 0, 0, 0, 0), packet, 0, layers.ErrDamaged},
		{"no end", iface(1, 0, 4, 0, 'n', 'o', 't', 'e'), packet, 1, nil},
		{"a simple packet", iface(), simple, 1, nil},
		{"a simple packet longer than its block", iface(), block(3, []byte{9, 0, 0, 0, 1, 2, 3, 4}), 0, layers.ErrDamaged},
		{"an unknown block", iface(), block(0x80000001, []byte{1, 2, 3, 4}), 0, nil},
		{"a packet before any interface", nil, packet, 0, layers.ErrDamaged},
	} {
		got, err := readAll(append(append(bytes.Clone(section), c.iface...), c.last...))
		if !errors.Is(err, c.want) || len(got) != c.frames {
			t.Errorf("%s: got %d frames, %v, want %d, %v", c.name, len(got), err, c.frames, c.want)
		}
	}
}
