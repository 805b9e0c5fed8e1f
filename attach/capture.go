// SPDX-License-Identifier: Apache-2.0

package attach

import "encoding/binary"

// A Frame is an item of the stream "capture". Its time is that of the record, and Arg0 is 1
// if it went out.
type Frame struct {
	Length  int // on the wire, in bytes
	Bearer  string
	Comment string
	Data    []byte // its beginning
}

// Append appends the frame to the data of an OpItem: u32 length on the wire, u16 length of the
// bearer's name and of the comment, these two, the frame.
func (f *Frame) Append(b []byte) []byte {
	bearer, comment := f.Bearer[:min(len(f.Bearer), 1<<16-1)], f.Comment[:min(len(f.Comment), 1<<16-1)]
	b = binary.NativeEndian.AppendUint32(b, uint32(f.Length))
	b = binary.NativeEndian.AppendUint16(b, uint16(len(bearer)))
	b = binary.NativeEndian.AppendUint16(b, uint16(len(comment)))
	return append(append(append(b, bearer...), comment...), f.Data...)
}

// ParseFrame reads such data, whose frame shares memory with it. Errors: ErrRecord.
func ParseFrame(b []byte) (f Frame, err error) {
	if len(b) < 8 {
		return f, ErrRecord
	}
	name, comment := int(binary.NativeEndian.Uint16(b[4:])), int(binary.NativeEndian.Uint16(b[6:]))
	if len(b) < 8+name+comment {
		return f, ErrRecord
	}
	f.Length = int(binary.NativeEndian.Uint32(b))
	b = b[8:]
	f.Bearer, f.Comment, f.Data = string(b[:name]), string(b[name:name+comment]), b[name+comment:]
	return f, nil
}
