// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"fmt"

	"github.com/utipc/utipc/frame"
)

// A message is built from fields, and read through a view of its kind.
func Example() {
	fields := frame.PayloadFields{
		Common:   frame.Common{Seq: 5, Ack: 4, Prev: 0x01001001},
		Type:     frame.NamedMsg,
		Scope:    frame.ClusterScope,
		OrigPort: 1001, DestPort: 2002,
		OrigNode: 0x01001001, DestNode: 0x01001002,
		NameType: 18888, Lower: 17,
	}
	b := fields.Append(nil, []byte("hello"))

	m, err := frame.Parse(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := frame.ParsePayload(m)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, _ := p.Range()
	fmt.Printf("%s from %v for %v\n", p.Data(), p.From(), r)
	// Output:
	// hello from <1001001:1001> for 18888:17-17
}
