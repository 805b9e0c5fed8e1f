// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"fmt"
	"testing"

	"github.com/utipc/utipc/frame"
)

// What is for all goes under the pending key too while a node is there that came with
// that: if it started since, it may have been given no other.
//
// Proves: seal.nonce
func TestNewcomerHearsAll(t *testing.T) {
	r, old, newcomer := NewRing(0, true), NewPeer(desk1), NewPeer(desk2)
	for i := range 2 {
		if _, err := r.SetKey(0, testKey(t, frame.ClusterKey, byte(i+1)), 5); err != nil {
			t.Fatal(err)
		}
		r.report(0, old, 1)
		r.HandleTimeout(Lasting)
	}
	for _, s := range []struct {
		do    string
		p     *Peer
		slot  uint8
		slots string
	}{
		{"one has the active key", old, 1, "[1]"},
		{"it takes up the pending one", old, 2, "[1]"},
		{"one comes with the pending key", newcomer, 2, "[2 1]"},
		{"it is lost", newcomer, 0, "[1]"},
		{"it comes with the active key", newcomer, 1, "[1]"},
		{"and takes up the pending one", newcomer, 2, "[1]"},
		{"it is lost again", newcomer, 0, "[1]"},
		{"it comes with the pending key again", newcomer, 2, "[2 1]"},
		{"and goes on to another", newcomer, 3, "[1]"},
	} {
		r.report(Lasting, s.p, s.slot)
		c := r.Choose(Lasting, nil, Other)
		if got := fmt.Sprint(c.Slots()); got != s.slots {
			t.Errorf("%s: got %s, want %s", s.do, got, s.slots)
		}
	}
}
