// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
)

var (
	// ErrEmpty means a file without a single byte.
	ErrEmpty = errors.New("layers: empty file")
	// ErrFormat means the file is neither pcap nor pcapng.
	ErrFormat = errors.New("layers: neither pcap nor pcapng")
	// ErrCut means the file ends in the middle of a record.
	ErrCut = errors.New("layers: file cut short")
	// ErrDamaged means a record that cannot be, from which there is no way on.
	ErrDamaged = errors.New("layers: damaged file")
)

// maxCaptured is the largest frame a record may hold, in bytes; what tcpdump
// accepts.
const maxCaptured = 256 << 10

// A Frame is one captured frame.
type Frame struct {
	Time     time.Time
	Data     []byte // what was captured of it
	Len      int    // its length on the wire, in bytes; at least len(Data)
	LinkType int    // as in the file: 1 is Ethernet
	// What pcapng may say of a frame: comments, such as why a node dropped it, joined
	// by "; " and at most 4 KiB; and which way it went.
	Comment   string
	Direction Direction
}

// A Direction is which way a frame went, seen from the interface it was captured on.
type Direction uint8

const (
	UnknownDirection Direction = iota // unknown
	Inbound                           // in
	Outbound                          // out
)

// String returns "unknown", "in" or "out".
func (d Direction) String() string {
	switch d {
	case Inbound:
		return "in"
	case Outbound:
		return "out"
	}
	return "unknown"
}

// IsEthernet reports whether Data begins with an Ethernet header.
func (f Frame) IsEthernet() bool { return f.LinkType == int(layers.LinkTypeEthernet) }

// Cut reports whether the capture holds less than the whole frame.
func (f Frame) Cut() bool { return len(f.Data) < f.Len }

// A Reader reads a capture from beginning to end. It is not safe for concurrent
// use.
type Reader struct {
	next func() ([]byte, gopacket.CaptureInfo, error)
	link func(gopacket.CaptureInfo) layers.LinkType
	ng   *blockReader // nil: the format has no options
	err  error        // final
}

// NewReader reads the head of a capture from r, in either format and byte order,
// pcap also when compressed by gzip. Errors: ErrEmpty, ErrFormat, ErrCut,
// ErrDamaged, those of r.
func NewReader(r io.Reader) (*Reader, error) {
	br := bufio.NewReader(r)
	magic, err := br.Peek(4)
	switch {
	case err == io.EOF && len(magic) == 0:
		return nil, ErrEmpty
	case err == io.EOF:
		return nil, ErrFormat
	case err != nil:
		return nil, err
	}
	if binary.BigEndian.Uint32(magic) == blockSection {
		return newNg(br)
	}
	return newClassic(br, magic)
}

func newClassic(br *bufio.Reader, magic []byte) (*Reader, error) {
	switch m := binary.LittleEndian.Uint32(magic); {
	case m == 0xa1b2c3d4, m == 0xa1b23c4d, m == 0xd4c3b2a1, m == 0x4d3cb2a1, m&0xffff == 0x8b1f:
	default:
		return nil, ErrFormat
	}
	p, err := pcapgo.NewReader(br)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return nil, ErrCut
	case err != nil:
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	// The head's own limit is often wrong; writers exceed it.
	p.SetSnaplen(maxCaptured)
	next := func() ([]byte, gopacket.CaptureInfo, error) {
		data, ci, err := p.ReadPacketData()
		// A record without any of its bytes looks like the end of the file.
		if err == io.ErrUnexpectedEOF || err == io.EOF && ci.Length > 0 {
			err = ErrCut
		}
		return data, ci, err
	}
	return &Reader{next: next, link: func(gopacket.CaptureInfo) layers.LinkType { return p.LinkType() }}, nil
}

func newNg(br *bufio.Reader) (_ *Reader, err error) {
	defer func() { err = noPanic(recover(), err) }()
	blocks := &blockReader{r: bufio.NewReaderSize(br, maxBlock)}
	p, err := pcapgo.NewNgReader(blocks, pcapgo.NgReaderOptions{WantMixedLinkType: true})
	if err != nil {
		return nil, blocks.verdict(err)
	}
	next := func() ([]byte, gopacket.CaptureInfo, error) {
		data, ci, err := p.ReadPacketData()
		if err != nil {
			return nil, ci, blocks.verdict(err)
		}
		blocks.frames--
		return data, ci, nil
	}
	link := func(ci gopacket.CaptureInfo) layers.LinkType {
		t, _ := ci.AncillaryData[0].(layers.LinkType)
		return t
	}
	return &Reader{next: next, link: link, ng: blocks}, nil
}

// Next returns the next frame, whose Data is the caller's to keep. After the
// first error it returns that error for good. Errors: io.EOF at the end, ErrCut,
// ErrDamaged, those of the underlying reader.
func (r *Reader) Next() (f Frame, err error) {
	if r.err != nil {
		return Frame{}, r.err
	}
	defer func() {
		// pcapgo panics at some options a damaged pcapng may hold.
		if err = noPanic(recover(), err); err != nil {
			f, r.err = Frame{}, err
		}
	}()
	data, ci, err := r.next()
	switch {
	case err == io.EOF || errors.Is(err, ErrCut) || errors.Is(err, ErrDamaged):
		return Frame{}, err
	case err != nil:
		if _, ours := err.(*os.PathError); ours {
			return Frame{}, err
		}
		return Frame{}, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	f = Frame{Time: ci.Timestamp, Data: data, Len: max(ci.Length, len(data)), LinkType: int(r.link(ci))}
	if r.ng != nil {
		f.Comment, f.Direction = r.ng.told()
	}
	return f, nil
}

func noPanic(p any, err error) error {
	if p != nil {
		return fmt.Errorf("%w: %v", ErrDamaged, p)
	}
	return err
}

// ReadFile returns all frames of a capture; with an error, those before it.
// Errors: as NewReader and Next, but for io.EOF, and those of opening the file.
func ReadFile(name string) ([]Frame, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r, err := NewReader(file)
	if err != nil {
		return nil, err
	}
	var all []Frame
	for {
		f, err := r.Next()
		switch {
		case err == io.EOF:
			return all, nil
		case err != nil:
			return all, err
		}
		all = append(all, f)
	}
}
