// SPDX-License-Identifier: Apache-2.0

package tap_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"testing"
	"time"
)

// A packet is one frame read back, as a line: time, direction, length in the
// file and on the wire, the frame's last byte, the comment.
type packet struct {
	time    time.Time
	flags   uint32
	data    []byte
	length  int
	comment string
}

func (p packet) String() string {
	return fmt.Sprintf("%d dir=%d %d/%d %x %q", p.time.UnixNano(), p.flags, len(p.data), p.length, p.data[len(p.data)-1:], p.comment)
}

// A capture is a file read back.
type capture struct {
	ifname  string
	tsresol int
	snap    int
	link    int
	packets []packet
}

// read takes a file apart, by the letter of the format and not by our own code.
func read(t testing.TB, file []byte) (c capture) {
	t.Helper()
	le := binary.LittleEndian
	for n := 0; len(file) > 0; n++ {
		if len(file) < 12 {
			t.Fatalf("block %d: %d bytes left", n, len(file))
		}
		kind, size := le.Uint32(file), int(le.Uint32(file[4:]))
		if size%4 != 0 || size < 12 || size > len(file) || int(le.Uint32(file[size-4:])) != size {
			t.Fatalf("block %d: bad length %d", n, size)
		}
		body := file[8 : size-4]
		file = file[size:]
		switch {
		case n == 0:
			if want := []byte("\x4d\x3c\x2b\x1a\x01\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"); kind != 0x0a0d0d0a || !bytes.Equal(body, want) {
				t.Fatalf("section header: got %x %x, want %x", kind, body, want)
			}
		case n == 1:
			if kind != 1 {
				t.Fatalf("block 1: got kind %d, want 1", kind)
			}
			c.link, c.snap = int(le.Uint16(body)), int(le.Uint32(body[4:]))
			for code, value := range options(t, body[8:]) {
				switch code {
				case 2:
					c.ifname = string(value)
				case 9:
					c.tsresol = int(value[0])
				}
			}
		default:
			if kind != 6 || le.Uint32(body) != 0 {
				t.Fatalf("block %d: got kind %d, interface %d, want 6, 0", n, kind, le.Uint32(body))
			}
			ns := uint64(le.Uint32(body[4:]))<<32 | uint64(le.Uint32(body[8:]))
			size := int(le.Uint32(body[12:]))
			p := packet{time: time.Unix(0, int64(ns)), data: body[20 : 20+size], length: int(le.Uint32(body[16:]))}
			for code, value := range options(t, body[20+(size+3)/4*4:]) {
				switch code {
				case 1:
					p.comment = string(value)
				case 2:
					p.flags = le.Uint32(value)
				}
			}
			c.packets = append(c.packets, p)
		}
	}
	return c
}

// options takes a list of options apart; it must end with the end mark.
func options(t testing.TB, b []byte) map[uint16][]byte {
	t.Helper()
	all := make(map[uint16][]byte)
	for {
		if len(b) < 4 {
			t.Fatal("options without an end")
		}
		code, size := binary.LittleEndian.Uint16(b), int(binary.LittleEndian.Uint16(b[2:]))
		if code == 0 {
			if size != 0 || len(b) != 4 {
				t.Fatalf("end of options: got length %d, %d bytes", size, len(b))
			}
			return all
		}
		all[code] = b[4 : 4+size]
		b = b[4+(size+3)/4*4:]
	}
}

// A pen counts the calls and fails from one of them on.
type pen struct {
	bytes.Buffer
	calls, fails int // fails: 0 is never
}

func (p *pen) Write(b []byte) (int, error) {
	p.calls++
	if p.fails > 0 && p.calls >= p.fails {
		return 0, io.ErrShortWrite
	}
	return p.Buffer.Write(b)
}
