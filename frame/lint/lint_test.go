// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/internal/samples"
	"github.com/utipc/utipc/frame/layers"
	"github.com/utipc/utipc/frame/lint"
)

// TestCaptures lints all frames, and what is in the encrypted ones: kernels
// break no rules but those they are known to.
//
// Proves: wire.lint
func TestCaptures(t *testing.T) {
	used := map[string]int{}
	for _, c := range samples.Captures {
		keys := samples.NewOpener(t)
		for i, x := range samples.Read(t, c.Number) {
			_, b, err := layers.Unwrap(x.Data)
			if err != nil {
				continue
			}
			found := lint.Check(b)
			if e, err := frame.ParseEncrypted(b); err == nil {
				for _, f := range lint.Check(keys.Open(e)) {
					if f.Rule != "clear-key" { // it was encrypted
						found = append(found, f)
					}
				}
			}
			for _, f := range found {
				used[f.Rule]++
				if f.Habit() == "" {
					t.Errorf("capture %s frame %d: %v", c.Number, i+1, f)
				}
			}
		}
	}
	t.Logf("habits: %v", used)
}

// An edit changes a good message, in place or not.
type edit func(b []byte) []byte

// set puts a value into the bits high to low of a word.
func set(word, high, low int, v uint32) edit {
	return func(b []byte) []byte {
		mask := uint32(1<<(high-low+1)-1) << low
		w := binary.BigEndian.Uint32(b[4*word:])
		binary.BigEndian.PutUint32(b[4*word:], w&^mask|v<<low&mask)
		return b
	}
}

// data replaces what stands behind the header, and corrects the size.
func data(d []byte) edit {
	return func(b []byte) []byte {
		hlen := int(b[0]&1)<<3 | int(b[1]>>5)
		b = append(b[:4*hlen:4*hlen], d...)
		return set(0, 16, 0, uint32(len(b)))(b)
	}
}

// at puts bytes at an offset.
func at(i int, v ...byte) edit {
	return func(b []byte) []byte { copy(b[i:], v); return b }
}

func edits(all ...edit) edit {
	return func(b []byte) []byte {
		for _, e := range all {
			b = e(b)
		}
		return b
	}
}

