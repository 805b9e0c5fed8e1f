// SPDX-License-Identifier: Apache-2.0

package describe_test

import (
	"fmt"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
)

// Proves: house.docs
func ExampleMessage() {
	f := frame.PayloadFields{
		Common: frame.Common{Seq: 5, Ack: 4, Prev: 0x01001001}, Type: frame.NamedMsg, Scope: frame.ClusterScope,
		OrigPort: 1001, DestPort: 2002, OrigNode: 0x01001001, DestNode: 0x01001002, NameType: 18888, Lower: 17,
	}
	line, err := describe.Message(f.Append(nil, []byte("hello")))
	fmt.Println(line, err)
	// Output: 1001001>1001002 data-low/named 1001>2002 name=18888:17 bytes=5 seq=5 ack=4 bcast-ack=0 <nil>
}
