// SPDX-License-Identifier: Apache-2.0

package local

import (
	"slices"
	"testing"

	"github.com/utipc/utipc/netdev"
)

// Frames that a device did not take keep their order, and how often they were sent before;
// none is left behind twice.
//
// Mutations: moveUp copies from one further on, clears nothing, or forgets repeated.
func TestMoveUp(t *testing.T) {
	for sent := 1; sent < 6; sent++ {
		a := &attachment{taps: &taps{}}
		var all []*netdev.Buffer
		for i := range 6 {
			all = append(all, new(netdev.Buffer))
			a.unsent[i], a.repeated[i] = all[i], i
		}
		clear(a.unsent[:sent])
		a.n = 6 - sent
		a.moveUp(sent)
		left := slices.DeleteFunc(slices.Clone(a.unsent[:]), func(b *netdev.Buffer) bool { return b == nil })
		if !slices.Equal(a.unsent[:a.n], all[sent:]) || len(left) != a.n {
			t.Errorf("%d of 6 sent: %d are left, in the wrong order", sent, len(left))
		}
		if a.repeated[0] != sent || a.repeated[a.n-1] != 5 {
			t.Errorf("%d of 6 sent: repeated %v", sent, a.repeated[:a.n])
		}
	}
}
