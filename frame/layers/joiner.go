// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
)

// ErrOverlap means a fragment that contradicts the others of its datagram: other data at the
// same place, or another end. Receivers differ in what they make of these; a Joiner makes
// nothing of the datagram. Source: RFC 5722 §4.
var ErrOverlap = errors.New("layers: fragments of an IP datagram contradict each other")

// Limits of a Joiner: what it remembers at once, finished datagrams included, and how long,
// which is what a receiver waits (RFC 8200 §4.5).
const (
	maxJoining      = 1024
	maxJoiningBytes = 16 << 20
	joiningTime     = 60 * time.Second
)

// A Joiner puts UDP datagrams together from their IPv4 or IPv6 fragments, in whatever order
// these come, between others and repeatedly. The zero value is ready. What it remembers is
// bounded: 1024 datagrams and 16 MiB, the oldest are forgotten first, and each after 60 s.
// It is not safe for concurrent use.
type Joiner struct {
	// Incomplete, unless nil, is called once for each datagram that is forgotten before it
	// was whole, but for those whose first fragment shows that they have nothing to do with
	// TIPC's port, and those that ErrOverlap was returned for.
	Incomplete func(Incomplete)

	table map[DatagramID]*joining
	order []*joining // as they began
	held  int        // bytes
}

// Incomplete is a datagram that was not whole when it was forgotten.
type Incomplete struct {
	DatagramID
	Got    int   // bytes that came
	Of     int   // bytes of the whole; 0: its end did not come
	Frames []int // that its fragments came in
}

// A Piece is what a Joiner found out about a fragment.
type Piece struct {
	DatagramID
	At, Len int  // its place in the datagram, in bytes, and its length
	Again   bool // nothing in it was new
	// Foreign means that the datagram has nothing to do with TIPC's port. It is known from
	// its first fragment on.
	Foreign bool

	// Whole is the Ethernet frame of the datagram, when this fragment was the last one missing;
	// Frames are those that the fragments came in, and Bytes the sum of these frames' lengths.
	Whole  []byte
	Frames []int
	Bytes  int
}

// A joining is a datagram of which fragments have come.
type joining struct {
	key    DatagramID
	begun  time.Time
	header []byte // of its first fragment, when that has come
	ip     int    // where in header the IP header begins
	data   []byte
	have   []uint64 // a bit for each block of 8 bytes
	blocks int      // of them
	size   int      // 0: not known
	frames []int
	bytes  int // of frames
	done   bool
	broken bool // contradicted
}

// memory is what the datagram costs, in bytes.
func (d *joining) memory() int {
	return cap(d.header) + cap(d.data) + 8*cap(d.have) + 8*cap(d.frames)
}

// foreign reports whether its ports are known and TIPC's is none of them.
func (d *joining) foreign() bool { return d.has(0) && foreign(d.data) }

func foreign(udp []byte) bool {
	return len(udp) >= 4 && binary.BigEndian.Uint16(udp) != UDPPort && binary.BigEndian.Uint16(udp[2:]) != UDPPort
}

// Add takes frame n, for whose Data Unwrap returned ErrFragment. Errors: those of Unwrap for
// any other; ErrOverlap; frame.ErrTruncated for a header that is not all there, and
// frame.ErrMalformed for a fragment or a datagram that cannot be.
func (j *Joiner) Add(n int, f Frame) (Piece, error) {
	x, err := parseFragment(f.Data)
	if err != nil {
		return Piece{}, err
	}
	p := Piece{DatagramID: x.key, At: x.at, Len: x.size}
	if x.at == 0 && !x.more { // RFC 6946: alone, whatever else is on its way
		if len(x.data) < x.size {
			return p, frame.ErrTruncated
		}
		p.Whole, p.Frames, p.Bytes = whole(x.header, x.ip, x.data), []int{n}, f.Len
		p.Foreign = foreign(x.data)
		return p, nil
	}
	d := j.find(x, f.Time)
	before := d.memory()
	fresh, err := d.add(x)
	p.Again = err == nil && !fresh && len(x.data) == x.size
	if fresh || len(d.frames) == 0 {
		d.frames = append(d.frames, n)
		d.bytes += f.Len
	}
	p.Foreign = d.foreign()
	if !d.done && !d.broken && d.header != nil && d.size > 0 && d.blocks == blocks(d.size) {
		if d.header[d.ip]>>4 == 4 && len(d.header)-d.ip+d.size > maxDatagram {
			err = frame.ErrMalformed
			d.refuse()
		} else {
			d.done = true
			p.Whole, p.Frames, p.Bytes = whole(d.header, d.ip, d.data), d.frames, d.bytes
		}
	}
	j.held += d.memory() - before
	j.bound()
	return p, err
}

