// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/seal"
)

// The key of captures 24 and 25, and the session keys that the digest of 25 gives.
const (
	captureKey = "0x00112233445566778899aabbccddeeffdeadbeef"
	session1   = "117e85116dc34d65c84733f20fe417a7b4f6a4b5"
	session2   = "dd1b8065f65ecc4be1c047670a5f0d0a6b424758"
)

func keyFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Proves: keys.tools
func TestDecodeKey(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--key", captureKey, capture("24-crypto-cluster-key")}, "47 frames, 47 tipc, 0 unknown, 0 malformed, 47 opened, 0 sealed"},
		{[]string{"--key", captureKey, capture("25-crypto-master-key")}, "136 frames, 136 tipc, 0 unknown, 0 malformed, 136 opened, 0 sealed"},
		{[]string{"--lint", "--key", captureKey, capture("25-crypto-master-key")}, "136 frames, 136 tipc, 0 unknown, 0 malformed, 0 findings, 0 habits, 136 opened, 0 sealed"},
		{[]string{"--keyfile", keyFile(t, "# a comment\n\nmaster "+captureKey+"\n"), capture("25-crypto-master-key")}, "136 frames, 136 tipc, 0 unknown, 0 malformed, 136 opened, 0 sealed"},
		{[]string{"--key", "this_is_a_key16_salt", "--key", captureKey, capture("24-crypto-cluster-key")}, "47 frames, 47 tipc, 0 unknown, 0 malformed, 47 opened, 0 sealed"},
		{[]string{"--key", "this_is_a_key16_salt", capture("24-crypto-cluster-key")}, "47 frames, 47 tipc, 0 unknown, 0 malformed, 0 opened, 47 sealed"},
		{[]string{"--key", captureKey, capture("01-discovery-linkup")}, "69 frames, 69 tipc, 0 unknown, 0 malformed, 0 opened, 0 sealed"},
		// Without the master key nothing tells whose the stations are that node keys are
		// for, but what opens: discovery in frame 68, which is for no one node, and from 84 on
		// all under these two keys.
		{[]string{"--keyfile", keyFile(t, "node 0x"+session1+"\npeer 1001002 0x"+session2+"\n"), capture("25-crypto-master-key")}, "136 frames, 136 tipc, 0 unknown, 0 malformed, 51 opened, 85 sealed"},
	} {
		out, errs, status := utipc(nil, append([]string{"decode"}, c.args...)...)
		if got := lastLine(t, out); got != c.want || status != cmdline.Done || errs != "" {
			t.Errorf("%v: got %q, status %d, %q, want %q, 0, nothing", c.args[2:], got, status, errs, c.want)
		}
	}
}

// Proves: keys.tools
func TestDecodeKeyLines(t *testing.T) {
	for _, c := range []struct {
		name string
		line int
		want string
	}{
		{"24-crypto-cluster-key", 1, ">* sealed tx=1 rx=0 seq=1 | 1001001>* disc/request net=4711 mac=52:54:61:4f:d8:00 id=1001001 sig=dc05 caps=fff"},
		{"24-crypto-cluster-key", 10, " sealed tx=1 rx=1 destined seq=6 | 1001001>1001002 link/reset if=eth0 max=1500 session=54620 bcast-invalid seq=32768 ack=0 bcast-ack=0"},
		{"25-crypto-master-key", 61, ">* sealed tx=0 rx=0 master seq=31 | 1001001>* crypto/key generation=13229 mode=2 bytes=20 bcast-seq=1"},
		{"25-crypto-master-key", 63, " sealed tx=1 rx=0 destined keepalive master seq=1 | 1001001>1001002 link/state keepalive next=6 session=24905 redundant last-bcast=1 seq=17 ack=5 bcast-ack=1"},
		{"25-crypto-master-key", 136, " sealed tx=1 rx=1 destined master seq="},
	} {
		out, _, _ := utipc(nil, "decode", "--key", captureKey, capture(c.name))
		if got := strings.Split(out, "\n")[c.line-1]; !strings.Contains(got, c.want) {
			t.Errorf("%s line %d: got %q, want %q", c.name, c.line, got, c.want)
		}
	}
}

// TestDecodeKeyNotShown looks for keys in all that decode prints of a capture with
// key messages in it, and of keys that are wrong.
//
// Proves: keys.tools
func TestDecodeKeyNotShown(t *testing.T) {
	var all strings.Builder
	for _, args := range [][]string{
		{"-v", "--lint", "--key", captureKey, capture("25-crypto-master-key")},
		{"--json", "--lint", "--key", captureKey, capture("25-crypto-master-key")},
		{"--key", captureKey + "0", capture("25-crypto-master-key")},
		{"--key", "0x" + session1[:20], capture("25-crypto-master-key")},
		{"--key", "0x" + session1[:38] + "zz", capture("25-crypto-master-key")},
		{"--keyfile", keyFile(t, captureKey+"0"), capture("25-crypto-master-key")},
	} {
		out, errs, _ := utipc(nil, append([]string{"decode"}, args...)...)
		all.WriteString(out + errs)
	}
	s := strings.ToLower(all.String())
	for _, key := range []string{captureKey[2:], session1, session2} {
		b, err := hex.DecodeString(key)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+4 <= len(b); i++ { // any 4 bytes of it
			if part := hex.EncodeToString(b[i : i+4]); strings.Contains(s, part) {
				t.Errorf("%s of a key is in the output", part)
			}
		}
	}
	if !strings.Contains(s, "crypto/key generation=13229 mode=2 bytes=20") || !strings.Contains(s, "key_len") {
		t.Error("the key messages were not printed")
	}
}

