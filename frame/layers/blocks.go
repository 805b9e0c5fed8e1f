// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Block types of pcapng.
const (
	blockSection    = 0x0a0d0d0a // the same in both byte orders
	blockInterface  = 1
	blockPacket     = 2 // obsolete
	blockSimple     = 3
	blockStatistics = 5
	blockEnhanced   = 6

	maxBlock = maxCaptured + 64<<10
	// The most of a frame's options that is kept, in bytes.
	maxOptions = 4 << 10
)

// Options of an interface's block whose values are numbers.
const (
	optResolution = 9 // of times: 10 to its negative power, or 2 where the highest bit is set
	optFilter     = 11
	optOffset     = 14 // of times, in seconds
	// Of an interface's statistics: times and numbers, up to optDropped.
	optStartTime = 2
	optDropped   = 5
)

// Options of a frame's block.
const (
	optEnd     = 0
	optComment = 1
	optFlags   = 2 // bits 0 and 1 are the Direction
)

// A blockReader hands on a pcapng file whose blocks and frames have the lengths
// they claim. pcapgo believes every length, allocates by it, and takes the middle
// of a block for the end of the file.
type blockReader struct {
	r     *bufio.Reader
	order binary.ByteOrder
	left  int // bytes of this block still to come
	// Frames handed on; the Reader takes off those it got. What is left at the end
	// is what pcapgo skipped, misled by a wrong length among a block's options.
	frames int
	snap   uint32 // frames of the first interface are cut here; 0: nowhere
	first  bool   // no interface seen in this section yet
	err    error
	// Options of the block, which pcapgo leaves out: they begin after skip more bytes,
	// and room more bytes of them come.
	options    []byte
	skip, room int
}

// Read hands on bytes of one block.
func (b *blockReader) Read(p []byte) (int, error) {
	if b.err == nil && b.left == 0 {
		b.err = b.nextBlock()
	}
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	b.keep(p[:n])
	if err == io.EOF {
		err = ErrCut
	}
	b.err = err
	return n, err
}

// verdict is what err of pcapgo means: the file's own end, or a fault in it.
func (b *blockReader) verdict(err error) error {
	switch {
	case b.err != nil && b.err != io.EOF:
		return b.err
	case b.err == io.EOF && err == io.EOF && b.frames == 0:
		return io.EOF
	}
	return ErrDamaged
}

// nextBlock looks at the head of the next block, which it leaves in place.
func (b *blockReader) nextBlock() error {
	head, err := b.r.Peek(12)
	switch {
	case err == io.EOF && len(head) == 0:
		return io.EOF
	case err == io.EOF:
		return ErrCut
	case err != nil:
		return err
	}
	typ := binary.BigEndian.Uint32(head)
	if typ == blockSection {
		b.first = true
		switch {
		case binary.BigEndian.Uint32(head[8:]) == 0x1a2b3c4d:
			b.order = binary.BigEndian
		case binary.LittleEndian.Uint32(head[8:]) == 0x1a2b3c4d:
			b.order = binary.LittleEndian
		default:
			return ErrDamaged
		}
	}
	if b.order == nil {
		return ErrDamaged
	}
	if typ != blockSection {
		typ = b.order.Uint32(head)
	}
	n := b.order.Uint32(head[4:])
	if n < 12 || n%4 != 0 || n > maxBlock {
		return ErrDamaged
	}
	if err := b.checkFrame(typ, n); err != nil {
		return err
	}
	switch typ {
	case blockInterface:
		err = b.checkOptions(int(n), 16, checkInterface)
	case blockStatistics:
		err = b.checkOptions(int(n), 20, checkStatistics)
	}
	if err != nil {
		return err
	}
	if typ == blockPacket || typ == blockSimple || typ == blockEnhanced {
		b.frames++
	}
	b.left = int(n)
	return nil
}

