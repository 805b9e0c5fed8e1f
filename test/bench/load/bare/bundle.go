// SPDX-License-Identifier: Apache-2.0

package bare

import (
	"encoding/binary"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/test/bench/load"
)

// A bundled frame is messages one behind the other, each with a header of 24 bytes,
// the shortest TIPC has:
//
//	word 0    round
//	word 1    length of the message, header included
//	word 2    number of the message
//	word 3    destination port
//	word 4, 5 zero
const header = 24

// ports is how many ports the receiver has, and portBase the first one's number.
const (
	ports    = 8
	portBase = 100
)

// step is the room a message of size bytes takes in a bundle.
func step(size int) int { return (header + size + 3) &^ 3 }

// PerFrame is how many messages of size bytes go into a packet of mtu bytes.
func PerFrame(mtu, size int) int { return mtu / step(size) }

// putBundle fills a frame with messages, numbered from seq on.
func putBundle(f []byte, j load.Job, seq uint32, payload []byte) {
	be := binary.BigEndian
	s := step(j.Size)
	for off := frame.EthernetLen; off+s <= len(f); off += s {
		h := f[off : off+s : off+s]
		be.PutUint32(h, j.Round)
		be.PutUint32(h[4:], uint32(header+j.Size))
		be.PutUint32(h[8:], seq)
		be.PutUint32(h[12:], portBase+seq%ports)
		be.PutUint32(h[16:], 0)
		be.PutUint32(h[20:], 0)
		copy(h[header:], payload)
		seq++
	}
}

// A queue is a port's memory for what has arrived: bytes that are overwritten in
// turn, since nobody reads them.
type queue struct {
	mem []byte
	off int
}

func (q *queue) push(b []byte) {
	if q.off+len(b) > len(q.mem) {
		q.off = 0
	}
	q.off += copy(q.mem[q.off:], b)
}

// receiveBundles opens bundles: it reads each header, looks up the port, and copies
// the payload there.
func (e *End) receiveBundles(stop *load.Stop, j load.Job) (load.Result, error) {
	table := map[uint32]*queue{}
	for i := range uint32(ports) {
		table[portBase+i] = &queue{mem: make([]byte, 64<<10)}
	}
	m := load.NewMeter(j.For)
	for more, turn := true, 0; more; turn++ {
		n, err := e.dev.Receive(e.in)
		if err != nil {
			return load.Result{}, err
		}
		k, bytes := 0, 0
		for _, b := range e.in[:n] {
			i, size := openBundle(b.Bytes(), j.Round, table)
			k += i
			bytes += size
			b.Release()
		}
		if k > 0 {
			more = m.Add(k, bytes)
		}
		if turn%256 == 0 && stop.Load() {
			break
		}
	}
	return m.Result(), nil
}

// openBundle delivers the messages of one frame, and returns how many there were
// and their bytes.
func openBundle(f []byte, round uint32, table map[uint32]*queue) (n, bytes int) {
	be := binary.BigEndian
	for off := frame.EthernetLen; off+header <= len(f); {
		h := f[off:]
		size := int(be.Uint32(h[4:]))
		if be.Uint32(h) != round || size < header || size > len(h) {
			break
		}
		if q := table[be.Uint32(h[12:])]; q != nil {
			q.push(h[header:size])
			n++
			bytes += size - header
		}
		off += (size + 3) &^ 3
	}
	return n, bytes
}
