// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"fmt"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/lint"
)

// A message to nobody, from a node that does not exist.
//
// Proves: house.docs
func ExampleCheck() {
	f := frame.ConnFields{Type: frame.ConnProbe, OrigPort: 7, DestPort: 9, Orig: 0x01001001, Dest: 0x01001002}
	for _, x := range lint.Check(f.Append(nil)) {
		fmt.Println(x)
	}
	// Output:
	// prev-node: w3: no sender
	// orig-node: w6: 1001001, want 0 as in w3
}
