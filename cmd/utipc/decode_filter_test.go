// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
)

// TestDecodeFilters counts what passes. The numbers agree with the texts beside the
// captures, which count by user and direction.
//
// Proves: tools.decode
func TestDecodeFilters(t *testing.T) {
	for _, c := range []struct {
		name string
		args string
		want string
	}{
		{"16-loss-gap", "--user link", "66 shown"},              // 64 STATE, RESET, ACTIVATE
		{"16-loss-gap", "--user disc,name", "18 shown"},         // 15, 3
		{"16-loss-gap", "--user data", "276 shown"},             // of all importances
		{"16-loss-gap", "--user data --user link", "342 shown"}, // one of a kind is enough
		{"16-loss-gap", "--service 8888", "277 shown"},          // and a publication
		{"16-loss-gap", "--service 8888:1", "277 shown"},
		{"16-loss-gap", "--service 8888:0-99", "277 shown"},
		{"16-loss-gap", "--service 8888:2", "0 shown"},
		{"16-loss-gap", "--service 8888 --user name", "1 shown"}, // of two kinds both
		{"16-loss-gap", "--node <1001001:1560346350>", "276 shown"},
		{"16-loss-gap", "--link broadcast-link", "1 shown"},
		{"16-loss-gap", "--link 1001002-1001001 --user bcast", "2 shown"},
		{"16-loss-gap", "--link 1001001:eth0-1.1.2:eth0 --user bcast", "2 shown"},
		{"16-loss-gap", "--link 1001001:eth1-1001002 --user bcast", "0 shown"},
		{"16-loss-gap", "--link 1001001-1001003", "0 shown"},
		{"15-broadcast-loss", "--node 1.1.3 --user link", "72 shown"},
		{"15-broadcast-loss", "--node 52:54:93:d1:d7:00 --user link", "72 shown"},
		{"15-broadcast-loss", "--link 1001001-1001003 --user link", "72 shown"},
		{"13-bundling", "--user bundle", "78 shown"},
		{"12-fragmentation", "--user frag", "236 shown"},
		{"12-fragmentation", "--user frag --user data", "240 shown"}, // in fragments, too
	} {
		args := append(append([]string{"decode"}, strings.Fields(c.args)...), capture(c.name))
		out, errs, status := utipc(nil, args...)
		if got := lastLine(t, out); !strings.HasSuffix(got, ", "+c.want) || status != cmdline.Done || errs != "" {
			t.Errorf("%s %s: got %q, status %d, %q, want %s", c.name, c.args, got, status, errs, c.want)
		}
		n := strings.Count(out, "\n") - 1
		if want, _, _ := strings.Cut(c.want, " "); want != itoa(n) {
			t.Errorf("%s %s: got %d lines, want %s", c.name, c.args, n, want)
		}
	}
}

// TestDecodeFilterConnection: what goes through a connection belongs to the service that
// it was asked of, in both directions, in pieces too; and to nothing else.
//
// Proves: tools.decode
func TestDecodeFilterConnection(t *testing.T) {
	out, _, _ := utipc(nil, "decode", "--ladder", "--service", "9000", capture("08-stream"))
	for _, want := range []string{" 9000:1 syn ", " conn 9000:1 ", "frag of data 9000:1", "connection shutdown"} {
		if !strings.Contains(out, want) {
			t.Errorf("got no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "9001") || strings.Contains(out, "9002") {
		t.Errorf("got another service in\n%s", out)
	}
}

// TestDecodeOptionsMisused: each is refused with a word on what is allowed.
//
// Proves: tools.decode
func TestDecodeOptionsMisused(t *testing.T) {
	file := capture("16-loss-gap")
	for _, c := range []struct{ args, want string }{
		{"--node x", "1001001"},
		{"--node <1:2>,", "no node"},
		{"--node <1001001>", "<1001001:123>"},
		{"--node 0", "no node"},
		{"--link 1001001", "broadcast-link"},
		{"--link 1-", "broadcast-link"},
		{"--link 1:-2", "broadcast-link"},
		{"--link -2", "broadcast-link"},
		{"--user links", "data-critical, bcast"},
		{"--user system", "data-critical"},
		{"--service x", "18888:0-99"},
		{"--service 1:2@3", "18888:17"},
		{"--service 1:9-2", "18888:17"},
		{"--service <1:2>", "18888:17"},
		{"--width 20 --ladder", "72 to 400"},
		{"--ladder --stats", "together"},
		{"--ladder -v", "--ladder"},
		{"--stats --lint", "--stats"},
		{"--stats --user link", "--user"},
		{"--ascii --utf8", "together"},
		{"--count -1", "below 0"},
		{"--if lo", "together"},
		{"--follow " + file, "one file"},
	} {
		out, errs, status := utipc(nil, append(append([]string{"decode"}, strings.Fields(c.args)...), file)...)
		if status != cmdline.Misuse || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%s: got status %d, %q, %q, want %d and %q", c.args, status, out, errs, cmdline.Misuse, c.want)
		}
	}
	if _, errs, status := utipc(strings.NewReader(""), "decode", "--follow", "-"); status != cmdline.Misuse {
		t.Errorf("--follow -: got status %d, %q, want %d", status, errs, cmdline.Misuse)
	}
}

// FuzzDecodeFilter: no text makes a filter panic, and links that are taken are two nodes
// with names that stand in the text.
func FuzzDecodeFilter(f *testing.F) {
	for _, s := range []string{"1001001", "1.1.1,<1001001:5>", "52:54:61:4f:d8:00", "1:eth-0-2:eth0", "broadcast-link", "data,name", "1:2-3,4", "1:2@3", "-", ":-:", ","} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var d decodeFilter
		for _, add := range []func(string) error{d.addNode, d.addUser, d.addService} {
			if err := add(s); err != nil && err.Error() == "" {
				t.Error("got an error without a word")
			}
		}
		if d.addLink(s) != nil {
			return
		}
		for _, l := range d.links {
			if !l.broadcast && (l.nodes[0] == 0 || l.nodes[1] == 0 || !strings.Contains(s, l.names[0]) || !strings.Contains(s, l.names[1])) {
				t.Errorf("%q: got %+v", s, l)
			}
		}
	})
}
