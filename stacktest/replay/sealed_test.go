// SPDX-License-Identifier: Apache-2.0

package replay_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stacktest/replay"
)

// recordedKey is the key of captures 24 and 25.
func recordedKey(t testing.TB) *seal.Key {
	t.Helper()
	k, err := seal.ParseKey(frame.ClusterKey, "0x00112233445566778899aabbccddeeffdeadbeef")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// resealed is a sealed frame of capture 24, opened, changed and sealed again. Its number
// stands behind its header.
func resealed(t testing.TB, data []byte, change func(h *seal.Header, plain []byte, number *uint64)) []byte {
	t.Helper()
	const eth = frame.EthernetLen
	e, err := frame.ParseEncrypted(bytes.Clone(data[eth:]))
	if err != nil {
		t.Fatal(err)
	}
	c, err := seal.NewCipher(recordedKey(t))
	if err != nil {
		t.Fatal(err)
	}
	f := e.Fields()
	h := seal.Header{TX: f.TX, RX: f.RX, Destined: f.Destined, Master: f.Master, NoKey: f.NoKey, Identity: f.Identity}
	number := f.Seq
	plain, err := c.Open(e, 0)
	if err != nil {
		t.Fatal(err)
	}
	change(&h, plain, &number)
	s, err := seal.NewSender(recordedKey(t), number)
	if err != nil {
		t.Fatal(err)
	}
	out := append(bytes.Clone(data[:eth]), make([]byte, seal.SealedSize(plain))...)
	if _, err := s.Seal(out[eth:], plain, &h); err != nil {
		t.Fatal(err)
	}
	return out
}

// Of a sealed frame all is compared, inside and in its header. What depends on the order
// of sealing, or is nobody's, is counted: its number, and what fills it up to 4 bytes.
//
// Proves: keys.replay
func TestSealedFramesAreCompared(t *testing.T) {
	c, calls := read(t, "24-crypto-cluster-key")
	whole := 24
	for _, x := range []struct {
		name   string
		no     int
		change func(h *seal.Header, plain []byte, number *uint64)
		why    string // empty: it agrees, but for one frame's bytes on the wire
	}{
		{"nothing", 21, func(*seal.Header, []byte, *uint64) {}, ""},
		{"the receiver's slot", 21, func(h *seal.Header, _ []byte, _ *uint64) { h.RX = 2 }, "Destined:true TX:1 RX:2"},
		{"a master key", 21, func(h *seal.Header, _ []byte, _ *uint64) { h.Master = true }, "Master:true"},
		{"no key", 21, func(h *seal.Header, _ []byte, _ *uint64) { h.NoKey = true }, "NoKey:true"},
		{"the slot", 21, func(h *seal.Header, _ []byte, _ *uint64) { h.TX = 2 }, "TX:2"},
		{"for all", 14, func(h *seal.Header, _ []byte, _ *uint64) { h.Destined = false }, "Destined:false"},
		{"the identity", 1, func(h *seal.Header, _ []byte, _ *uint64) { h.Identity[7] = 'x' }, "its header says {User:"},
		{"a byte of the message", 21, func(_ *seal.Header, b []byte, _ *uint64) { b[44] ^= 1 }, "word 11 of the message"},
		{"an acknowledgement", 38, func(_ *seal.Header, b []byte, _ *uint64) { binary.BigEndian.PutUint16(b[8:], 7) }, "word 2 of the message"},
		{"the number", 21, func(_ *seal.Header, _ []byte, n *uint64) { *n += 1000 }, ""},
		{"what fills it up", 21, func(_ *seal.Header, b []byte, _ *uint64) { b[len(b)-1] ^= 0xff }, ""},
	} {
		m := with(c, x.no, func(f *replay.Frame) { f.Data = resealed(t, f.Data, x.change) })
		v, err := replay.Replay(m, replay.Options{Node: stations["A"].String(), Calls: calls})
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		want := whole - 1
		if x.name == "nothing" {
			want = whole
		}
		switch {
		case x.why == "" && (!v.OK() || v.Whole != want):
			t.Errorf("%s: got %v, want %d the same on the wire", x.name, v, want)
		case x.why != "" && (v.Diff == nil || v.Diff.No != x.no || !strings.Contains(v.Diff.Why, x.why)):
			t.Errorf("%s: got %v, %+v, want a difference in frame %d: %s", x.name, v, v.Diff, x.no, x.why)
		}
	}
}

// A bit of what was sealed, changed on its way, is seen.
//
// Proves: keys.replay
func TestEverySealedBitCounts(t *testing.T) {
	for _, name := range []string{"24-crypto-cluster-key"} {
		c, calls := read(t, name)
		n := 0
		for _, f := range c.Frames {
			if f.Src != stations["A"] || testing.Short() && f.No%4 != 0 {
				continue
			}
			for k := frame.EthernetLen; k < len(f.Data); k += 1 + len(f.Data)/16 {
				n++
				m := with(c, f.No, func(f *replay.Frame) { f.Data[k] ^= 1 << (k % 8) })
				v, err := replay.Replay(m, replay.Options{Node: stations["A"].String(), Calls: calls})
				if err == nil && v.OK() {
					t.Errorf("%s: a change in byte %d of frame %d goes unseen", name, k, f.No)
				}
			}
		}
		t.Logf("%s: %d changed captures, each seen", name, n)
	}
}

// Without its key a capture cannot be replayed; the key may be among the options instead
// of the calls.
//
// Proves: keys.replay
func TestKeysOfACapture(t *testing.T) {
	c, calls := read(t, "24-crypto-cluster-key")
	var keyless []replay.Call
	for _, k := range calls {
		if k.Verb != "key" {
			keyless = append(keyless, k)
		}
	}
	for _, x := range []struct {
		name  string
		calls []replay.Call
		keys  []engine.Key
		want  string
	}{
		{"no key", keyless, nil, "no such node"},
		{"a key among the options", keyless, []engine.Key{{Key: recordedKey(t)}}, "<nil>"},
		{"as a master key", keyless, []engine.Key{{Key: recordedKey(t), Master: true}}, "TX:0"},
	} {
		v, err := replay.Replay(c, replay.Options{Node: stations["A"].String(), Calls: x.calls, Keys: x.keys})
		got := fmt.Sprint(err)
		if err == nil && v.Diff != nil {
			got = v.Diff.Why
		}
		if !strings.Contains(got, x.want) {
			t.Errorf("%s: got %v, want %q", x.name, got, x.want)
		}
	}
}
