// SPDX-License-Identifier: Apache-2.0

package kernel_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/load/kernel"
	"github.com/utipc/utipc/test/bench/load/loadtest"
	"github.com/utipc/utipc/test/tier"
)

// A way is one way to move bytes.
type way struct {
	name string
	open func(end int) (load.Load, error)
	size int // of the longest message that is tried
}

// ways are all of them, at a place of their own.
func ways(t *testing.T, wait kernel.Wait, subnet int) []way {
	dir := t.TempDir()
	at := [2]string{fmt.Sprintf("127.73.%d.1", subnet), fmt.Sprintf("127.73.%d.2", subnet)}
	all := []way{
		{"UDP", func(end int) (load.Load, error) { return kernel.OpenUDP(at, end, wait) }, 65507},
		{"UNIX stream", func(end int) (load.Load, error) { return kernel.OpenUnix(filepath.Join(dir, "s"), end, wait) }, 256 << 10},
		{"UNIX datagrams", func(end int) (load.Load, error) {
			return kernel.OpenUnixDatagrams(filepath.Join(dir, "d"), end, wait)
		}, 256 << 10},
	}
	if wait != kernel.GoNet {
		all = append(all, way{"pipes", func(end int) (load.Load, error) { return kernel.OpenPipe(filepath.Join(dir, "p"), end, wait) }, 256 << 10})
	}
	return all
}

// Every way, waiting in every way, moves messages of one byte, of some, and the longest.
//
// Proves: bench.loads
func TestEveryWay(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	for i, wait := range []kernel.Wait{kernel.Spin, kernel.Block, kernel.GoNet} {
		for _, w := range ways(t, wait, i+1) {
			t.Run(fmt.Sprint(w.name, " ", wait), func(t *testing.T) {
				var ends [2]load.Load
				for _, end := range []int{1, 0} {
					var err error
					if ends[end], err = w.open(end); err != nil {
						t.Fatal(err)
					}
					defer ends[end].Close()
				}
				for _, size := range []int{1, w.size} {
					if wait == kernel.Spin && w.name == "UNIX datagrams" {
						// The kernel keeps ten: where both ends have to share a core, a
						// flood moves on by ten whenever one spinner is made to give way.
						loadtest.Run(t, ends[0], ends[1], false, load.Job{Size: size, For: 5 * time.Millisecond})
						continue
					}
					loadtest.Check(t, ends[0], ends[1], load.Job{Size: size, For: 5 * time.Millisecond})
				}
			})
		}
	}
}

// Proves: bench.loads
func TestRefusals(t *testing.T) {
	if _, err := kernel.OpenUDP([2]string{"127.0.0.1", "fe80::1"}, 0, kernel.Spin); err == nil {
		t.Error("an IPv6 address: got no error")
	}
	if _, err := kernel.OpenUnix(filepath.Join(t.TempDir(), "s"), 1, "long"); err == nil {
		t.Error("a way to wait that there is not: got no error")
	}
	if _, err := kernel.OpenPipe(filepath.Join(t.TempDir(), "p"), 1, kernel.GoNet); err == nil {
		t.Error("pipes of package net: got no error")
	}
	d, err := kernel.OpenUDP([2]string{"127.73.9.1", "127.73.9.2"}, 0, kernel.Block)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Run(t.Context(), load.Job{Kind: load.Send, Size: 65508}); err == nil {
		t.Error("a message longer than UDP's: got no error")
	}
}
