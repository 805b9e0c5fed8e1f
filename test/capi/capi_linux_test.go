// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/preload"
)

// ownNodes are the tests that need nodes of the process: the daemon is another.
var ownNodes = []string{"names", "nulls", "forkedraw", "memory", "timeouts", "udp"}

// sources are those of the program of testdata.
func sources(t testing.TB) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/*.c")
	if err != nil || len(all) < 5 {
		t.Fatalf("testdata has %q, %v", all, err)
	}
	return all
}

// The program of testdata calls every function of the library: what succeeds, each error path, random
// handles and NULL pointers, threads, descriptors under poll(2), forked children, 10,000 sockets opened
// and closed. Each of its tests runs with nodes in memory, and with those of a daemon, which has nothing
// of the program left in the end.
//
// Mutations it catches: in calls, handles given out again at once; no check of the kind; a node's close that
// leaves its sockets; a deadline that is left behind; two calls that receive at once with different
// deadlines; the descriptor that is cleared with a message there, or is left open;
// a connection accepted ahead that is not closed; in utipc.c, no page that is wiped at a fork; one
// sentence for all threads.
//
// Proves: capi.calls
func TestProgram(t *testing.T) {
	program := compile(t, sources(t)...)
	tests := strings.Fields(run(t, nil, program))
	if len(tests) < 25 {
		t.Fatalf("the program has the tests %q", tests)
	}
	for _, name := range tests {
		t.Run(name, func(t *testing.T) {
			t.Run("memory", func(t *testing.T) {
				t.Log(run(t, []string{"UTIPC_SOCKET=/nowhere", "UTIPC_NODE="}, program, name))
			})
			if slices.Contains(ownNodes, name) {
				return
			}
			t.Run("attached", func(t *testing.T) {
				bed := preload.NewBed(t, hub.New(hub.Config{}), 1)
				run(t, []string{"NODE=attach:", "UTIPC_SOCKET=" + bed.Path}, program, name)
			})
		})
	}
}
