// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/preload"
)

func TestMain(m *testing.M) { preload.Main(m) }

// equalSections are those that print over the library what they print on a kernel. The others are
// to follow: UTIPC_TRANSCRIPT_SECTIONS names others, and "all" is all.
const equalSections = "socket descriptor name socket-option ioctl bind nonblocking poll flow group process pointer pair refuse"

// only returns the sections of a transcript that are named.
func only(text, names string) string {
	var b strings.Builder
	_, lines := sections(text)
	for _, n := range strings.Fields(names) {
		fmt.Fprintf(&b, "== %s\n%s\n", n, strings.Join(lines[n], "\n"))
	}
	return b.String()
}

// Over the library the program prints what it prints on a kernel, but for kinds that are listed.
// Mutations: getsockname of the library answers another address type; shutdown does not call
// shut_unconnected; readable is always true.
//
// Proves: plain.programs
func TestLibrary(t *testing.T) {
	program := build(t, false)
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	b := preload.NewBed(t, hub.New(hub.Config{}), 1)
	names, want := cmp.Or(os.Getenv("UTIPC_TRANSCRIPT_SECTIONS"), equalSections), recorded(t, "node.txt")
	if names == "all" {
		names = ""
	} else {
		want = only(want, names)
	}
	text, err := b.UtipcRun(ctx, "preload", append([]string{program}, strings.Fields(names)...)...)
	if err != nil {
		t.Error(err)
	}
	keep(t, "node.txt", text)
	checkBeside(t, "the library", "node.txt", want, text, LibraryKinds)
}

// keep writes a transcript to the folder that UTIPC_TRANSCRIPT_OUT names.
func keep(t *testing.T, name, text string) {
	t.Helper()
	if dir := os.Getenv("UTIPC_TRANSCRIPT_OUT"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
}
