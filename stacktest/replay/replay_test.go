// SPDX-License-Identifier: Apache-2.0

package replay_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stacktest/replay"
)

const captures = "../../test/testdata/captures"

// stations are the captures' nodes, each with the interface of its first bearer.
var stations = map[string]frame.MAC{
	"A": {0x52, 0x54, 0x61, 0x4f, 0xd8, 0x00},
	"B": {0x52, 0x54, 0x8a, 0x10, 0x0b, 0x00},
	"C": {0x52, 0x54, 0x93, 0xd1, 0xd7, 0x00},
}

// foreign is what ends the replay of a side although nothing is missing, and why.
var foreign = map[string]string{
	"a kernel's receive buffer": "it is full when the kernel's own memory for 22 messages is, which is not on the wire",
}

// sides are the sides that are replayed: how many frames are compared, up to which
// frame, 0 being all, and what is foreign there.
var sides = []struct {
	capture, node string
	frames, until int
	foreign       string
}{
	{"01-discovery-linkup", "A", 36, 0, ""},
	{"01-discovery-linkup", "B", 33, 0, ""},
	{"02-discovery-identity-trial", "A", 24, 0, ""},
	{"02-discovery-identity-trial", "B", 20, 0, ""},
	{"03-discovery-trial-conflict", "A", 21, 0, ""},
	{"03-discovery-trial-conflict", "B", 16, 0, ""},
	{"04-discovery-no-link", "A", 7, 0, ""},
	{"04-discovery-no-link", "B", 7, 0, ""},
	{"04-discovery-no-link", "C", 7, 0, ""},
	{"05-names", "A", 124, 0, ""},
	{"05-names", "B", 34, 0, ""},
	{"06-rdm", "A", 31, 0, ""},
	{"06-rdm", "B", 31, 0, ""},
	{"07-rdm-reject", "A", 101, 0, ""},
	{"07-rdm-reject", "B", 29, 89, "a kernel's receive buffer"},
	{"08-stream", "A", 156, 0, ""},
	{"08-stream", "B", 42, 0, ""},
	{"09-seqpacket", "A", 98, 0, ""},
	{"09-seqpacket", "B", 40, 0, ""},
	{"10-conn-process-crash", "A", 42, 0, ""},
	{"10-conn-process-crash", "B", 44, 0, ""},
	{"11-node-crash", "A", 45, 0, ""},
	{"11-node-crash", "B", 27, 0, ""},
	{"12-fragmentation", "A", 144, 0, ""},
	{"12-fragmentation", "B", 136, 0, ""},
	{"13-bundling", "A", 245, 0, ""},
	{"13-bundling", "B", 36, 0, ""},
	{"14-multicast", "A", 109, 0, ""},
	{"14-multicast", "B", 74, 0, ""},
	{"14-multicast", "C", 79, 0, ""},
	{"15-broadcast-loss", "A", 235, 0, ""},
	{"15-broadcast-loss", "B", 55, 0, ""},
	{"15-broadcast-loss", "C", 53, 0, ""},
	{"16-loss-gap", "A", 307, 0, ""},
	{"16-loss-gap", "B", 55, 0, ""},
	{"17-reorder-dup", "A", 219, 0, ""},
	{"17-reorder-dup", "B", 214, 0, ""},
	{"18-two-bearers-failover", "A", 542, 0, ""},
	{"18-two-bearers-failover", "B", 508, 0, ""},
	{"19-two-bearers-disable", "A", 368, 0, ""},
	{"19-two-bearers-disable", "B", 291, 0, ""},
	{"20-link-reset-properties", "A", 67, 0, ""},
	{"20-link-reset-properties", "B", 57, 0, ""},
	{"21-topology", "A", 40, 0, ""},
	{"21-topology", "B", 38, 0, ""},
	{"22-groups", "A", 66, 0, ""},
	{"22-groups", "B", 58, 0, ""},
	{"22-groups", "C", 58, 0, ""},
	{"23-group-bulk", "A", 314, 0, ""},
	{"23-group-bulk", "B", 151, 0, ""},
	{"23-group-bulk", "C", 67, 0, ""},
	{"24-crypto-cluster-key", "A", 24, 0, ""},
	{"24-crypto-cluster-key", "B", 23, 0, ""},
	{"25-crypto-master-key", "A", 69, 0, ""},
	{"25-crypto-master-key", "B", 67, 0, ""},
	{"26-udp-multicast", "A", 29, 0, ""},
	{"26-udp-multicast", "B", 25, 0, ""},
	{"27-udp-unicast", "A", 27, 0, ""},
	{"27-udp-unicast", "B", 20, 0, ""},
}

