// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/utipc/utipc/frame"
)

// What Marks says of a message, SetMarks sets. Mutations: either leaves out any of the fields.
func TestMarks(t *testing.T) {
	for _, r := range []Received{
		{returnable: true},
		{named: true},
		{srcDroppable: true},
		{syn: true},
		{reroute: 15},
		{scope: frame.Scope(3)},
		{returnable: true, named: true, srcDroppable: true, syn: true, reroute: 9, scope: frame.Scope(2)},
	} {
		var got Received
		got.SetMarks(r.Marks())
		if got.returnable != r.returnable || got.named != r.named || got.srcDroppable != r.srcDroppable ||
			got.syn != r.syn || got.reroute != r.reroute || got.scope != r.scope {
			t.Errorf("%+v, want %+v", got, r)
		}
	}
}
