// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
)

// utipc runs the program in this process.
func utipc(stdin io.Reader, args ...string) (stdout, stderr string, status int) {
	var out, err bytes.Buffer
	status = run(context.Background(), args, stdin, &out, &err)
	return out.String(), err.String(), status
}

func TestMisuse(t *testing.T) {
	for _, args := range [][]string{{}, {"no-such-command"}, {"-x"}, {"decode"}, {"decode", "-x", "file"}, {"version", "now"}, {"version", "-x"}, {""}} {
		out, errs, status := utipc(nil, args...)
		if status != cmdline.Misuse || out != "" || errs == "" {
			t.Errorf("%q: got status %d, %q and %q, want %d, nothing, a reason", args, status, out, errs, cmdline.Misuse)
		}
	}
}

func TestVersion(t *testing.T) {
	out, errs, status := utipc(nil, "version")
	if status != cmdline.Done || errs != "" || !strings.HasPrefix(out, "utipc ") || strings.Count(out, "\n") != 1 {
		t.Errorf("got %q, %q, status %d, want a line, nothing, 0", out, errs, status)
	}
}
