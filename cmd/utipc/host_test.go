// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io/fs"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
)

// attachTo has commands attach to n until the test ends; what they are told to attach to
// comes back.
func attachTo(t *testing.T, n *stack.Node, err error) (path *string) {
	t.Helper()
	was, path := attachNode, new(string)
	attachNode = func(_ context.Context, p string, _ stack.AttachConfig) (*stack.Node, error) {
		*path = p
		return n, err
	}
	t.Cleanup(func() { attachNode = was })
	return path
}

// Where the daemon is looked for.
func TestHostPath(t *testing.T) {
	for _, c := range []struct {
		env, want string
		args      []string
	}{
		{"", defaultSocket, nil},
		{"/tmp/env.sock", "/tmp/env.sock", nil},
		{"/tmp/env.sock", "/tmp/flag.sock", []string{"--socket", "/tmp/flag.sock"}},
	} {
		t.Setenv("UTIPC_SOCKET", c.env)
		var h nodeFlags
		f := cmdline.NewFlags("x")
		h.flags(f)
		if _, err := cmdline.Parse(f, c.args, 0, 0); err != nil {
			t.Fatal(err)
		}
		got := attachTo(t, nil, fs.ErrNotExist)
		_, _, err := h.open(t.Context(), cmdline.Stdio{})
		if *got != c.want || !strings.Contains(err.Error(), "attach to "+c.want) || !strings.Contains(err.Error(), "--if IFACE, --udp IP") {
			t.Errorf("%q, %q: attached to %q, %v, want %q and both ways out", c.env, c.args, *got, err, c.want)
		}
		if h.place() != "the daemon at "+c.want {
			t.Errorf("place: got %q", h.place())
		}
	}
}

// Flags of a node of one's own say nothing to a daemon, and the other way round.
func TestHostMisuse(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--netid", "4712", "--address", "1.1.1"}, "--address, --netid: only with --if or --udp"},
		{[]string{"--socket", "x", "--if", "eth0"}, "--socket does not go with --if and --udp"},
		{[]string{"--socket", "x", "--udp", "127.0.0.1"}, "--socket does not go with --if and --udp"},
	} {
		_, errs, code := utipc(nil, append(append([]string{"ping"}, c.args...), "18888:17")...)
		if code != cmdline.Misuse || !strings.Contains(errs, c.want) {
			t.Errorf("%q: exit %d, %q; want %d, %q", c.args, code, errs, cmdline.Misuse, c.want)
		}
	}
}

// flagsOf is a set with the flags of a command's own.
func flagsOf(c interface{ flags(*cmdline.Flags) }) *cmdline.Flags {
	f := cmdline.NewFlags("test")
	c.flags(f)
	return f
}
