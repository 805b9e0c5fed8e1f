// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/tipctool"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// standIn opens a node that stands in for the daemon's.
func standIn(t *testing.T) *stack.Node {
	t.Helper()
	port, err := hub.New(hub.Config{}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	n, err := stack.Open(t.Context(), stack.Config{Bearers: []stack.Bearer{port}, Address: 0x1001001})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close(context.Background()) })
	return n
}

// Flags stand anywhere, -j and -p before the command as well, words are shortened, and
// the status is tipc(8)'s.
//
// Proves: tools.tipc
func TestToolFlags(t *testing.T) {
	for _, c := range []struct {
		args, out, errs string
		status          int
	}{
		{"bearer list", "eth:eth0\n", "", 0},
		{"b l", "eth:eth0\n", "", 0},
		{"bearer list some more words", "eth:eth0\n", "", 0},
		{"link list", "broadcast-link: up\n", "", 0},
		{"-j link list", `[{"broadcast-link":"up"}]` + "\n", "", 0},
		{"--json l l", `[{"broadcast-link":"up"}]` + "\n", "", 0},
		{"link -j list", `[{"broadcast-link":"up"}]` + "\n", "", 0},
		{"link list --json", `[{"broadcast-link":"up"}]` + "\n", "", 0},
		{"-jp link list", "[ {\n        \"broadcast-link\": \"up\"\n    } ]\n", "", 0},
		{"-j link list -p", "[ {\n        \"broadcast-link\": \"up\"\n    } ]\n", "", 0},
		{"-p link list", "broadcast-link: up\n", "", 0},
		{"node get --socket /nowhere address", "01001001\n", "", 0},
		{"-j m g t media eth", `[{"tolerance":1500}]` + "\n", "", 0},
		{"link get priority link nope", "", "kernel answers: Invalid argument\n", 255},
		{"link get", "", "Usage: utipc", 255},
		{"link foo", "", "error, invalid command", 255},
		{"link list --foo", "", "no flag --foo", cmdline.Misuse},
		{"link list --driver auto", "", "only with --if or --udp", cmdline.Misuse},
		{"link list --wait -1s", "", "--wait is negative", cmdline.Misuse},
		{"-j", "", "utipc COMMAND", cmdline.Misuse},
		{"-j nothing", "", "no command \"nothing\"", cmdline.Misuse},
		{"d", "", "no command \"d\"", cmdline.Misuse},
		{"link get priority -h", "Usage: utipc [-j [-p]] link get priority link LINK\n", "", 0},
		{"help link", "utipc link: ", "", 0},
	} {
		attachTo(t, attached(t, standIn(t)), nil)
		out, errs, status := utipc(nil, strings.Fields(c.args)...)
		exact := status == 0 && !strings.Contains(c.args, "help") && !strings.Contains(c.args, "-h")
		if status != c.status || exact && out != c.out || !strings.Contains(out, c.out) || !strings.Contains(errs, c.errs) || c.errs == "" && errs != "" {
			t.Errorf("%s: got status %d, %q, %q, want %d, %q, %q", c.args, status, out, errs, c.status, c.out, c.errs)
		}
	}
}

// A key's file stands behind the words as a flag, too; before them it is of a node of one's own.
//
// Proves: tools.tipc
func TestToolKeyFile(t *testing.T) {
	attachTo(t, attached(t, standIn(t)), nil)
	out, errs, status := utipc(strings.NewReader("this_is_a_key16_salt\n"), "node", "set", "key", "--keyfile", "-")
	if status != 0 || out+errs != "" {
		t.Errorf("got status %d, %q, %q", status, out, errs)
	}
	if _, errs, status := utipc(nil, "node", "--keyfile", "-", "list"); status != cmdline.Misuse || !strings.Contains(errs, "--keyfile") {
		t.Errorf("before the words: got status %d, %q", status, errs)
	}
}

// A node of its own, over UDP, can be shown as well.
//
// Proves: tools.tipc
func TestToolOnOwnNode(t *testing.T) {
	own, other := freeUDP(t, 1)[0], "127.0.0.1:6198"
	out, errs, status := utipc(nil, "-j", "bearer", "list", "--udp", own+","+other, "--address", "1.1.7", "--wait", "0")
	if status != 0 || errs != "" || !json.Valid([]byte(out)) || !strings.Contains(out, `"local":"`+own+`","remote":"`+other+`"`) {
		t.Errorf("got status %d, %q, %q", status, out, errs)
	}
}

// Every word of tipc(8) is a command here, and what is short for one there is so here.
//
// Proves: tools.tipc
func TestToolNames(t *testing.T) {
	for short, long := range map[string]string{"b": "bearer", "l": "link", "m": "media", "na": "nametable", "no": "node", "p": "peer", "s": "socket"} {
		if c := newProgram().Find(short); c == nil || c.Name != long {
			t.Errorf("%s: got %v, want %s", short, c, long)
		}
	}
	if c := newProgram().Find("n"); c != nil {
		t.Errorf("n: got %s, want none", c.Name)
	}
	for _, noun := range tipctool.Nouns() {
		if !slices.ContainsFunc(newProgram().Commands, func(c *cmdline.Command) bool { return c.Name == noun }) {
			t.Errorf("no command %s", noun)
		}
	}
}
