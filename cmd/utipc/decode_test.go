// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
	"github.com/utipc/utipc/internal/cmdline"
)

const captures = "../../test/testdata/captures"

func capture(name string) string { return filepath.Join(captures, name+".pcap") }

// lastLine returns the last of the lines, each of which must be ended.
func lastLine(t *testing.T, out string) string {
	t.Helper()
	lines := strings.Split(out, "\n")
	if len(lines) < 2 || lines[len(lines)-1] != "" {
		t.Fatalf("got %q, want whole lines", out)
	}
	return lines[len(lines)-2]
}

// Proves: tools.decode, wire.bytes
func TestDecodeCaptures(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"01-discovery-linkup", "69 frames, 69 tipc, 0 unknown, 0 malformed"},
		{"02-discovery-identity-trial", "44 frames, 44 tipc, 0 unknown, 0 malformed"},
		{"03-discovery-trial-conflict", "37 frames, 37 tipc, 0 unknown, 0 malformed"},
		{"04-discovery-no-link", "21 frames, 21 tipc, 0 unknown, 0 malformed"},
		{"05-names", "158 frames, 158 tipc, 0 unknown, 0 malformed"},
		{"06-rdm", "62 frames, 62 tipc, 0 unknown, 0 malformed"},
		{"07-rdm-reject", "177 frames, 177 tipc, 0 unknown, 0 malformed"},
		{"12-fragmentation", "280 frames, 280 tipc, 0 unknown, 0 malformed"},
		{"13-bundling", "281 frames, 281 tipc, 0 unknown, 0 malformed"},
		{"14-multicast", "262 frames, 262 tipc, 0 unknown, 0 malformed"},
		{"21-topology", "78 frames, 78 tipc, 0 unknown, 0 malformed"},
		{"22-groups", "182 frames, 182 tipc, 0 unknown, 0 malformed"},
		{"24-crypto-cluster-key", "47 frames, 47 tipc, 0 unknown, 0 malformed"}, // all encrypted
		{"26-udp-multicast", "66 frames, 54 tipc, 0 unknown, 0 malformed, 8 fragments, 2 joined, 0 refused, 0 incomplete"},
		{"27-udp-unicast", "69 frames, 47 tipc, 0 unknown, 0 malformed, 18 fragments, 6 joined, 0 refused, 0 incomplete"},
		{"08-stream", "198 frames, 198 tipc, 0 unknown, 0 malformed"},
		{"09-seqpacket", "138 frames, 138 tipc, 0 unknown, 0 malformed"},
		{"10-conn-process-crash", "86 frames, 86 tipc, 0 unknown, 0 malformed"},
		{"11-node-crash", "72 frames, 72 tipc, 0 unknown, 0 malformed"},
		{"15-broadcast-loss", "343 frames, 343 tipc, 0 unknown, 0 malformed"},
		{"16-loss-gap", "362 frames, 362 tipc, 0 unknown, 0 malformed"},
		{"17-reorder-dup", "433 frames, 433 tipc, 0 unknown, 0 malformed"},
		{"18-two-bearers-failover", "1050 frames, 1050 tipc, 0 unknown, 0 malformed"},
		{"19-two-bearers-disable", "659 frames, 659 tipc, 0 unknown, 0 malformed"},
		{"20-link-reset-properties", "124 frames, 124 tipc, 0 unknown, 0 malformed"},
		{"23-group-bulk", "532 frames, 532 tipc, 0 unknown, 0 malformed"},
		{"25-crypto-master-key", "136 frames, 136 tipc, 0 unknown, 0 malformed"}, // all encrypted
	} {
		out, errs, status := utipc(nil, "decode", capture(c.name))
		if got := lastLine(t, out); got != c.want || status != cmdline.Done || errs != "" {
			t.Errorf("%s: got %q, status %d, %q, want %q, 0, nothing", c.name, got, status, errs, c.want)
		}
		frames, err := layers.ReadFile(capture(c.name))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Count(out, "\n"), len(frames)+1; got != want {
			t.Errorf("%s: got %d lines, want %d", c.name, got, want)
		}
	}
}

