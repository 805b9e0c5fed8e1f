// SPDX-License-Identifier: Apache-2.0

// Package pattern makes payloads that both ends of an interop test can check.
//
//	 0                   4                   8                   12
//	+-------------------+-------------------+-------------------+-------------------+
//	|      "TPRT"       |  sequence number  |      length       |  CRC-32 of rest   |
//	+-------------------+-------------------+-------------------+-------------------+
//	|  bytes that depend on the sequence number and on their place ...
//
// Words are big endian, length counts the whole payload. A payload shorter
// than HeaderLen has pattern bytes only and cannot be recognised.
package pattern

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// HeaderLen is the length of the shortest payload that can be checked, in bytes.
const HeaderLen = 16

const magic = 0x54505254

var (
	// ErrForeign means that Fill did not make the payload.
	ErrForeign = errors.New("pattern: not one of ours")
	// ErrCorrupt means that Fill made the payload and something changed it.
	ErrCorrupt = errors.New("pattern: corrupt")
)

// Fill makes b the payload with sequence number seq and length len(b).
func Fill(b []byte, seq uint32) {
	h := 0
	if len(b) >= HeaderLen {
		h = HeaderLen
	}
	for i := h; i < len(b); i++ {
		b[i] = byte(int(seq)*131 + i*7 + i>>8)
	}
	if h == 0 {
		return
	}
	binary.BigEndian.PutUint32(b, magic)
	binary.BigEndian.PutUint32(b[4:], seq)
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)))
	binary.BigEndian.PutUint32(b[12:], crc32.ChecksumIEEE(b[h:]))
}

// Check returns the sequence number of a payload. Errors: ErrForeign,
// ErrCorrupt (the sequence number is returned then too, as found).
func Check(b []byte) (seq uint32, err error) {
	if len(b) < HeaderLen || binary.BigEndian.Uint32(b) != magic {
		return 0, ErrForeign
	}
	seq = binary.BigEndian.Uint32(b[4:])
	if binary.BigEndian.Uint32(b[8:]) != uint32(len(b)) ||
		binary.BigEndian.Uint32(b[12:]) != crc32.ChecksumIEEE(b[HeaderLen:]) {
		return seq, ErrCorrupt
	}
	return seq, nil
}

// Sum is the CRC-32 of a whole payload, as the test peer prints it.
func Sum(b []byte) uint32 { return crc32.ChecksumIEEE(b) }
