// SPDX-License-Identifier: Apache-2.0

package netdev

import (
	"bytes"
	"fmt"
)

// Poison fills the chunks that nobody holds, where ArenaConfig.Poison is set. Who
// reads a Buffer after its release finds it: no frame made of it has an EtherType
// or a version that is accepted. Who writes to one is found when the chunk is
// taken the next time, or the arena ends: that panics and names the chunk. A fresh
// Buffer is full of it too, so that bytes nobody wrote show up on the wire.
const Poison byte = 0xdb

var poisonPage = bytes.Repeat([]byte{Poison}, SmallChunk)

// poison overwrites whole chunks.
func poison(mem []byte) {
	for len(mem) > 0 {
		mem = mem[copy(mem, poisonPage):]
	}
}

// checkPoison panics when a free chunk was written to.
func (b *Buffer) checkPoison() {
	for at := 0; at < len(b.mem); at += SmallChunk {
		page := b.mem[at : at+SmallChunk]
		if bytes.Equal(page, poisonPage) {
			continue
		}
		for i, c := range page {
			if c != Poison {
				panic(fmt.Sprintf("netdev: chunk %d was written to after its release: %#02x at byte %d of the chunk", b.index, c, at+i))
			}
		}
	}
}