func TestDecodeLines(t *testing.T) {
	for _, c := range []struct {
		name string
		line int
		want string
	}{
		{"01-discovery-linkup", 1, "    1    0.000000 52:54:61:4f:d8:00>* 1001001>* disc/request net=4711 mac=52:54:61:4f:d8:00 id=1001001 sig=d7fd caps=fff"},
		{"01-discovery-linkup", 8, "    8    0.930903 52:54:61:4f:d8:00>52:54:8a:10:0b:00 1001001>1001002 link/reset if=eth0 max=1500 session=50968 bcast-invalid seq=32768 ack=0 bcast-ack=0"},
		{"24-crypto-cluster-key", 1, "52:54:61:4f:d8:00>* 1001001>* encrypted/disc tx=1 rx=0 seq=1 bytes=92"},
		{"26-udp-multicast", 4, "52:54:61:4f:d8:00>* not TIPC: EtherType 0806, 42 bytes"},
		{"26-udp-multicast", 25, "52:54:8a:10:0b:00>01:00:5e:00:12:67 udp 1001002>* name/publish update=1 8888:1-1=1327532091/1327532092 bcast-seq=1"},
		{"26-udp-multicast", 32, "52:54:61:4f:d8:00>52:54:8a:10:0b:00 fragment 1480-2959 of 10.77.0.1>10.77.0.2 id=a797"},
		{"26-udp-multicast", 34, "fragments=4 udp 1001001>1001002 data-low/named 795637078>1327532091 name=8888:1 droppable bytes=5000 seq=5 ack=4 bcast-ack=2"},
	} {
		out, _, _ := utipc(nil, "decode", capture(c.name))
		if got := strings.Split(out, "\n")[c.line-1]; !strings.HasSuffix(got, c.want) {
			t.Errorf("%s line %d: got %q, want %q", c.name, c.line, got, c.want)
		}
	}
}

func TestDecodeSeveralFiles(t *testing.T) {
	a, b := capture("01-discovery-linkup"), capture("22-groups")
	out, errs, status := utipc(nil, "decode", a, b)
	if got, want := lastLine(t, out), "251 frames, 251 tipc, 0 unknown, 0 malformed"; got != want || status != cmdline.Done || errs != "" {
		t.Errorf("got %q, status %d, %q, want %q, 0, nothing", got, status, errs, want)
	}
	lines := strings.Split(out, "\n")
	if want := a + ":   69 "; !strings.HasPrefix(lines[68], want) {
		t.Errorf("got %q, want %q at its head", lines[68], want)
	}
	if want := b + ":    1    0.000000 "; !strings.HasPrefix(lines[69], want) {
		t.Errorf("got %q, want %q at its head", lines[69], want)
	}
}

func TestDecodeStdin(t *testing.T) {
	b, err := os.ReadFile(capture("01-discovery-linkup"))
	if err != nil {
		t.Fatal(err)
	}
	want, _, _ := utipc(nil, "decode", capture("01-discovery-linkup"))
	got, errs, status := utipc(bytes.NewReader(b), "decode", "-")
	if got != want || errs != "" || status != cmdline.Done {
		t.Errorf("got %q, %q, status %d, want what the file gives", got, errs, status)
	}
}

// pcap is a capture of one frame each, of length at most snap, with the link type.
func pcap(linkType byte, snap int, frames ...[]byte) []byte {
	b := []byte{0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, linkType, 0, 0, 0}
	for _, f := range frames {
		kept := f[:min(len(f), snap)]
		b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(kept)))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(f)))
		b = append(b, kept...)
	}
	return b
}

// ethernet puts a message into a frame, behind the tags given.
func ethernet(message []byte, tags ...byte) []byte {
	b := make([]byte, frame.EthernetLen)
	frame.PutEthernet(b, frame.BroadcastMAC, frame.MAC{2, 0, 0, 0, 0, 1})
	return append(append(b[:12:12], append(tags, 0x88, 0xca)...), message...)
}

