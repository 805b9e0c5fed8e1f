// SPDX-License-Identifier: Apache-2.0

package seal_test

import (
	"testing"
	"time"
	"unsafe"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
)

// TestNothingAllocates seals and opens what is good and drops what is not.
//
// Proves: seal.cost
func TestNothingAllocates(t *testing.T) {
	const now = time.Second
	for _, mode := range []frame.KeyMode{frame.ClusterKey, frame.NodeKey} {
		for _, n := range []int{64, 65, 1468} {
			x, y, ofX, ofY := pair(t, mode)
			plain, out, in := message(n, ofX.Addr(), ofY.Addr()), make([]byte, n+seal.Overhead), make([]byte, n+seal.Overhead)
			size, err := x.Seal(out, plain, ofY, 1)
			if err != nil {
				t.Fatal(err)
			}
			check := func(what string, want error, f func() error) {
				t.Helper()
				if err := f(); err != want { // also the first time, which may allocate
					t.Errorf("mode %d, %d bytes, %s: got %v, want %v", mode, n, what, err, want)
				}
				if got := testing.AllocsPerRun(100, func() { f() }); got != 0 {
					t.Errorf("mode %d, %d bytes, %s: %v allocations", mode, n, what, got)
				}
			}
			check("seal", nil, func() error {
				c := x.Choose(now, ofY, seal.KindOf(plain))
				_, err := x.Seal(in, plain, ofY, c.Slot(0))
				return err
			})
			check("seal in place", nil, func() error {
				_, err := x.Seal(in, in[frame.SealedLen:][:copy(in[frame.SealedLen:], plain)], ofY, 1)
				return err
			})
			open := func(change func([]byte), p *seal.Peer) func() error {
				return func() error {
					copy(in, out)
					change(in)
					_, _, err := y.Open(now, in[:size], p)
					return err
				}
			}
			check("open", nil, open(func([]byte) {}, ofX))
			check("changed", seal.ErrTag, open(func(b []byte) { b[40]++ }, ofX))
			check("slot without key", seal.ErrNoKey, open(func(b []byte) { b[1] = 3 << 6 }, ofX))
			check("master", seal.ErrNoKey, open(func(b []byte) { b[1] = 0 }, ofX))
			check("stranger", seal.ErrNoKey, open(func(b []byte) { b[40]++ }, nil))
			check("malformed", seal.ErrMalformed, open(func(b []byte) { b[0] = 0xff }, ofX))
		}
	}
}

// TestPeerSize: thousands of nodes have one each.
//
// Proves: seal.cost
func TestPeerSize(t *testing.T) {
	if n := unsafe.Sizeof(seal.Peer{}); n > 144 {
		t.Errorf("a Peer has %d bytes, want at most 144", n)
	}
}