// breakers have for every rule a message that breaks it and no other, unless
// told: what one edit leaves broken besides.
func breakers(t testing.TB) []struct {
	rule, where string
	good        []byte
	edit        edit
	also        string
} {
	s := samples.OfEachKind(t)
	named, state, reset, disc, names, bcast, conn, first, bundle := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8]
	group, failover, key, nack, udp := s[9], s[10], s[11], s[12], s[13]
	mcast, rcast := samples.Message(t, "14", 96), []byte(nil)
	gbcast, gucast := []byte(nil), samples.Message(t, "22", 94)
	last, synch := samples.Message(t, "06", 38), samples.Message(t, "18", 549)
	activate, gap, bgap := samples.Message(t, "01", 11), samples.Message(t, "16", 60), samples.Message(t, "15", 85)
	sealed, sealedDisc := samples.Message(t, "24", 30), samples.Message(t, "24", 1)
	update, bcastBundle := samples.Message(t, "26", 25), samples.Message(t, "05", 135)
	for _, c := range samples.Captures {
		for _, x := range samples.Read(t, c.Number) {
			m, err := frame.Parse(x.Data[frame.EthernetLen:])
			if err != nil {
				continue
			}
			if p, err := frame.ParsePayload(m); err == nil && !p.NonSeq() {
				switch p.Type() {
				case frame.McastMsg:
					rcast = m.Bytes()
				case frame.GroupBcastMsg:
					gbcast = m.Bytes()
				}
			}
		}
	}
	gucast = set(10, 0, 0, 0)(bytes.Clone(gucast))
	fin := samples.Unhex(t, "46c00018 0a000007 002a002b 11111111 c0000001 50000002")
	domain := func(hex string) edit { return data(append([]byte{0, 4, 0, 0}, samples.Unhex(t, hex)...)) }
	piece := edits(set(4, 31, 16, 1), set(4, 15, 0, 2))
	return []struct {
		rule, where string
		good        []byte
		edit        edit
		also        string
	}{
		{"base", "w0", named, set(0, 31, 29, 3), ""},
		{"base", "w0", named, set(0, 16, 0, 66), ""},
		{"base", "w0", sealed, func(b []byte) []byte { return b[:32] }, ""},
		{"base", "w0", sealed, func(b []byte) []byte { return append([]byte{}, 0xe0) }, ""},
		{"kind", "w1 31:29", state, set(1, 31, 29, 3), ""},
		{"kind", "w1 31:29", mcast, set(1, 31, 29, 4), ""},
		{"kind", "w1 31:29", conn, set(0, 28, 25, 15), ""},
		{"header-size", "w0 24:21", conn, set(0, 24, 21, 9), ""},
		{"header-size", "w0 24:21", mcast, set(1, 31, 29, 2), ""},
		{"reserved", "w8", conn, set(8, 3, 3, 1), ""},
		{"reserved", "w0", sealed, set(0, 16, 16, 1), ""},
		{"pad", "+45", reset, at(50, 1), ""},
		{"pad", "+77", samples.Unhex(t, strings.Replace(samples.Bundle, "42c0", "40c0", 1)), at(77, 7), ""},
		{"non-seq", "w0 20", disc, set(0, 20, 20, 0), ""},
		{"non-seq", "w0 20", named, set(0, 20, 20, 1), "net-id bcast-words"},
		{"prev-node", "w3", fin, set(3, 31, 0, 0), ""},
		{"prev-node", "w3", sealed, set(3, 31, 0, 0), ""},
		{"orig-node", "w6", state, set(6, 31, 0, 7), ""},
		{"dest-node", "w7", state, set(7, 31, 0, 0), ""},
		{"dest-node", "w7", state, set(7, 31, 0, 0x01001001), ""},
		{"dest-node", "w7", nack, set(7, 31, 0, 0), ""},
		{"net-id", "w5", mcast, set(5, 31, 0, 0), ""},
		{"net-id", "w4", disc, set(4, 31, 0, 10000), ""},
		{"bcast-words", "w1 15:0", mcast, set(1, 15, 0, 7), ""},
		{"bcast-words", "w7", mcast, set(7, 31, 0, 7), ""},
		{"bcast-words", "message 1: w7", bcastBundle, at(40+31, 7), ""},
		{"non-seq", "message 1: w0 20", bcastBundle, at(41, 0x50), "reserved"},
		{"no-data", "+40", bcast, data([]byte{1}), ""},
		{"no-data", "+40", conn, data([]byte{1}), ""},
		{"no-data", "+40", group, data([]byte{1}), ""},
		{"port", "w4", named, set(4, 31, 0, 0), ""},
		{"port", "w5", named, set(5, 31, 0, 0), ""},
		{"port", "w5", conn, set(5, 31, 0, 0), ""},
		{"port", "w4", group, set(4, 31, 0, 0), ""},
		{"mcast-port", "w5", rcast, set(5, 31, 0, 7), ""},
		{"error-code", "w1 28:25", fin, set(1, 28, 25, 6), "conn-end"},
		{"error-no-node", "w1 28:25", fin, set(1, 28, 25, 3), "conn-end"},
		{"error-data", "w0 16:0", fin, data(make([]byte, 1025)), "conn-end"},
		{"error-droppable", "w0 19", fin, set(0, 19, 19, 1), ""},
		{"syn", "w0 17", fin, set(0, 17, 17, 1), ""},
		{"conn-kind", "w1 18:17", named, edits(set(0, 17, 17, 1), set(1, 18, 17, 3)), ""},
		{"syn-dummy", "w1 28:25", mcast, edits(set(0, 17, 17, 1), set(1, 28, 25, 2)), ""},
		{"rcast", "w0 18", mcast, set(0, 18, 18, 1), ""},
		{"rcast", "w0 18", rcast, set(0, 18, 18, 0), ""},
		{"reroute", "w1 24:21", named, set(1, 24, 21, 2), ""},
		{"reroute", "w1 24:21", fin, set(1, 24, 21, 1), ""},
		{"scope", "w1 20:19", named, set(1, 20, 19, 1), ""},
		{"scope", "w1 20:19", mcast, set(1, 20, 19, 3), ""},
		{"scope", "w1 20:19", gucast, set(1, 20, 19, 0), ""},
		{"scope", "w1 20:19", fin, set(1, 20, 19, 2), ""},
		{"range", "w9", mcast, edits(set(9, 31, 0, 7), set(10, 31, 0, 6)), ""},
		{"range", "+40", update, at(44, 0xff), ""},
		{"conn-header", "w0 24:21", samples.Unhex(t, "41000025 04000003 002a002b 22222222 50000002 c0000001 22222222 11111111 68656c6c6f"), set(1, 28, 25, 0), ""},
		{"conn-end", "data", fin, data([]byte{1}), ""},
		{"conn-end", "w0 28:25", fin, set(0, 28, 25, 2), ""},
		{"conn-end", "w1 28:25", fin, set(1, 28, 25, uint32(frame.Overload)), ""},
		{"conn-window", "w9 15:0", conn, set(9, 15, 0, 64), ""},
		{"group-droppable", "w0 19", gucast, set(0, 19, 19, 0), ""},
		{"group-droppable", "w0 19", group, set(0, 19, 19, 0), ""},
		{"group-id", "w8", gucast, set(8, 31, 0, 63), ""},
		{"group-instance", "w9", gbcast, set(9, 31, 0, 1), ""},
		{"group-ack", "w10 0", gbcast, edits(set(10, 0, 0, 1), set(0, 20, 20, 1), set(0, 18, 18, 0), set(1, 15, 0, 0), set(2, 31, 16, 0), set(5, 31, 0, 4711), set(7, 31, 0, 0)), ""},
		{"group-ucast-ack", "w10 0", gucast, set(10, 0, 0, 1), ""},
		{"bearer", "w5 11:9", state, set(5, 11, 9, 3), ""},
		{"bearer", "w5 11:9", synch, set(5, 11, 9, 3), ""},
		{"tolerance", "w9 15:0", state, set(9, 15, 0, 49), ""},
		{"tolerance", "w9 15:0", state, set(9, 15, 0, 30001), ""},
		{"keepalive", "w0 19", state, set(5, 0, 0, 1), ""},
		{"redundant", "w5 12", state, set(5, 12, 12, 1), ""},
		{"gap-record", "+40", state, at(42, 1), ""},
		{"gap-record", "+40", state, at(41, 5), ""},
		{"gap-count", "+42", gap, data(append([]byte{1, 8, 65, 0}, make([]byte, 65*4)...)), ""},
		{"gap-header", "+44", gap, set(1, 28, 16, 0), ""},
		{"gap-header", "+44", bgap, set(8, 9, 0, 0), ""},
		{"gap-order", "+44", gap, at(44, 0, 14), ""},
		{"gap-order", "+44", bgap, at(59, 1), ""},
		{"domain", "+44", state, domain("0014 0001 0000 0002 0000000000000001 01001002"), ""},
		{"domain-map", "+44", state, domain("0014 0001 0000 0001 0000000000000002 01001002"), ""},
		{"domain-order", "+44", state, domain("0018 0001 0000 0002 0000000000000001 01001003 01001002"), ""},
		{"domain-order", "+44", state, domain("0014 0001 0000 0001 0000000000000001 01001001"), ""},
		{"reset-seq", "w2 15:0", reset, set(2, 15, 0, 1), ""},
		{"dest-session", "w1 16", activate, set(1, 16, 16, 0), ""},
		{"peer-stopping", "w5 13", activate, set(5, 13, 13, 1), ""},
		{"max-packet", "w9 31:16", reset, set(9, 31, 16, 24), ""},
		{"if-name", "+40", reset, data(make([]byte, 15)), ""},
		{"if-name", "+40", reset, data(make([]byte, 16)), ""},
		{"if-name", "+40", reset, at(40, 0xff), ""},
		{"if-name", "+40", reset, data(bytes.Repeat([]byte{'a'}, 16)), ""},
		{"bcast-init", "w2 15:0", bcast, set(2, 15, 0, 2), ""},
		{"bcast-init", "w5 14", bcast, set(5, 14, 14, 0), ""},
		{"bcast-nack", "w2", nack, set(2, 15, 0, 1), ""},
		{"media", "w5", disc, set(5, 31, 0, 2), ""},
		{"media", "w5", udp, at(28, 228), ""},
		{"disc-size", "w0 16:0", disc, set(1, 20, 20, 0), ""},
		{"identity", "+60", disc, data(make([]byte, 16)), ""},
		{"identity", "w3", sealedDisc, at(12, make([]byte, 16)...), ""},
		{"disc-answer", "w2", disc, set(1, 31, 29, 1), ""},
		{"disc-suggested", "w14", disc, set(14, 31, 0, 1), ""},
		{"disc-suggested", "w14", disc, edits(set(1, 31, 29, 3), set(2, 31, 0, 7)), ""},
		{"caps", "w1 27", disc, set(1, 27, 27, 1), ""},
		{"bulk", "w1 27", names, set(1, 28, 28, 0), "names-ack"},
		{"bulk", "w1 28", names, set(1, 29, 29, 1), ""},
		{"bulk", "w4 15:0", names, set(1, 27, 27, 0), ""},
		{"bulk", "w0 20", update, set(1, 28, 28, 1), ""},
		{"bulk", "w4 15:0", update, set(1, 26, 26, 0), ""},
		{"bulk", "w1 26", names, edits(set(1, 26, 26, 0), set(4, 15, 0, 0)), ""},
		{"names-ack", "w5 14", names, set(5, 14, 14, 0), ""},
		{"names-size", "w0 16:0", names, data(nil), ""},
		{"names-size", "w0 16:0", names, func(b []byte) []byte { return data(b[40 : len(b)-1])(b) }, ""},
		{"names-type", "+40", names, at(56, 9), ""},
		{"names-type", "+40", update, at(40, 0, 0, 0, 2), ""},
		{"names-port", "+40", update, at(52, 0, 0, 0, 0), ""},
		{"importance", "w9 2:0", bundle, set(9, 2, 0, 1), ""},
		{"importance", "w9 2:0", first, set(9, 2, 0, 1), ""},
		{"importance", "w9 2:0", last, set(9, 2, 0, 5), ""},
		{"reserved", "w1", bundle, set(1, 31, 29, 1), ""},
		{"bundle-inner", "+140", bundle, at(140, 0x61), ""},
		{"bundle-user", "+40", bundle, at(40, 0x4f), ""},
		{"bundle-count", "w9 31:16", bundle, set(9, 31, 16, 12), ""},
		{"bundle-end", "+1340", bundle, func(b []byte) []byte { return data(append(b[40:], 0, 0))(b) }, ""},
		{"fragment-number", "w4 31:16", first, set(4, 31, 16, 2), ""},
		{"fragment-number", "w4 31:16", last, set(4, 31, 16, 1), ""},
		{"fragment-size", "w0 16:0", last, data(nil), ""},
		{"fragment-size", "w0 16:0", last, edits(set(1, 31, 29, 1), data(make([]byte, 5))), ""},
		{"fragment-inner", "+40", first, at(40, 0x61), ""},
		{"fragment-inner", "+40", first, at(42, 0, 100), ""},
		{"fragment-inner", "+44", first, at(50, 1), ""},
		{"fragment-user", "+40", first, at(40, 0x4d), ""},
		{"tunnel-count", "w9 31:16", failover, set(9, 31, 16, 0), ""},
		{"tunnel-count", "w9 31:16", failover, edits(piece, set(9, 31, 16, 1)), ""},
		{"tunnel-piece", "w4", failover, set(4, 31, 0, 0x30002), ""},
		{"tunnel-piece", "w4", failover, set(4, 31, 0, 0x10001), ""},
		{"tunnel-piece", "w4", synch, set(4, 31, 16, 1), ""},
		{"tunnel-inner", "+40", failover, at(40, 0x4f), ""},
		{"tunnel-inner", "+72", failover, func(b []byte) []byte { return data(append(b[40:], 0))(b) }, ""},
		{"synch-first", "w2 15:0", synch, set(2, 15, 0, 2), ""},
		{"clear-key", "w0 28:25", key, func(b []byte) []byte { return b }, ""},
		{"key", "w4 3:0", key, set(4, 3, 0, 0), "clear-key"},
		{"key", "+40", key, at(40, 'c'), "clear-key"},
		{"sealed-user", "w0 28:25", sealed, set(0, 28, 25, 3), ""},
		{"sealed-bits", "w0 24", sealedDisc, set(0, 24, 24, 1), ""},
		{"sealed-bits", "w0 21:20", sealedDisc, set(0, 21, 20, 1), ""},
		{"sealed-bits", "w0 17", sealedDisc, set(0, 17, 17, 1), ""},
		{"sealed-bits", "w0 19", sealedDisc, set(0, 19, 19, 1), ""},
		{"sealed-seq", "w1", sealed, edits(set(1, 31, 0, 0), set(2, 31, 0, 0)), ""},
		{"sealed-size", "+16", sealed, func(b []byte) []byte { return b[:len(b)-1] }, ""},
	}
}

