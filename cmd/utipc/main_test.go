// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
)

// utipc runs the program in this process.
func utipc(stdin io.Reader, args ...string) (stdout, stderr string, status int) {
	var out, err bytes.Buffer
	status = run(context.Background(), args, stdin, &out, &err)
	return out.String(), err.String(), status
}

func TestHelp(t *testing.T) {
	out, errs, status := utipc(nil, "-h")
	if status != exitDone || errs != "" {
		t.Errorf("-h: got status %d, %q, want 0, nothing", status, errs)
	}
	for _, c := range commands() {
		if !strings.Contains(out, "\n    "+c.name+" ") || c.short == "" {
			t.Errorf("-h: got no line on %s", c.name)
		}
		usage, errs, status := utipc(nil, c.name, "-h")
		if status != exitDone || errs != "" || usage != c.usage {
			t.Errorf("%s -h: got status %d, %q, want 0 and its usage", c.name, status, errs)
		}
		if !strings.Contains(usage, "\n    utipc "+c.name) || !strings.HasSuffix(usage, "\n") {
			t.Errorf("%s -h: got %q, want an example in it", c.name, usage)
		}
	}
}

func TestMisuse(t *testing.T) {
	for _, args := range [][]string{{}, {"no-such-command"}, {"-x"}, {"decode"}, {"decode", "-x", "file"}, {"version", "now"}, {"version", "-x"}, {""}} {
		out, errs, status := utipc(nil, args...)
		if status != exitMisuse || out != "" || errs == "" {
			t.Errorf("%q: got status %d, %q and %q, want %d, nothing, a reason", args, status, out, errs, exitMisuse)
		}
	}
}

func TestVersion(t *testing.T) {
	out, errs, status := utipc(nil, "version")
	if status != exitDone || errs != "" || !strings.HasPrefix(out, "utipc ") || strings.Count(out, "\n") != 1 {
		t.Errorf("got %q, %q, status %d, want a line, nothing, 0", out, errs, status)
	}
}
