// SPDX-License-Identifier: Apache-2.0

package seal_test

import (
	"fmt"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
	"github.com/utipc/utipc/seal"
)

// Two nodes with the cluster's key: what one seals the other opens.
func Example() {
	key, err := seal.ParseKey(frame.ClusterKey, "this_is_a_key16_salt")
	if err != nil {
		fmt.Println(err)
		return
	}
	a, b := seal.NewRing(1, true), seal.NewRing(1, true)
	a.SetSelf(0x01001001, frame.AddrIdentity(0x01001001))
	b.SetSelf(0x01001002, frame.AddrIdentity(0x01001002))
	now, random := time.Second, uint64(0x1234567) // the owner's
	a.SetKey(now, key, random)
	b.SetKey(now, key, random+1<<32)

	f := frame.PayloadFields{Type: frame.DirectMsg, OrigNode: 0x01001001, DestNode: 0x01001002}
	f.Prev = 0x01001001
	plain := f.Append(nil, []byte("hello"))

	toB := seal.NewPeer(0x01001002)
	choice := a.Choose(now, toB, seal.KindOf(plain))
	for _, slot := range choice.Slots() {
		sealed := make([]byte, seal.SealedSize(plain))
		if _, err := a.Seal(sealed, plain, toB, slot); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(describe.Message(sealed))
		opened, _, err := b.Open(now, sealed, seal.NewPeer(0x01001001))
		if err != nil {
			fmt.Println(err)
			return
		}
		m, _ := frame.Parse(opened)
		fmt.Printf("%s, under an %v\n", m.Data(), key)
	}
	// Output:
	// 1001001>. encrypted/message tx=1 rx=0 seq=19088743 bytes=56 frame: encrypted
	// hello, under an aes-128 cluster key
}
