// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/utipc/utipc/frame"
)

// inject brings some frames nobody sent to somebody: noise, or a frame carried
// lately, changed.
func (w *world) inject() {
	net := w.nets[w.work.IntN(len(w.nets))]
	r := net.r
	for range 1 + r.IntN(20) {
		to := w.nodes[r.IntN(len(w.nodes))]
		if to.life == nil {
			continue
		}
		var b []byte
		p := net.last[r.IntN(len(net.last))]
		if p == nil || r.IntN(8) == 0 {
			b = make([]byte, r.IntN(200))
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			if len(b) >= frame.EthernetLen+4 && r.IntN(4) > 0 {
				frame.PutEthernet(b, to.mac[net.idx], w.nodes[r.IntN(len(w.nodes))].mac[net.idx])
				b[14] = b[14]&0x1f | 2<<5
			}
		} else {
			b = append(b, p.bytes...)
			for range 1 + r.IntN(4) {
				spoil(r, &b)
			}
			if r.IntN(2) == 0 && len(b) >= 6 {
				copy(b, to.mac[net.idx][:])
			}
		}
		w.report.Injected++
		w.note('i', b, uint64(to.idx))
		to.life.dev[net.idx].arrive(&packet{bytes: b})
		to.life.wake()
	}
}

// spoil changes something in a frame, mostly in its header.
func spoil(r *rand.Rand, b *[]byte) {
	f := *b
	if len(f) < frame.EthernetLen+frame.ShortLen {
		return
	}
	word := frame.EthernetLen + 4*r.IntN(min(15, (len(f)-frame.EthernetLen)/4))
	switch r.IntN(7) {
	case 0:
		f[r.IntN(len(f))] ^= 1 << r.IntN(8)
	case 1:
		f[word+r.IntN(4)] ^= 1 << r.IntN(8)
	case 2:
		binary.BigEndian.PutUint32(f[word:], r.Uint32())
	case 3:
		binary.BigEndian.PutUint16(f[word+2*r.IntN(2):], uint16(r.IntN(5))-2)
	case 4:
		*b = f[:r.IntN(len(f))]
	case 5: // another user
		f[14] = f[14]&0xe1 | byte(r.IntN(16))<<1
	case 6: // another size
		w0 := binary.BigEndian.Uint32(f[14:])
		binary.BigEndian.PutUint32(f[14:], w0&^0x1ffff|uint32(r.IntN(1<<17)))
	}
}
