// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where the program of other systems is not to be had, it is said which command mends that.
//
// Proves: bench.loads
func TestFindPeersMissing(t *testing.T) {
	if p := findPeers(t.Context(), filepath.Join(t.TempDir(), "none")); p.path != "" || len(p.missing) != 1 || !strings.Contains(p.missing[0], "go build -C "+peersPlace) {
		t.Errorf("a program there is not: got %+v", p)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if p := findPeers(t.Context(), self); p.path != self || len(p.missing) > 0 {
		t.Errorf("a program there is: got %+v", p)
	}
	t.Chdir(t.TempDir())
	if p := findPeers(t.Context(), ""); p.path != "" || len(p.missing) != 1 || !strings.Contains(p.missing[0], "--peers") {
		t.Errorf("outside of a checkout: got %+v", p)
	}
	t.Setenv("PATH", t.TempDir())
	if p := findPeers(t.Context(), ""); p.path != "" || len(p.missing) != 1 || !strings.Contains(p.missing[0], "no Go") {
		t.Errorf("without Go: got %+v", p)
	}
}

// The checkout is found from within.
//
// Proves: bench.loads
func TestCheckout(t *testing.T) {
	root, err := Checkout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, peersPlace, "main.go")); err != nil {
		t.Errorf("got %q: %v", root, err)
	}
}
