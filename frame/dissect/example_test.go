// SPDX-License-Identifier: Apache-2.0

package dissect_test

import (
	"fmt"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/dissect"
)

// Proves: house.docs
func ExampleTree() {
	f := frame.ConnFields{Common: frame.Common{Prev: 0x01001001}, Type: frame.ConnProbe, OrigPort: 7, DestPort: 9, Orig: 0x01001001, Dest: 0x01001002}
	fmt.Print(dissect.Tree(f.Append(nil)))
	// Output:
	// 1001001>1001002 conn/probe 7>9 seq=0 ack=0 bcast-ack=0
	//   w0 31:29   version             2
	//   w0 28:25   user                8 conn
	//   w0 24:21   header_words        10
	//   w0 20      non_seq             no
	//   w0 16:0    size                40
	//   w1 31:29   type                0 probe
	//   w1 28:25   error_code          0 ok
	//   w1 15:0    bcast_ack           0
	//   w2 31:16   ack                 0
	//   w2 15:0    seq                 0
	//   w3 31:0    prev_node           1001001
	//   w4 31:0    orig_port           7
	//   w5 31:0    dest_port           9
	//   w6 31:0    orig_node           1001001
	//   w7 31:0    dest_node           1001002
}
