// SPDX-License-Identifier: Apache-2.0

package tap_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/utipc/utipc/stack/carrier/tap"
)

// A trace with a time of its own and a remark.
//
// Proves: house.docs
func ExampleWriter() {
	var file bytes.Buffer
	w := tap.NewWriter(&file, "net0", 1500)
	w.WriteFrame(time.Unix(0, 1500), tap.Out, make([]byte, 60), "lost by the network")
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%d bytes, beginning with %x\n", file.Len(), file.Bytes()[:4])
	// Output: 196 bytes, beginning with 0a0d0d0a
}