// TestDecodeFrames tells for each frame what it counts as.
func TestDecodeFrames(t *testing.T) {
	f := frame.PayloadFields{Type: frame.DirectMsg}
	good := f.Append(nil, []byte("hello"))
	change := func(i int, v byte) []byte { b := bytes.Clone(good); b[i] = v; return b }
	for _, c := range []struct {
		name      string
		link      byte
		snap      int
		f         []byte
		line, sum string
	}{
		{"good", 1, 999, ethernet(good), "02:00:00:00:00:01>* 0>* data-low/direct", "1 frames, 1 tipc, 0 unknown, 0 malformed"},
		{"padded", 1, 999, append(ethernet(good), make([]byte, 9)...), "data-low/direct", "1 frames, 1 tipc, 0 unknown, 0 malformed"},
		{"VLAN", 1, 999, ethernet(good, 0x81, 0, 0xe0, 7), "02:00:00:00:00:01>* vlan=7 0>* data-low/direct", "1 frames, 1 tipc, 0 unknown, 0 malformed"},
		{"two VLANs", 1, 999, ethernet(good, 0x88, 0xa8, 0, 9, 0x81, 0, 0, 7), "vlan=9 vlan=7 0>* data-low/direct", "1 frames, 1 tipc, 0 unknown, 0 malformed"},
		{"user 15", 1, 999, ethernet(change(0, 0x5f)), "unknown user or type", "1 frames, 0 tipc, 1 unknown, 0 malformed"},
		{"version 3", 1, 999, ethernet(change(0, 0x61)), "version is not 2", "1 frames, 0 tipc, 0 unknown, 1 malformed"},
		{"encrypted", 1, 999, ethernet(change(0, 0xe1)), "0>. encrypted/message tx=0 rx=0 seq=6917529027641081856 bytes=21", "1 frames, 1 tipc, 0 unknown, 0 malformed"},
		{"nothing encrypted", 1, 999, ethernet(change(0, 0xe1)[:32]), "encrypted: frame: truncated (32 bytes)", "1 frames, 0 tipc, 0 unknown, 1 malformed"},
		{"size one more", 1, 999, ethernet(change(3, 38)), "frame: truncated (37 bytes)", "1 frames, 0 tipc, 0 unknown, 1 malformed"},
		{"header of a wrong length", 1, 999, ethernet(change(4, 0x40)), "frame: malformed", "1 frames, 0 tipc, 0 unknown, 1 malformed"},
		{"cut by the capture", 1, 40, ethernet(good), "frame: truncated (26 bytes) (40 bytes captured of 51)", "1 frames, 0 tipc, 0 unknown, 1 malformed"},
		{"cut in the Ethernet header", 1, 13, ethernet(good), "- not read: EtherType 0000: frame: truncated (13 bytes captured of 51)", "1 frames, 0 tipc, 0 unknown, 0 malformed"},
		{"nothing captured", 1, 0, ethernet(good), "(0 bytes captured of 51)", "1 frames, 0 tipc, 0 unknown, 0 malformed"},
		{"no message", 1, 999, ethernet(nil), "frame: truncated (0 bytes)", "1 frames, 0 tipc, 0 unknown, 1 malformed"},
		{"another link type", 113, 999, ethernet(good), "- not Ethernet: link type 113, 51 bytes", "1 frames, 0 tipc, 0 unknown, 0 malformed"},
	} {
		out, errs, status := utipc(bytes.NewReader(pcap(c.link, c.snap, c.f)), "decode", "-")
		if got := lastLine(t, out); got != c.sum || !strings.Contains(out, c.line) || errs != "" || status != cmdline.Done {
			t.Errorf("%s: got %q, %q, status %d, want %q and %q, nothing, 0", c.name, out, errs, status, c.line, c.sum)
		}
	}
}

