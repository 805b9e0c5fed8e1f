// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// The Network Block Device protocol, fixed newstyle without options but what clients must have.
// Source: github.com/NetworkBlockDevice/nbd, doc/proto.md.
const (
	nbdMagic     = 0x4e42444d41474943
	optionMagic  = 0x49484156454f5054
	replyMagic   = 0x3e889045565a9
	requestMagic = 0x25609513
	answerMagic  = 0x67446698

	fixedNewstyle, noZeroes = 1, 2 // of the handshake
	hasFlags, sendsFlush    = 1, 4 // of the export

	optExport, optAbort, optList, optInfo, optGo = 1, 2, 3, 6, 7
	repAck, repServer, repInfo, repUnsupported   = 1, 2, 3, 1<<31 | 1

	cmdRead, cmdWrite, cmdDisconnect, cmdFlush = 0, 1, 2, 3
	errIO, errInvalid                          = 5, 22

	longestOption = 64 << 10
	longestAccess = 32 << 20 // bytes of one read or write, as clients expect
)

var errNBD = errors.New("blockdev: the client does not speak NBD")

// A device is what an NBD client reads and writes. An access fits its size.
type device interface {
	size() int64
	access(write bool, b []byte, at int64) error
}

// serveNBD serves one client until it leaves; then the error is nil.
func serveNBD(c io.ReadWriter, d device) error {
	in := bufio.NewReader(c)
	w := binary.BigEndian.AppendUint64(nil, nbdMagic)
	w = binary.BigEndian.AppendUint64(w, optionMagic)
	w = binary.BigEndian.AppendUint16(w, fixedNewstyle|noZeroes)
	if _, err := c.Write(w); err != nil {
		return err
	}
	var flags uint32
	if err := binary.Read(in, binary.BigEndian, &flags); err != nil {
		return err
	}
	for {
		transmit, err := option(in, c, d, flags&noZeroes != 0)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if transmit {
			return commands(in, c, d)
		}
	}
}

// option answers one option. transmit says that commands come next, io.EOF that nothing does.
func option(in io.Reader, out io.Writer, d device, short bool) (transmit bool, err error) {
	var o struct {
		Magic       uint64
		Option, Len uint32
	}
	if err := binary.Read(in, binary.BigEndian, &o); err != nil {
		return false, err
	}
	if o.Magic != optionMagic || o.Len > longestOption {
		return false, errNBD
	}
	if _, err := io.CopyN(io.Discard, in, int64(o.Len)); err != nil { // the name: there is one export
		return false, err
	}
	reply := func(kind uint32, data []byte) {
		if err == nil {
			w := binary.BigEndian.AppendUint64(nil, replyMagic)
			w = binary.BigEndian.AppendUint32(w, o.Option)
			w = binary.BigEndian.AppendUint32(w, kind)
			w = binary.BigEndian.AppendUint32(w, uint32(len(data)))
			_, err = out.Write(append(w, data...))
		}
	}
	export := binary.BigEndian.AppendUint64(nil, uint64(d.size()))
	export = binary.BigEndian.AppendUint16(export, hasFlags|sendsFlush)
	switch o.Option {
	case optExport:
		if !short {
			export = append(export, make([]byte, 124)...)
		}
		_, err := out.Write(export)
		return true, err
	case optInfo, optGo:
		reply(repInfo, append([]byte{0, 0}, export...))
		reply(repAck, nil)
		return o.Option == optGo, err
	case optList:
		reply(repServer, []byte{0, 0, 0, 0}) // its name is empty
		reply(repAck, nil)
	case optAbort:
		reply(repAck, nil)
		return false, io.EOF
	default:
		reply(repUnsupported, nil)
	}
	return false, err
}

// commands carries out one after the other until the client disconnects.
func commands(in io.Reader, out io.Writer, d device) error {
	for {
		var r struct {
			Magic       uint32
			Flags, Type uint16
			Handle      uint64
			At          int64
			Len         uint32
		}
		if err := binary.Read(in, binary.BigEndian, &r); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if r.Magic != requestMagic {
			return errNBD
		}
		if r.Type == cmdDisconnect {
			return nil
		}
		var data []byte
		code := uint32(0)
		switch r.Type {
		case cmdRead, cmdWrite:
			if r.Len > longestAccess {
				return errNBD // what follows a write of such length is not to be read
			}
			data = make([]byte, r.Len)
			if r.Type == cmdWrite {
				if _, err := io.ReadFull(in, data); err != nil {
					return err
				}
			}
			if r.At < 0 || r.At > d.size()-int64(r.Len) {
				code = errInvalid
			} else if d.access(r.Type == cmdWrite, data, r.At) != nil {
				code = errIO
			}
		case cmdFlush: // what was answered is where it is to be
		default:
			code = errInvalid
		}
		w := binary.BigEndian.AppendUint32(nil, answerMagic)
		w = binary.BigEndian.AppendUint32(w, code)
		w = binary.BigEndian.AppendUint64(w, r.Handle)
		if r.Type == cmdRead && code == 0 {
			w = append(w, data...)
		}
		if _, err := out.Write(w); err != nil {
			return err
		}
	}
}
