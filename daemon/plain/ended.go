// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"syscall"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
)

// An ending is how a socket ended that the daemon has no end of any more.
type ending struct {
	errno   syscall.Errno // to be reported once, by SO_ERROR or a read; 0: none
	code    frame.ErrorCode
	taken   bool     // a read has had it
	refused *refusal // of a request that came back, or nil
}

// A refusal is what a request that came back says, beside why.
type refusal struct {
	peer frame.SocketAddr // that it was for
	data []byte           // see returned
}

// returned is how a program is told what came back: the service that it was sent to as a range of
// three big-endian numbers, 0 if none, then the data's beginning.
func returned(name frame.Service, data []byte) (b []byte) {
	for _, v := range [...]uint32{name.Type, name.Instance, name.Instance} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return append(b, data[:min(len(data), frame.MaxReturned)]...)
}

// refused is the ending of a request that came back. Its error is err.
func refused(err error, to net.Addr, data []byte) ending {
	how := ending{code: frame.NoPort}
	var e *stack.ConnError
	if !errors.As(err, &e) {
		return how
	}
	if e.Code != frame.OK {
		how.code = e.Code
	}
	var name frame.Service
	if s, ok := to.(stack.Service); ok {
		name = frame.Service{Type: s.Type, Instance: s.Instance}
	}
	how.refused = &refusal{peer: e.Peer, data: returned(name, data)}
	return how
}

// mostKnown is how many sockets are known that the daemon has no end of: of those that are
// forgotten, a program reads a reset, and default options.
const mostKnown = 16384

// A memory has what is to be known of the last such sockets, by their cookies.
type memory[V any] struct {
	mu   sync.Mutex
	of   map[uint64]V
	ring [mostKnown]uint64 // cookies
	next int
}

func (m *memory[V]) put(cookie uint64, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil {
		m.of = map[uint64]V{}
	}
	if _, known := m.of[cookie]; !known {
		delete(m.of, m.ring[m.next])
		m.ring[m.next] = cookie
		m.next = (m.next + 1) % mostKnown
	}
	m.of[cookie] = v
}

// takeBack undoes a put, of what was known before it.
func (m *memory[V]) takeBack(cookie uint64, before V, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known {
		m.of[cookie] = before
	} else {
		delete(m.of, cookie)
	}
}

func (m *memory[V]) get(cookie uint64) (v V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok = m.of[cookie]
	return v, ok
}
