// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestDemo(t *testing.T) {
	var out, errs bytes.Buffer
	begin := time.Now()
	if code := run(t.Context(), []string{"demo"}, nil, &out, &errs); code != exitDone {
		t.Fatalf("exit %d: %s%s", code, out.String(), errs.String())
	}
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	if got, want := lines[len(lines)-1], "demo: ok"; got != want {
		t.Errorf("last line %q, want %q", got, want)
	}
	t.Logf("took %v, promised under 10s\n%s", time.Since(begin).Round(time.Millisecond), out.String())
	if d := time.Since(begin); d > 100*time.Second {
		t.Errorf("took %v", d)
	}
}