// notReplayed are the sides that are not, and what is missing, with the theme of
// the issue that builds it. A node of "" is all of them.
var notReplayed []struct{ capture, node, missing, theme string }

func read(t testing.TB, name string) (*replay.Capture, []replay.Call) {
	t.Helper()
	c, err := replay.ReadFile(filepath.Join(captures, name+".pcap"))
	if err != nil {
		t.Fatal(err)
	}
	calls, err := replay.CallsOf(filepath.Join(captures, name+".pcap"))
	if err != nil {
		t.Fatal(err)
	}
	return c, calls
}

// TestReplay puts our engine in the place of every node of every capture.
//
// Proves: link.bundles, replay.bytes, multicast.link, group.kernels, socket.simulated, keys.replay
func TestReplay(t *testing.T) {
	sum, whole := 0, 0
	used := map[string]int{}
	for _, s := range sides {
		c, calls := read(t, s.capture)
		mac := stations[s.node]
		v, err := replay.Replay(c, replay.Options{Node: mac.String(), Calls: calls, Until: s.until})
		if err != nil {
			t.Errorf("%s %s: got %v, want nil", s.capture, s.node, err)
			continue
		}
		if !v.OK() {
			t.Errorf("%s %s: %v\n%v", s.capture, s.node, v, v.Diff)
			continue
		}
		if v.Sent != s.frames {
			t.Errorf("%s %s: got %d frames compared, want %d", s.capture, s.node, v.Sent, s.frames)
		}
		if sealed := strings.Contains(s.capture, "crypto"); sealed && v.Sealed != v.Sent || v.Whole != v.Sealed {
			t.Errorf("%s %s: %d frames were sealed, %d the same on the wire, of %d", s.capture, s.node, v.Sealed, v.Whole, v.Sent)
		}
		t.Logf("%s %s: %v", s.capture, s.node, v)
		if s.until != 0 {
			t.Logf("    from frame %d on it needs %s: %s", s.until, s.foreign, foreign[s.foreign])
		} else {
			whole++
		}
		sum += v.Sent
		for k, n := range v.Allowed {
			used[k] += n
		}
	}
	for _, s := range notReplayed {
		t.Logf("%s %s: not replayed: %s (%s)", s.capture, s.node, s.missing, s.theme)
	}
	t.Logf("%d frames compared and equal; %d sides whole, %d in part, %d not", sum, whole, len(sides)-whole, len(notReplayed))
	for _, a := range replay.Allowances {
		t.Logf("allowed %d times: %s: %s, %s (%s)", used[a.Name], a.Name, a.Field, a.Rule, a.Reason)
	}
}

// TestEverySideIsListed finds the sides of captures that both tables forget.
//
// Proves: replay.bytes
func TestEverySideIsListed(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(captures, "*.pcap"))
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d captures, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".pcap")
		c, _ := read(t, name)
		listed := map[string]bool{}
		for _, s := range sides {
			if s.capture == name {
				listed[s.node] = true
			}
		}
		all := false
		for _, s := range notReplayed {
			if s.capture == name {
				listed[s.node] = true
				all = all || s.node == ""
			}
		}
		if len(listed) == 0 {
			t.Errorf("%s is in no table", name)
		}
		for _, s := range c.Stations() {
			for _, node := range slices.Sorted(maps.Keys(stations)) {
				if s.MAC == stations[node] && !all && !listed[node] {
					t.Errorf("%s: node %s is in no table", name, node)
				}
			}
		}
	}
}