// TestDecodeDamaged gives damaged files before a good one: each is reported, what
// is whole in it counts, and the good one is read.
//
// Proves: tools.decode
func TestDecodeDamaged(t *testing.T) {
	good := capture("01-discovery-linkup")
	b, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	huge := bytes.Clone(b)
	binary.LittleEndian.PutUint32(huge[24+16+90+8:], 1<<31)
	for _, c := range []struct {
		name string
		b    []byte
		errs string
		sum  string
	}{
		{"empty", nil, "empty file", "69 frames, 69 tipc, 0 unknown, 0 malformed"},
		{"head alone", b[:24], "", "69 frames, 69 tipc, 0 unknown, 0 malformed"},
		{"text", []byte("this is text"), "neither pcap nor pcapng", "69 frames, 69 tipc, 0 unknown, 0 malformed"},
		{"cut short", b[:len(b)-1], "behind frame 68: layers: file cut short", "137 frames, 137 tipc, 0 unknown, 0 malformed"},
		{"huge record", huge, "behind frame 1: layers: damaged file", "70 frames, 70 tipc, 0 unknown, 0 malformed"},
	} {
		name := filepath.Join(t.TempDir(), "damaged.pcap")
		if err := os.WriteFile(name, c.b, 0o600); err != nil {
			t.Fatal(err)
		}
		want := cmdline.Failed
		if c.errs == "" {
			want = cmdline.Done
		}
		out, errs, status := utipc(nil, "decode", name, good)
		if got := lastLine(t, out); got != c.sum || status != want || !strings.Contains(errs, c.errs) || c.errs != "" && !strings.Contains(errs, name) {
			t.Errorf("%s: got %q, status %d, %q, want %q, %d, %q", c.name, got, status, errs, c.sum, want, c.errs)
		}
	}
	out, errs, status := utipc(nil, "decode", filepath.Join(t.TempDir(), "none"), good)
	if got := lastLine(t, out); status != cmdline.Failed || !strings.Contains(errs, "no such file") || !strings.HasPrefix(got, "69 frames") {
		t.Errorf("no such file: got %q, status %d, %q, want 69 frames, %d, a reason", got, status, errs, cmdline.Failed)
	}
	if _, errs, status := utipc(nil, "decode", captures); status != cmdline.Failed || errs == "" {
		t.Errorf("a directory: got status %d, %q, want %d, a reason", status, errs, cmdline.Failed)
	}
}

// TestDecodeCutAnywhere cuts a capture at every byte of its first frames.
//
// Proves: tools.decode
func TestDecodeCutAnywhere(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(capture("01-discovery-linkup"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 500 {
		out, _, status := utipc(bytes.NewReader(b[:n]), "decode", "-")
		whole := n >= 24 && (n-24)%(16+90) == 0
		if got := lastLine(t, out); !strings.HasSuffix(got, "0 unknown, 0 malformed") || (status == cmdline.Done) != whole {
			t.Fatalf("cut to %d: got %q, status %d", n, got, status)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestDecodeOutputFails(t *testing.T) {
	for _, name := range []string{"01-discovery-linkup", "07-rdm-reject"} { // less and more than a buffer
		var errs bytes.Buffer
		status := run(context.Background(), []string{"decode", capture(name)}, nil, fullDisk{}, &errs)
		if status != cmdline.Failed || !strings.Contains(errs.String(), "disk full") {
			t.Errorf("%s: got status %d, %q, want %d, disk full", name, status, errs.String(), cmdline.Failed)
		}
	}
}

func TestDecodeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	status := run(ctx, []string{"decode", capture("01-discovery-linkup")}, nil, &out, &errs)
	if got, want := lastLine(t, out.String()), "0 frames, 0 tipc, 0 unknown, 0 malformed"; got != want || status != cmdline.Failed {
		t.Errorf("got %q, status %d, want %q, %d", got, status, want, cmdline.Failed)
	}
}