// checkOptions checks the options of a block of n bytes, which begin at from: pcapgo divides by
// what it makes of a resolution, and takes the numbers' lengths for granted.
func (b *blockReader) checkOptions(n, from int, check func(code uint16, value []byte) string) error {
	block, err := b.r.Peek(n)
	switch {
	case err == io.EOF:
		return ErrCut
	case err != nil:
		return err
	}
	for o := block[min(from, n-4) : n-4]; len(o) >= 4; {
		code, size := b.order.Uint16(o), int(b.order.Uint16(o[2:]))
		o = o[4:]
		if code == optEnd {
			break
		}
		if size > len(o) {
			return fmt.Errorf("%w: option %d is longer than its block", ErrDamaged, code)
		}
		if wrong := check(code, o[:size]); wrong != "" {
			return fmt.Errorf("%w: %s", ErrDamaged, wrong)
		}
		o = o[min(len(o), (size+3)&^3):]
	}
	return nil
}

// checkInterface says what is wrong with an option of an interface.
func checkInterface(code uint16, value []byte) string {
	switch n := len(value); {
	case code == optResolution && n != 1:
		return fmt.Sprintf("if_tsresol of an interface has %d bytes, want 1", n)
	case code == optResolution && (value[0]&0x80 == 0 && value[0] > 19 || value[0] > 0x80+63):
		return fmt.Sprintf("if_tsresol of an interface is %#02x, finer than 64 bits count; want 10 to the power of -19, or 2 to that of -63, at most", value[0])
	case code == optFilter && n == 0:
		return "if_filter of an interface is empty, want at least 1 byte"
	case code == optOffset && n != 8:
		return fmt.Sprintf("if_tsoffset of an interface has %d bytes, want 8", n)
	}
	return ""
}

// checkStatistics says what is wrong with an option of an interface's statistics.
func checkStatistics(code uint16, value []byte) string {
	if code >= optStartTime && code <= optDropped && len(value) != 8 {
		return fmt.Sprintf("option %d of an interface's statistics has %d bytes, want 8", code, len(value))
	}
	return ""
}

// keep takes from the bytes handed on those of the options.
func (b *blockReader) keep(p []byte) {
	k := min(b.skip, len(p))
	b.skip -= k
	p = p[k:]
	p = p[:min(b.room, len(p))]
	b.room -= len(p)
	b.options = append(b.options, p[:min(len(p), maxOptions-len(b.options))]...)
}

// told is what the options of the last frame say. Damaged ones say nothing more.
func (b *blockReader) told() (comment string, d Direction) {
	for o := b.options; len(o) >= 4; {
		code, n := b.order.Uint16(o), int(b.order.Uint16(o[2:]))
		o = o[4:]
		if code == optEnd || n > len(o) {
			break
		}
		switch {
		case code == optComment && comment == "":
			comment = string(o[:n])
		case code == optComment:
			comment += "; " + string(o[:n])
		case code == optFlags && n == 4:
			d = Direction(b.order.Uint32(o) & 3)
		}
		o = o[min(len(o), (n+3)&^3):]
	}
	if d > Outbound {
		d = UnknownDirection
	}
	return comment, d
}

// checkFrame checks the length of the frame in a block of n bytes.
func (b *blockReader) checkFrame(typ, n uint32) error {
	b.options, b.skip, b.room = b.options[:0], 0, 0
	fixed := map[uint32]uint32{blockSection: 28, blockInterface: 20, blockStatistics: 24, blockPacket: 32, blockSimple: 16, blockEnhanced: 32}[typ]
	if n < fixed {
		return ErrDamaged
	}
	if fixed == 0 {
		return nil
	}
	h, err := b.r.Peek(int(fixed) - 4)
	switch {
	case err == io.EOF:
		return ErrCut
	case errors.Is(err, bufio.ErrBufferFull):
		return ErrDamaged
	case err != nil:
		return err
	}
	var captured uint32
	switch typ {
	case blockInterface:
		if b.first {
			b.first, b.snap = false, b.order.Uint32(h[12:])
		}
	case blockPacket, blockEnhanced:
		captured = b.order.Uint32(h[20:])
	case blockSimple:
		captured = b.order.Uint32(h[8:])
		if b.snap != 0 {
			captured = min(captured, b.snap)
		}
	}
	if captured > n-fixed || captured > maxCaptured {
		return ErrDamaged
	}
	if typ == blockEnhanced {
		b.skip = min(int(fixed)-4+int(captured+3)&^3, int(n)-4)
		b.room = int(n) - 4 - b.skip
	}
	return nil
}
