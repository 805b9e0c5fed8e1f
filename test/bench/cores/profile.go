// SPDX-License-Identifier: Apache-2.0

package cores

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"strings"
)

// Samples are how many samples of a CPU profile are of what.
type samples struct {
	all    int
	sender int // of the node that sends, and of the goroutines that do
	held   int // of these, with the node's lock held
	peers  int // of the other nodes, and of their readers
}

func (s *samples) add(o samples) {
	s.all += o.all
	s.sender += o.sender
	s.held += o.held
	s.peers += o.peers
}

// The label of goroutines.
const (
	labelKey    = "node"
	labelSender = "sender"
	labelPeer   = "peer"
)

const local = "github.com/utipc/utipc/stack/internal/local.(*Node)."

// holders are functions that are called with the node's lock held, of those that are no part of
// the engine: none but these call it while a message is sent.
var holders = map[string]bool{
	local + "send": true, local + "sendTime": true, local + "afterSend": true, local + "runJobs": true,
	local + "tryWrite": true, local + "attempt": true, local + "pollOnce": true, local + "poll": true,
}

// enginePrefix is what the names of the engine's functions begin with: its owner calls it with
// the lock held.
const enginePrefix = "github.com/utipc/utipc/stack/engine."

// held reports whether a stack is of a goroutine that holds the lock of its node.
func held(stack []string) bool {
	for _, f := range stack {
		if holders[f] || strings.HasPrefix(f, enginePrefix) {
			return true
		}
	}
	return false
}

// errProfile is of what is not a profile.
var errProfile = errors.New("cores: not a CPU profile")

// A message is the fields of an encoded protocol buffer that were not read yet.
type message []byte

// next returns the next field: its number, and its value, or its bytes. At the end no is 0.
func (m *message) next() (no int, value uint64, data message, err error) {
	if len(*m) == 0 {
		return 0, 0, nil, nil
	}
	tag, err := m.varint()
	if err != nil {
		return 0, 0, nil, err
	}
	if value, err = m.varint(); err != nil {
		return 0, 0, nil, err
	}
	switch no = int(tag >> 3); {
	case no == 0:
		return 0, 0, nil, errProfile
	case tag&7 == 0:
		return no, value, nil, nil
	case tag&7 == 2 && value <= uint64(len(*m)):
		data, *m = (*m)[:value], (*m)[value:]
		return no, 0, data, nil
	}
	return 0, 0, nil, errProfile // no other kind of field is in a profile
}

func (m *message) varint() (uint64, error) {
	v, n := binary.Uvarint(*m)
	if n <= 0 {
		return 0, errProfile
	}
	*m = (*m)[n:]
	return v, nil
}

// each calls f with all fields.
func (m message) each(f func(no int, value uint64, data message) error) error {
	for {
		no, value, data, err := m.next()
		if err != nil || no == 0 {
			return err
		}
		if err := f(no, value, data); err != nil {
			return err
		}
	}
}

// numbers are those of a field that is repeated, in one piece or not.
func numbers(dst []uint64, value uint64, data message) ([]uint64, error) {
	if data == nil {
		return append(dst, value), nil
	}
	for len(data) > 0 {
		v, err := data.varint()
		if err != nil {
			return nil, err
		}
		dst = append(dst, v)
	}
	return dst, nil
}

// A profile is what is read of one: tables by number, and samples that refer to them.
type profile struct {
	text      []string
	functions map[uint64]uint64   // to the text with the name
	locations map[uint64][]uint64 // to the functions, the innermost first
	samples   []message
}

// Fields of a profile, as github.com/google/pprof/proto/profile.proto numbers them.
const (
	profileSample, profileLocation, profileFunction, profileText = 2, 4, 5, 6

	sampleLocation, sampleValue, sampleLabel = 1, 2, 3
	labelName, labelText                     = 1, 2
	locationID, locationLine, lineFunction   = 1, 4, 1
	functionID, functionName                 = 1, 2
)

// countSamples reads a CPU profile as runtime/pprof writes it.
func countSamples(zipped []byte) (s samples, err error) {
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return s, err
	}
	b, err := io.ReadAll(z)
	if err != nil {
		return s, err
	}
	p := profile{functions: map[uint64]uint64{}, locations: map[uint64][]uint64{}}
	if err := message(b).each(p.field); err != nil {
		return s, err
	}
	for _, m := range p.samples {
		count, label, stack, err := p.sample(m)
		if err != nil {
			return s, err
		}
		s.all += count
		switch label {
		case labelSender:
			s.sender += count
			if held(stack) {
				s.held += count
			}
		case labelPeer:
			s.peers += count
		}
	}
	return s, nil
}

// field reads a field of a profile.
func (p *profile) field(no int, _ uint64, data message) error {
	switch no {
	case profileSample:
		p.samples = append(p.samples, data)
	case profileText:
		p.text = append(p.text, string(data))
	case profileFunction:
		var id, name uint64
		err := data.each(func(no int, value uint64, _ message) error {
			switch no {
			case functionID:
				id = value
			case functionName:
				name = value
			}
			return nil
		})
		p.functions[id] = name
		return err
	case profileLocation:
		var id uint64
		var at []uint64
		err := data.each(func(no int, value uint64, line message) error {
			switch no {
			case locationID:
				id = value
			case locationLine:
				return line.each(func(no int, value uint64, _ message) error {
					if no == lineFunction {
						at = append(at, value)
					}
					return nil
				})
			}
			return nil
		})
		p.locations[id] = at
		return err
	}
	return nil
}

// sample reads a sample: how often it was taken, its label, and the names of its functions.
func (p *profile) sample(m message) (count int, label string, stack []string, err error) {
	var at, values []uint64
	err = m.each(func(no int, value uint64, data message) (err error) {
		switch no {
		case sampleLocation:
			at, err = numbers(at, value, data)
		case sampleValue:
			values, err = numbers(values, value, data)
		case sampleLabel:
			var name, text uint64
			err = data.each(func(no int, value uint64, _ message) error {
				switch no {
				case labelName:
					name = value
				case labelText:
					text = value
				}
				return nil
			})
			if p.string(name) == labelKey {
				label = p.string(text)
			}
		}
		return err
	})
	if err != nil || len(values) == 0 {
		return 0, "", nil, errors.Join(err, errProfile)
	}
	for _, location := range at {
		for _, f := range p.locations[location] {
			stack = append(stack, p.string(p.functions[f]))
		}
	}
	return int(values[0]), label, stack, nil
}

func (p *profile) string(i uint64) string {
	if i < uint64(len(p.text)) {
		return p.text[i]
	}
	return ""
}
