// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/conversation"
	"github.com/utipc/utipc/internal/cmdline"
)

func verdict(from, to frame.NodeAddr) conversation.Verdict {
	return conversation.Verdict{From: from, To: to, Class: conversation.New}
}

// TestDecodeStatsJSON reads the numbers of a capture: an object a file, with those that
// the filters leave.
//
// Proves: tools.decode
func TestDecodeStatsJSON(t *testing.T) {
	read := func(args ...string) (r []statsReport) {
		t.Helper()
		out, errs, status := utipc(nil, append([]string{"decode", "--stats", "--json"}, args...)...)
		if status != cmdline.Done || errs != "" {
			t.Fatalf("got status %d, %q", status, errs)
		}
		for l := range strings.Lines(out) {
			var o struct{ Stats *statsReport }
			if err := json.Unmarshal([]byte(l), &o); err != nil {
				t.Fatalf("%v: %s", err, l)
			}
			if o.Stats != nil {
				r = append(r, *o.Stats)
			}
		}
		return r
	}
	r := read(capture("16-loss-gap"))
	if len(r) != 1 || len(r[0].Links) != 1 {
		t.Fatalf("got %+v, want one link", r)
	}
	l := r[0].Links[0]
	if l.Name != "1001001:eth0-1001002:eth0" || l.Sent[0].Retransmitted != 26 || l.Sent[0].Needless != 6 || l.Sent[1].Naks != 16 ||
		l.Ends[1].Station != "52:54:8a:10:0b:00" || l.Sent[0].AckTime.Samples == 0 {
		t.Errorf("got %+v", l)
	}
	if r := read(capture("16-loss-gap"), capture("14-multicast")); len(r) != 2 || r[1].File != capture("14-multicast") || len(r[1].Links) != 3 {
		t.Errorf("of two files: got %+v", r)
	}
	if r := read("--node", "1.1.3", capture("14-multicast")); len(r[0].Links) != 2 || len(r[0].Broadcasts) != 1 {
		t.Errorf("of one node: got %d links, %d broadcasts, want 2, 1", len(r[0].Links), len(r[0].Broadcasts))
	}
	if r := read("--service", "9001", capture("08-stream")); len(r[0].Services) != 1 || len(r[0].Pairs) != 1 {
		t.Errorf("of one service: got %+v", r[0])
	}
}

// TestDecodeStatsText prints the numbers of every capture.
//
// Proves: tools.decode
func TestDecodeStatsText(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(captures, "*.pcap"))
	for _, file := range files {
		out, errs, status := utipc(nil, "decode", "--stats", file)
		if status != cmdline.Done || errs != "" || strings.Contains(out, "Beyond") {
			t.Errorf("%s: got status %d, %q\n%s", file, status, errs, out)
		}
		sealed := strings.Contains(file, "crypto")
		if strings.Contains(out, "stayed encrypted") != sealed {
			t.Errorf("%s: sealed: got\n%s", file, out)
		}
	}
	out, _, _ := utipc(nil, "decode", "--stats", "--key", "0x00112233445566778899aabbccddeeffdeadbeef", capture("24-crypto-cluster-key"))
	if !strings.Contains(out, "fragments") || strings.Contains(out, "stayed encrypted") {
		t.Errorf("with its key: got\n%s", out)
	}
}
