// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
)

// Proves: replay.input, keys.tools
func TestReplayCommand(t *testing.T) {
	for _, c := range []struct {
		name, as string
		more     []string
		status   int
		out, err string // of the last line of the output, and in the errors
	}{
		{"01-discovery-linkup", "1.1.1", nil, cmdline.Done, "1001001 (52:54:61:4f:d8:00) agrees: 36 of 36 frames", ""},
		{"01-discovery-linkup", "52:54:8a:10:0b:00", nil, cmdline.Done, "1001002 (52:54:8a:10:0b:00) agrees: 33 of 33 frames", ""},
		{"02-discovery-identity-trial", "220d0111", nil, cmdline.Done, "agrees: 20 of 20 frames", ""},
		{"07-rdm-reject", "A", nil, cmdline.Done, "agrees: 101 of 101 frames", ""},
		{"07-rdm-reject", "B", []string{"--until", "89"}, cmdline.Done, "agrees: 29 of 29 frames", ""},
		{"07-rdm-reject", "B", nil, cmdline.Failed, "differs: 29 of 76 frames", "not every answer agrees"},
		{"07-rdm-reject", "A", []string{"--calls", capture("01-discovery-linkup")}, cmdline.Failed, "", "not a list of calls: line 1"},
		{"07-rdm-reject", "A", []string{"--calls", "missing"}, cmdline.Failed, "", "no such file"},
		{"04-discovery-no-link", "1.1.1", nil, cmdline.Failed, "", "is the address of several"},
		{"24-crypto-cluster-key", "1.1.1", nil, cmdline.Done, "24 sealed, 24 of them the same on the wire", ""},
		{"24-crypto-cluster-key", "1.1.1", []string{"--calls", os.DevNull}, cmdline.Failed, "", "47 frames, the first is 1, are encrypted, and no key"},
		{"24-crypto-cluster-key", "1.1.1", []string{"--calls", os.DevNull, "--key", key20, "--until", "20"}, cmdline.Done, "agrees: 10 of 10 frames", ""},
		{"24-crypto-cluster-key", "1.1.1", []string{"--key", "wrong"}, cmdline.Misuse, "", "--key: seal: a key has"},
		{"25-crypto-master-key", "1.1.2", nil, cmdline.Done, "67 sealed, 67 of them the same on the wire", ""},
		{"26-udp-multicast", "1.1.1", nil, cmdline.Done, "agrees: 29 of 29 frames", "8 frames, the first is 31, are fragments of IP datagrams"},
		{"missing", "1.1.1", nil, cmdline.Failed, "", "no such file"},
	} {
		args := append([]string{"replay", "--as", c.as}, c.more...)
		out, errs, status := utipcLab(nil, append(args, capture(c.name))...)
		if status != c.status || !strings.Contains(errs, c.err) || c.err == "" && errs != "" {
			t.Errorf("%s as %s %q: got status %d, %q, want %d, %q", c.name, c.as, c.more, status, errs, c.status, c.err)
		}
		if c.out == "" {
			if out != "" {
				t.Errorf("%s as %s: got output %q, want none", c.name, c.as, out)
			}
		} else if got := lastLine(t, out); !strings.Contains(got, c.out) {
			t.Errorf("%s as %s: got %q, want %q", c.name, c.as, got, c.out)
		}
	}
}

// The first difference is printed as two trees, with the lines that differ marked.
//
// Proves: replay.input
func TestReplayPrintsDifference(t *testing.T) {
	b, err := os.ReadFile(capture("01-discovery-linkup"))
	if err != nil {
		t.Fatal(err)
	}
	// The reply of frame 25 acknowledges one packet less.
	reply := []byte{0x4f, 0x48, 0x00, 0x2c, 0, 0, 0, 0, 0, 2, 0, 4, 1, 0, 0x10, 1}
	at := bytes.Index(b, reply)
	if at < 0 {
		t.Fatal("frame 25 is not there")
	}
	b[at+9] = 1
	name := filepath.Join(t.TempDir(), "changed.pcap")
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs, status := utipcLab(nil, "replay", "--as", "1001001", name)
	if status != cmdline.Failed || !strings.Contains(errs, "not every answer agrees") {
		t.Errorf("got status %d, %q, want 1 and a reason", status, errs)
	}
	for _, want := range []string{
		`^frame 25, at 1\.706382 s: byte 23 differs, word 2 of the message\n`,
		`\nrecorded:\n(.*\n)*!   w2 31:16   ack                 1\n(.*\n)*ours:\n(.*\n)*!   w2 31:16   ack                 2\n`,
		`\n  00000010  00 2c`,
		`\n1001001 \(52:54:61:4f:d8:00\) differs: 13 of 36 frames`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("got\n%s\nwant %s", out, want)
		}
	}
	if got := strings.Count(out, "\n! "); got != 4 { // the line of each, and the field
		t.Errorf("got %d lines marked, want 4:\n%s", got, out)
	}
}

// Proves: replay.input
func TestReplayMisuse(t *testing.T) {
	for _, args := range [][]string{
		{"replay"},
		{"replay", capture("01-discovery-linkup")},
		{"replay", "--as", "A"},
		{"replay", "--as", "A", "--until", "-1", capture("01-discovery-linkup")},
		{"replay", "--as", "A", "one", "two"},
		{"replay", "--loud"},
	} {
		if out, errs, status := utipcLab(nil, args...); status != cmdline.Misuse || out != "" || !strings.Contains(errs, "shows how") {
			t.Errorf("%q: got %q, %q, status %d, want a usage error", args, out, errs, status)
		}
	}
	out, _, status := utipcLab(nil, "replay", "-h")
	if status != cmdline.Done || !strings.Contains(out, "utipc-lab replay --as 1.1.1 test/testdata/captures/01-discovery-linkup.pcap") {
		t.Errorf("got %q, status %d, want an example", out, status)
	}
}

// capture is the path of a capture.
func capture(name string) string {
	return filepath.Join("../../test/testdata/captures", name+".pcap")
}

// key20 is the key of capture 24.
const key20 = "0x00112233445566778899aabbccddeeffdeadbeef"
