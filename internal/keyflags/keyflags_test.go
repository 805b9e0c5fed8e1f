// SPDX-License-Identifier: Apache-2.0

package keyflags

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/seal"
)

// Keys of three lengths, as they are written.
const (
	key20 = "0x00112233445566778899aabbccddeeffdeadbeef"
	key28 = "twenty-eight-letters-of-text"
	key36 = "thirty-six-letters-of-text-or-so,all"
)

// readKeys reads the arguments and then the files they name.
func readKeys(t *testing.T, stdin string, args ...string) (*Keys, error) {
	t.Helper()
	var k Keys
	f := cmdline.NewFlags("test")
	k.Declare(f)
	if _, err := cmdline.Parse(f, args, 0, 0); err != nil {
		return &k, err
	}
	return &k, k.Read(strings.NewReader(stdin))
}

func same(k *seal.Key, mode frame.KeyMode, text string) bool {
	if k == nil || text == "" {
		return k == nil && text == ""
	}
	want, err := seal.ParseKey(mode, text)
	return err == nil && k.Equal(want) && k.Mode() == mode
}

// Proves: keys.tools
func TestKeyFlags(t *testing.T) {
	dir := t.TempDir()
	file := func(text string) string {
		name := filepath.Join(dir, "keys")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for _, c := range []struct {
		name                  string
		args                  []string
		stdin                 string
		cluster, master, node string
		peers                 map[string]string // by identity
		shown                 bool
	}{
		{name: "none"},
		{name: "an argument", args: []string{"--key", key20}, cluster: key20, shown: true},
		{
			name: "all arguments", args: []string{"--master-key", key36, "--node-key", key20, "--peer-key", "1.1.2=" + key20, "--peer-key", "beta=" + key28},
			master: key36, node: key20, peers: map[string]string{"1001002": key20, "beta": key28}, shown: true,
		},
		{name: "a key alone", args: []string{"--keyfile", file(key36 + "\n")}, cluster: key36},
		{
			name: "the standard input", args: []string{"--keyfile", "-"}, master: key28, node: key36, peers: map[string]string{"1001002": key20, "node-b": key36},
			stdin: "# keys\n\n  master " + key28 + "\r\nnode   " + key36 + "\npeer 1001002 " + key20 + "\npeer node-b " + key36,
		},
		{name: "a line that says so", args: []string{"--keyfile", "-"}, stdin: "cluster " + key28, cluster: key28},
		{name: "a file and an argument", args: []string{"--keyfile", "-", "--master-key", key28}, stdin: key20, cluster: key20, master: key28, shown: true},
		{name: "other flags", args: []string{"--key", key20, "--rekey", "0", "--migrate"}, cluster: key20, shown: true},
	} {
		k, err := readKeys(t, c.stdin, c.args...)
		if err != nil {
			t.Errorf("%s: got %v, want nil", c.name, err)
			continue
		}
		if !same(k.cluster, frame.ClusterKey, c.cluster) || !same(k.master, frame.ClusterKey, c.master) || !same(k.node, frame.NodeKey, c.node) || k.shown != c.shown {
			t.Errorf("%s: got %v, %v, %v, %v", c.name, k.cluster, k.master, k.node, k.shown)
		}
		if len(k.peers) != len(c.peers) {
			t.Errorf("%s: got %v, want %d of peers", c.name, k.peers, len(c.peers))
		}
		for _, p := range k.peers {
			if id := strings.TrimRight(string(p.id[:]), "\x00"); !same(p.key, frame.NodeKey, c.peers[id]) {
				t.Errorf("%s: got %v for %s", c.name, p.key, id)
			}
		}
	}
}

// What is wrong is said, and never with the key in it.
//
// Proves: keys.tools
func TestWrongKeys(t *testing.T) {
	secret := "secret-and-wrong"
	for _, c := range []struct {
		args  []string
		stdin string
		want  string
		usage bool
	}{
		{[]string{"--key", secret}, "", "--key: seal: a key has 16, 24 or 32 bytes and 4 of salt", true},
		{[]string{"--key", "0x" + secret}, "", "--key: seal: a key has", true},
		{[]string{"--master-key", "0x00"}, "", "--master-key: seal: a key has", true},
		{[]string{"--node-key", secret}, "", "--node-key: ", true},
		{[]string{"--key", key20, "--key", key28}, "", "--key: given twice", true},
		{[]string{"--peer-key", secret}, "", "--peer-key: is not ID=KEY", true},
		{[]string{"--peer-key", "no identity=" + key20}, "", "--peer-key: ID is no address", true},
		{[]string{"--peer-key", key20 + "=1.1.1"}, "", "--peer-key: ", true},
		{[]string{"--peer-key", "1.1.1=" + key20, "--peer-key", "1001001=" + key28}, "", "--peer-key: given twice for one node", true},
		{[]string{"--key", key20, "--rekey", "30s"}, "", "--rekey is not 0 and less than a minute", true},
		{[]string{"--key", key20, "--rekey", "-2h"}, "", "--rekey is not 0 and less than a minute", true},
		{[]string{"--key", key20, "--node-key", key20}, "", "do not go together", true},
		{[]string{"--migrate"}, "", "--migrate goes with a key", true},
		{[]string{"--keyfile", "-"}, "\n" + secret, "line 2: seal: a key has 16, 24 or 32 bytes and 4 of salt; this one has 16", false},
		{[]string{"--keyfile", "-"}, "mister " + key20, "line 1: neither KEY nor cluster, master, node or peer", false},
		{[]string{"--keyfile", "-"}, "peer " + key20, "line 1: not peer ID KEY", false},
		{[]string{"--keyfile", "-"}, "peer 1.1.1 " + secret, "line 1: seal: a key has", false},
		{[]string{"--keyfile", "-"}, "master " + key20 + "\nmaster " + key20, "line 2: given twice", false},
		{[]string{"--keyfile", "-", "--key", key20}, key28, "line 1: given twice", false},
		{[]string{"--keyfile", "-"}, strings.Repeat("x", 1<<17), "token too long", false},
		{[]string{"--keyfile", "-"}, "# none\n\n", "no key in -", true},
		{[]string{"--keyfile", "-"}, "peer 1.1.1 " + key20, "keys of others alone", true},
		{[]string{"--peer-key", "1.1.1=" + key20}, "", "keys of others alone", true},
		{[]string{"--keyfile", "/nowhere/keys"}, "", "/nowhere/keys: no such file", false},
	} {
		_, err := readKeys(t, c.stdin, c.args...)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, new(cmdline.UsageError)) != c.usage {
			t.Errorf("%q: got %v, want %q", c.args, err, c.want)
			continue
		}
		for _, s := range []string{secret, key20[2:], key28} {
			if strings.Contains(err.Error(), s) {
				t.Errorf("%q: the key is in %q", c.args, err)
			}
		}
	}
}