// TestBroken breaks every rule, each alone.
//
// Proves: wire.lint, socket.simulated
func TestBroken(t *testing.T) {
	tested := map[string]bool{}
	for i, c := range breakers(t) {
		tested[c.rule] = true
		for _, f := range lint.Check(c.good) {
			if f.Rule != "clear-key" {
				t.Errorf("row %d, %s: got %v of the good message %x", i, c.rule, f, c.good)
			}
		}
		b := c.edit(bytes.Clone(c.good))
		found := false
		for _, f := range lint.Check(b) {
			found = found || f.Rule == c.rule && f.Where == c.where
			if f.Rule != c.rule && !strings.Contains(c.also, f.Rule) {
				t.Errorf("row %d, %s: got %v besides, of %x", i, c.rule, f, b)
			}
		}
		if !found {
			t.Errorf("row %d: got %v, want %s at %s, of %x", i, lint.Check(b), c.rule, c.where, b)
		}
	}
	for _, r := range lint.Rules() {
		if !tested[r.ID] {
			t.Errorf("%s: no test breaks it", r.ID)
		}
		if r.Source == "" || r.Text == "" {
			t.Errorf("%s: got no source or text", r.ID)
		}
		delete(tested, r.ID)
	}
	for id := range tested {
		t.Errorf("%s: no such rule", id)
	}
}
