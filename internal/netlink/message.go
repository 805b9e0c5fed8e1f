// SPDX-License-Identifier: Apache-2.0

package netlink

import (
	"bytes"
	"encoding/binary"
	"syscall"
)

// Layout of messages and attributes, which other systems than Linux have no names for.
// Source: linux/netlink.h.
const (
	HeaderLen          = 16 // bytes of a message's header
	AttributeHeaderLen = 4  // and of an attribute's

	flagRequest = 1
	typeError   = 2
	flagsOfType = 0xc000 // nested, and byte order
)

// Align rounds a length up to where the next message or attribute begins.
func Align(n int) int { return (n + 3) &^ 3 }

// AppendRequest appends a message to the kernel: its header, with NLM_F_REQUEST among the
// flags, and the body.
func AppendRequest(b []byte, typ, flags uint16, body []byte) []byte {
	b = binary.NativeEndian.AppendUint32(b, uint32(HeaderLen+len(body)))
	b = binary.NativeEndian.AppendUint16(b, typ)
	b = binary.NativeEndian.AppendUint16(b, flagRequest|flags)
	b = append(b, make([]byte, 8)...) // sequence, port
	return append(b, body...)
}

// AppendAttribute appends an attribute with its padding.
func AppendAttribute(b []byte, typ uint16, value []byte) []byte {
	b = binary.NativeEndian.AppendUint16(b, uint16(AttributeHeaderLen+len(value)))
	b = binary.NativeEndian.AppendUint16(b, typ)
	b = append(b, value...)
	return append(b, make([]byte, Align(len(value))-len(value))...)
}

// Attribute returns the value of the first attribute of that type in attrs, or nil. The
// flags in an attribute's type, nested and byte order, do not count.
func Attribute(attrs []byte, typ uint16) []byte {
	for b := attrs; len(b) >= AttributeHeaderLen; {
		n := int(binary.NativeEndian.Uint16(b))
		if n < AttributeHeaderLen || n > len(b) {
			return nil
		}
		if binary.NativeEndian.Uint16(b[2:])&^flagsOfType == typ {
			return b[AttributeHeaderLen:n]
		}
		b = b[min(len(b), Align(n)):]
	}
	return nil
}

// Number returns the 32-bit value of an attribute, 0 without one.
func Number(attrs []byte, typ uint16) uint32 {
	if v := Attribute(attrs, typ); len(v) >= 4 {
		return binary.NativeEndian.Uint32(v)
	}
	return 0
}

// Text returns the value of an attribute up to its first zero byte, "" without one.
func Text(attrs []byte, typ uint16) string {
	v := Attribute(attrs, typ)
	if i := bytes.IndexByte(v, 0); i >= 0 {
		v = v[:i]
	}
	return string(v)
}

// A Message is one message from the kernel.
type Message struct {
	Type uint16
	Body []byte // what follows the header, as far as it was received
	Cut  bool   // the header announces more than was received
}

// Next returns the first message in b and what follows it. ok is false when b does not begin
// with a header.
func Next(b []byte) (m Message, rest []byte, ok bool) {
	if len(b) < HeaderLen {
		return Message{}, nil, false
	}
	n := int(binary.NativeEndian.Uint32(b))
	if n < HeaderLen {
		return Message{}, nil, false
	}
	m = Message{Type: binary.NativeEndian.Uint16(b[4:]), Body: b[HeaderLen:min(n, len(b))], Cut: n > len(b)}
	return m, b[min(len(b), Align(n)):], true
}

// Errno returns the error in a message of type NLMSG_ERROR, 0 for an acknowledgement. ok is
// false when the message is of another type, or too short.
func (m Message) Errno() (errno syscall.Errno, ok bool) {
	if m.Type != typeError || len(m.Body) < 4 {
		return 0, false
	}
	return syscall.Errno(-int32(binary.NativeEndian.Uint32(m.Body))), true
}