// Proves: keys.tools
func TestDecodeKeyMisused(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--key", "0x1234"}, cmdline.Misuse, "--key: seal: a key has 16, 24 or 32 bytes and 4 of salt"},
		{[]string{"--key", ""}, cmdline.Misuse, "--key: seal: a key has 16, 24 or 32 bytes and 4 of salt"},
		{[]string{"--keyfile", keyFile(t, "0x1234")}, cmdline.Failed, "line 1: seal: a key has 16, 24 or 32 bytes and 4 of salt"},
		{[]string{"--keyfile", keyFile(t, "# nothing\n")}, cmdline.Failed, "no key in it"},
		{[]string{capture("24-crypto-cluster-key"), "--key", captureKey}, cmdline.Misuse, "flags stand before the arguments; "},
		{[]string{"--keyfile", filepath.Join(t.TempDir(), "none")}, cmdline.Failed, "no such file"},
	} {
		out, errs, status := utipc(nil, append(append([]string{"decode"}, c.args...), capture("24-crypto-cluster-key"))...)
		if status != c.status || !strings.Contains(errs, c.want) || out != "" {
			t.Errorf("%v: got status %d, %q, %q, want %d, %q", c.args, status, errs, out, c.status, c.want)
		}
	}
}

// Proves: keys.tools
func TestDecodeKeyJSON(t *testing.T) {
	out, _, status := utipc(nil, "decode", "--json", "--key", captureKey, capture("25-crypto-master-key"))
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if status != cmdline.Done || len(lines) != 137 {
		t.Fatalf("got status %d, %d lines", status, len(lines))
	}
	var f struct {
		Sealed struct {
			TX, RX, Seq  int
			Master       bool
			User, Source string
		}
		Message struct{ User, Type string }
	}
	if err := json.Unmarshal([]byte(lines[62]), &f); err != nil {
		t.Fatal(err)
	}
	if f.Sealed.TX != 1 || f.Sealed.Seq != 1 || !f.Sealed.Master || f.Sealed.Source != "1001001" || f.Message.User != "link" || f.Message.Type != "state" {
		t.Errorf("got %+v of %s", f, lines[62])
	}
	if want := `{"total":{"frames":136,"tipc":136,"unknown":0,"malformed":0,"opened":136,"sealed":0}}`; lines[136] != want {
		t.Errorf("got %s, want %s", lines[136], want)
	}
}

// TestKeyringHostile: what a capture holds is bounded, whatever it says.
//
// Proves: keys.tools
func TestKeyringHostile(t *testing.T) {
	var k keyring
	if err := k.add("this_is_a_key16_salt"); err != nil {
		t.Fatal(err)
	}
	key, err := seal.ParseKey(frame.ClusterKey, "this_is_a_key16_salt")
	if err != nil {
		t.Fatal(err)
	}
	s, err := seal.NewSender(key, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 300)
	for i := range 3 * keptNodes {
		f := frame.KeyFields{Generation: frame.Seq(i), Mode: frame.NodeKey, Dest: frame.NodeAddr(1 << 24)}
		f.Prev = frame.NodeAddr(i&^1 + 1)
		n, err := s.Seal(b, f.Append(nil, bytes.Repeat([]byte{byte(i)}, 20)), &seal.Header{TX: 1})
		if err != nil {
			t.Fatal(err)
		}
		w := layers.Wrapping{Src: frame.MAC{2, 0, 0, 0, byte(i >> 8), byte(i)}, Dst: frame.MAC{2, 1, 0, 0, byte(i >> 8), byte(i)}}
		if _, ok := k.open(w, b[:n]); !ok {
			t.Fatalf("packet %d was not opened", i)
		}
	}
	if len(k.addrs) > keptNodes || len(k.nodes) > keptNodes || len(k.sent) > keptNodes {
		t.Errorf("got %d stations, %d nodes, keys of %d, want at most %d", len(k.addrs), len(k.nodes), len(k.sent), keptNodes)
	}
	for a, list := range k.sent {
		if len(list) > keptKeys {
			t.Errorf("%v: got %d keys", a, len(list))
		}
	}
	left := keptAttempts
	node, err := seal.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	b[0] |= 1
	b[20]++
	if k.try(node, layers.Wrapping{}, b[:140], &left) != nil || left != keptAttempts-1 {
		t.Errorf("a cluster key: got %d attempts, want 1", keptAttempts-left)
	}
	if k.try(k.given[1], layers.Wrapping{}, b[:140], &left) != nil || left != 0 {
		t.Errorf("a node's key: got %d attempts left, want 0", left)
	}
}