// Flush forgets all, at the end of a capture.
func (j *Joiner) Flush() {
	for len(j.order) > 0 {
		j.forget()
	}
}

// find returns the datagram of a fragment that came at a time, a new one if need be.
func (j *Joiner) find(x fragment, at time.Time) *joining {
	for len(j.order) > 0 && at.Sub(j.order[0].begun).Abs() > joiningTime { // a clock may be set back
		j.forget()
	}
	d := j.table[x.key]
	if d != nil && d.done && d.contradicts(x) { // its number was used again
		i := slices.Index(j.order, d)
		j.order = slices.Delete(j.order, i, i+1)
		j.drop(d)
		d = nil
	}
	if d == nil {
		if j.table == nil {
			j.table = map[DatagramID]*joining{}
		}
		d = &joining{key: x.key, begun: at, have: make([]uint64, 1)}
		j.table[x.key] = d
		j.order = append(j.order, d)
		j.held += d.memory()
	}
	return d
}

// bound keeps to the limits. The newest datagram stays, whatever it takes.
func (j *Joiner) bound() {
	for len(j.order) > maxJoining || j.held > maxJoiningBytes && len(j.order) > 1 {
		j.forget()
	}
}

// forget drops the oldest datagram.
func (j *Joiner) forget() {
	d := j.order[0]
	j.order[0] = nil
	j.order = j.order[1:]
	j.drop(d)
	if j.Incomplete != nil && !d.done && !d.broken && !d.foreign() {
		j.Incomplete(Incomplete{DatagramID: d.key, Got: d.got(), Of: d.size, Frames: d.frames})
	}
}

func (j *Joiner) drop(d *joining) {
	delete(j.table, d.key)
	j.held -= d.memory()
}

func (d *joining) got() int {
	got := 8 * d.blocks
	if d.size%8 != 0 && d.has(d.size/8) {
		got -= 8 - d.size%8
	}
	return got
}

func blocks(size int) int { return (size + 7) / 8 }

func (d *joining) has(block int) bool {
	return block/64 < len(d.have) && d.have[block/64]&(1<<(block%64)) != 0
}

// contradicts reports whether a fragment cannot be of the same datagram as the others.
func (d *joining) contradicts(x fragment) bool {
	end := x.at + x.size
	if !x.more && (d.size != 0 && end != d.size || end < len(d.data)) || x.more && d.size != 0 && end >= d.size {
		return true
	}
	for at := x.at; at < x.at+len(x.data); at += 8 {
		if b := x.data[at-x.at : min(at-x.at+8, len(x.data))]; d.has(at/8) && !bytes.Equal(b, d.data[at:at+len(b)]) {
			return true
		}
	}
	return false
}

// refuse keeps of the datagram that it is none.
func (d *joining) refuse() {
	d.broken, d.header, d.data, d.have, d.blocks = true, nil, nil, make([]uint64, 1), 0
}

// add takes a fragment's data. It reports whether there was something new in it.
func (d *joining) add(x fragment) (fresh bool, err error) {
	if d.broken || d.contradicts(x) {
		d.refuse()
		return false, ErrOverlap
	}
	if len(x.data) < x.size {
		x.data = x.data[:len(x.data)&^7] // the rest was not captured
	} else if !x.more {
		d.size = x.at + x.size
	}
	if end := x.at + len(x.data); end > len(d.data) {
		d.data = slices.Grow(d.data, end-len(d.data))[:end]
		if words := blocks(end)/64 + 1; words > len(d.have) {
			d.have = append(d.have, make([]uint64, words-len(d.have))...)
		}
	}
	copy(d.data[x.at:], x.data)
	before := d.blocks
	for at := x.at; at < x.at+len(x.data); at += 8 {
		if b := at / 8; !d.has(b) {
			d.have[b/64] |= 1 << (b % 64)
			d.blocks++
		}
	}
	if x.at == 0 && d.header == nil {
		d.header, d.ip = bytes.Clone(x.header), x.ip
	}
	return d.blocks > before, nil
}
