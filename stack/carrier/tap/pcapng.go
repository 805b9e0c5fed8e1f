// SPDX-License-Identifier: Apache-2.0

package tap

import (
	"encoding/binary"
	"time"
)

// What of pcapng is written: one section, a block for each interface and one for each
// frame, in little-endian order.
//
//	+------------+--------------+------ ... ------+---------+--------------+
//	| type (4)   | length (4)   | fixed fields    | options | length (4)   |
//	+------------+--------------+------ ... ------+---------+--------------+
//
// Lengths are of the whole block, a multiple of 4. An option is its code (2),
// the length of its value (2) and the value, padded to a multiple of 4.
// Source: draft-ietf-opsawg-pcapng, sections 4.1 to 4.3.
const (
	sectionBlock   = 0x0a0d0d0a
	interfaceBlock = 1
	packetBlock    = 6

	byteOrderMagic = 0x1a2b3c4d
	linkEthernet   = 1

	optEnd     = 0
	optComment = 1
	optIfName  = 2 // of an interface
	optFlags   = 2 // of a packet; bits 0 and 1 are the Direction
	optTSResol = 9 // of an interface; 9 is nanoseconds

	longestComment = 0xffff &^ 3 // bytes; what an option's length can say
)

var le = binary.LittleEndian

// appendBlock adds a block whose inside fill adds.
func appendBlock(b []byte, kind uint32, fill func(b []byte) []byte) []byte {
	start := len(b)
	b = le.AppendUint32(b, kind)
	b = fill(le.AppendUint32(b, 0))
	length := uint32(len(b) - start + 4)
	le.PutUint32(b[start+4:], length)
	return le.AppendUint32(b, length)
}

func appendOption(b []byte, code uint16, value string) []byte {
	b = le.AppendUint16(b, code)
	b = le.AppendUint16(b, uint16(len(value)))
	return appendPadding(append(b, value...), len(value))
}

// appendPadding rounds n bytes that were added up to a multiple of 4.
func appendPadding(b []byte, n int) []byte {
	return append(b, "\x00\x00\x00"[:-n&3]...)
}

// appendSection adds what a file begins with.
func appendSection(b []byte) []byte {
	return appendBlock(b, sectionBlock, func(b []byte) []byte {
		b = le.AppendUint32(b, byteOrderMagic)
		b = le.AppendUint16(b, 1) // version 1.0
		b = le.AppendUint16(b, 0)
		return le.AppendUint64(b, 1<<64-1) // the section's length: unknown
	})
}

// appendInterface adds an interface. snap is the most bytes a frame of it will have in
// the file, 0 is any number.
func appendInterface(b []byte, name string, snap uint32) []byte {
	return appendBlock(b, interfaceBlock, func(b []byte) []byte {
		b = le.AppendUint16(b, linkEthernet)
		b = le.AppendUint16(b, 0)
		b = le.AppendUint32(b, snap)
		b = appendOption(b, optIfName, name)
		b = appendOption(b, optTSResol, "\x09")
		return le.AppendUint32(b, optEnd)
	})
}

// appendFrame adds one frame of length bytes, of which data is the beginning.
func appendFrame(b []byte, iface int, t time.Time, dir Direction, data []byte, length int, comment string) []byte {
	return appendBlock(b, packetBlock, func(b []byte) []byte {
		ns := uint64(t.UnixNano())
		b = le.AppendUint32(b, uint32(iface))
		b = le.AppendUint32(b, uint32(ns>>32))
		b = le.AppendUint32(b, uint32(ns))
		b = le.AppendUint32(b, uint32(len(data)))
		b = le.AppendUint32(b, uint32(length))
		b = appendPadding(append(b, data...), len(data))
		b = le.AppendUint16(b, optFlags)
		b = le.AppendUint16(b, 4)
		b = le.AppendUint32(b, uint32(dir))
		if comment != "" {
			b = appendOption(b, optComment, comment[:min(len(comment), longestComment)])
		}
		return le.AppendUint32(b, optEnd)
	})
}
