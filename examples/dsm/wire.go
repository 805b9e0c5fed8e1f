// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"encoding/binary"
	"errors"
)

// A message on the wire: kind, write, rank, page, and the page's bytes if it has them.
const (
	headerLen  = 8
	longestLen = headerLen + pageSize
)

var errMessage = errors.New("dsm: not a message of a pager")

func (m message) append(b []byte) []byte {
	write := byte(0)
	if m.write {
		write = 1
	}
	b = append(b, byte(m.kind), write)
	b = binary.BigEndian.AppendUint16(b, uint16(m.rank))
	b = binary.BigEndian.AppendUint32(b, m.page)
	return append(b, m.data...)
}

// parse reads a message; its data is a copy.
func parse(b []byte) (m message, err error) {
	if len(b) != headerLen && len(b) != longestLen {
		return m, errMessage
	}
	m = message{kind: kind(b[0]), write: b[1] != 0, rank: int(binary.BigEndian.Uint16(b[2:])), page: binary.BigEndian.Uint32(b[4:])}
	if len(b) == longestLen {
		m.data = append([]byte(nil), b[headerLen:]...)
	}
	return m, nil
}
