// SPDX-License-Identifier: Apache-2.0

package hop

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/load/loadtest"
	"github.com/utipc/utipc/test/bench/load/tipc"
	"github.com/utipc/utipc/test/tier"
)

// Both ends of what has two count the round trips, in every job anew.
//
// Proves: daemon.cost
func TestEnds(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	for name, open := range map[string]func(path string, end int) (load.Load, error){
		"shared memory": func(path string, end int) (load.Load, error) { return OpenShared(path, end) },
		"UNIX socket":   func(path string, end int) (load.Load, error) { return OpenUnix(path, end) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "common")
			var ends [2]load.Load
			for _, end := range []int{1, 0} {
				var err error
				if ends[end], err = open(path, end); err != nil {
					t.Fatal(err)
				}
				defer ends[end].Close()
			}
			for range 2 {
				j := load.Job{Size: 64, For: 20 * time.Millisecond}
				r, served := loadtest.Run(t, ends[0], ends[1], false, j)
				if r.Count == 0 || r.P50 <= 0 || r.P99 < r.P50 || served.Count < r.Count {
					t.Errorf("got %+v, served %+v", r, served)
				}
			}
		})
	}
}

// A program of the daemon talks to itself, and the daemon serves until it is told to stop.
//
// Proves: daemon.cost
func TestAttached(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	path := filepath.Join(t.TempDir(), "socket")
	d, err := OpenDaemon(t.Context(), DaemonConfig{Path: path, Address: tipc.Address(1), Wait: stack.Sleep})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	p, err := tipc.Open(t.Context(), tipc.Config{Path: path, End: 1}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if r, _ := loadtest.Run(t, p, d, false, load.Job{Round: 1, Size: 64, For: 20 * time.Millisecond}); r.Count == 0 || r.P50 <= 0 {
		t.Errorf("got %+v", r)
	}
}
