// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"fmt"
	"io"
)

// A client is a small one of the same protocol.
type client struct {
	c    io.ReadWriter
	size int64
	next uint64 // request's handle
}

// useNBD connects, has f use the device, and disconnects.
func useNBD(c io.ReadWriter, f func(*client) error) error {
	var hello struct {
		Magic, Option uint64
		Flags         uint16
	}
	if err := binary.Read(c, binary.BigEndian, &hello); err != nil {
		return err
	}
	if hello.Magic != nbdMagic || hello.Option != optionMagic || hello.Flags&noZeroes == 0 {
		return errNBD
	}
	w := binary.BigEndian.AppendUint32(nil, fixedNewstyle|noZeroes)
	w = binary.BigEndian.AppendUint64(w, optionMagic)
	w = binary.BigEndian.AppendUint32(w, optExport)
	w = binary.BigEndian.AppendUint32(w, 0) // of no name
	if _, err := c.Write(w); err != nil {
		return err
	}
	var export struct {
		Size  int64
		Flags uint16
	}
	if err := binary.Read(c, binary.BigEndian, &export); err != nil {
		return err
	}
	k := &client{c: c, size: export.Size}
	if err := f(k); err != nil {
		return err
	}
	return k.request(cmdDisconnect, nil, 0, 0)
}

func (k *client) request(kind uint16, data []byte, at int64, n int) error {
	k.next++
	w := binary.BigEndian.AppendUint32(nil, requestMagic)
	w = binary.BigEndian.AppendUint32(w, uint32(kind))
	w = binary.BigEndian.AppendUint64(w, k.next)
	w = binary.BigEndian.AppendUint64(w, uint64(at))
	w = binary.BigEndian.AppendUint32(w, uint32(n))
	_, err := k.c.Write(append(w, data...))
	return err
}

// answer reads what comes before data.
func (k *client) answer() error {
	var a struct {
		Magic, Code uint32
		Handle      uint64
	}
	if err := binary.Read(k.c, binary.BigEndian, &a); err != nil {
		return err
	}
	if a.Magic != answerMagic || a.Handle != k.next {
		return errNBD
	}
	if a.Code != 0 {
		return fmt.Errorf("blockdev: the device answers with error %d", a.Code)
	}
	return nil
}

// write returns when the device has answered.
func (k *client) write(b []byte, at int64) error {
	if err := k.request(cmdWrite, b, at, len(b)); err != nil {
		return err
	}
	return k.answer()
}

func (k *client) read(b []byte, at int64) error {
	if err := k.request(cmdRead, nil, at, len(b)); err != nil {
		return err
	}
	if err := k.answer(); err != nil {
		return err
	}
	_, err := io.ReadFull(k.c, b)
	return err
}
