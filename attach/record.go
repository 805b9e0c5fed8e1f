// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
)

const (
	// HeaderLen is the length of a record's header, in bytes.
	HeaderLen = 64
	// MaxData is the most data a record may have, in bytes: the longest TIPC message.
	MaxData = 66000
	// MaxRecord is the length of the longest record.
	MaxRecord = HeaderLen + MaxData
)

var (
	// ErrRecord means bytes that are no record: shorter than a header, or of another
	// length than the header says. Who gets one closes the connection.
	ErrRecord = errors.New("attach: not a record")
	// ErrTooLong means more than MaxData bytes for one record.
	ErrTooLong error = tooLong{}
)

type tooLong struct{}

func (tooLong) Error() string   { return "attach: longer than a record may be" }
func (tooLong) Is(e error) bool { return e == syscall.EMSGSIZE }

// A Header is what stands before the data of every record. On the socket it has 64
// bytes, in the byte order of the machine:
//
//	 0  u16  operation            2  u16  flags
//	 4  u32  errno                8  u32  ID
//	12  u32  length of the data
//	16  struct sockaddr_tipc      address
//	32  struct sockaddr_tipc      second address
//	48  u32  argument 0          52  u32  argument 1
//	56  u64  wide argument
//
// What a record does not need is 0.
type Header struct {
	Op    Op
	Flags Flags
	Errno syscall.Errno // of an answer, OpFailed, OpEnd; 0: none. The data may say more, see docs/reference/attach.md
	ID    uint32        // of a request, chosen by who asks, and of its answer; 0: an answer is not wanted
	Len   uint32        // of the data, in bytes; set by who writes the record
	Addr  Sockaddr
	Addr2 Sockaddr
	Arg0  uint32
	Arg1  uint32
	Wide  uint64
}

// Put writes the header, 64 bytes, to the beginning of b.
func (h *Header) Put(b []byte) {
	_ = b[HeaderLen-1]
	e := binary.NativeEndian
	e.PutUint16(b[0:], uint16(h.Op))
	e.PutUint16(b[2:], uint16(h.Flags))
	e.PutUint32(b[4:], uint32(h.Errno))
	e.PutUint32(b[8:], h.ID)
	e.PutUint32(b[12:], h.Len)
	h.Addr.put(b[16:32])
	h.Addr2.put(b[32:48])
	e.PutUint32(b[48:], h.Arg0)
	e.PutUint32(b[52:], h.Arg1)
	e.PutUint64(b[56:], h.Wide)
}

// parse reads the 64 bytes at the beginning of b. Every pattern of bits has a meaning
// but a length of more than MaxData. Errors: ErrRecord.
func (h *Header) parse(b []byte) error {
	if len(b) < HeaderLen {
		return ErrRecord
	}
	e := binary.NativeEndian
	*h = Header{
		Op:    Op(e.Uint16(b[0:])),
		Flags: Flags(e.Uint16(b[2:])),
		Errno: syscall.Errno(e.Uint32(b[4:])),
		ID:    e.Uint32(b[8:]),
		Len:   e.Uint32(b[12:]),
		Addr:  ParseSockaddr(b[16:32]),
		Addr2: ParseSockaddr(b[32:48]),
		Arg0:  e.Uint32(b[48:]),
		Arg1:  e.Uint32(b[52:]),
		Wide:  e.Uint64(b[56:]),
	}
	if h.Len > MaxData {
		*h = Header{}
		return ErrRecord
	}
	return nil
}

// ParseRecord splits a record into header and data, which shares memory with b.
// Errors: ErrRecord, also when b is longer than the header says.
func ParseRecord(b []byte) (h Header, data []byte, err error) {
	if err = h.parse(b); err != nil {
		return Header{}, nil, err
	}
	if len(b)-HeaderLen != int(h.Len) {
		return Header{}, nil, ErrRecord
	}
	return h, b[HeaderLen:], nil
}

// Append appends the record of h and data to b. It sets h.Len. Errors: ErrTooLong.
func (h *Header) Append(b, data []byte) ([]byte, error) {
	if len(data) > MaxData {
		return b, ErrTooLong
	}
	h.Len = uint32(len(data))
	var fixed [HeaderLen]byte
	h.Put(fixed[:])
	return append(append(b, fixed[:]...), data...), nil
}

// Reply is the header of the answer to h, with what the request's success, or failure,
// is as an errno.
func (h *Header) Reply(errno syscall.Errno) Header {
	return Header{Op: h.Op, Flags: FlagReply, Errno: errno, ID: h.ID}
}

// IsReply reports whether the record is an answer.
func (h *Header) IsReply() bool { return h.Flags&FlagReply != 0 }

// String returns the header in a line.
func (h *Header) String() string {
	s := h.Op.String()
	if h.IsReply() {
		s += " reply"
	}
	if f := h.Flags &^ FlagReply; f != 0 {
		s += fmt.Sprintf(" flags %#x", uint16(f))
	}
	if h.Errno != 0 {
		s += fmt.Sprintf(" errno %d", uint32(h.Errno))
	}
	s += fmt.Sprintf(" id %d len %d", h.ID, h.Len)
	for _, a := range []Sockaddr{h.Addr, h.Addr2} {
		if !a.IsZero() {
			s += " " + a.String()
		}
	}
	return s + fmt.Sprintf(" args %d %d %d", h.Arg0, h.Arg1, h.Wide)
}
