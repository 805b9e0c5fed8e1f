// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"sync"

	"github.com/utipc/utipc/frame"
)

// A sealLog is what somebody on the wire learns of who encrypts. It sees each frame
// once, before any fault.
type sealLog struct {
	mu     sync.Mutex // guards what follows
	by     map[frame.MAC]*sealed
	nonces map[nonce]bool
	twice  int // nonces of ours seen again
}

// A sealed is what one station sent.
type sealed struct {
	plain  int    // frames
	frames [4]int // sealed ones, by the slot of their key; 0 is the master's
	noKey  int    // that say that their sender has no key of the receiver's
}

// A nonce says which frames must differ: those of one key of one station of ours.
// Keys are told apart by their slot alone, so this is more than is needed.
type nonce struct {
	src  frame.MAC
	slot uint8
	seq  uint64
}

func newSealLog() sealLog {
	return sealLog{by: map[frame.MAC]*sealed{}, nonces: map[nonce]bool{}}
}

func (l *sealLog) see(b []byte) {
	h, p, err := frame.ParseEthernet(b)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.by[h.Src()]
	if s == nil {
		s = new(sealed)
		l.by[h.Src()] = s
	}
	e, err := frame.ParseEncrypted(p)
	if err != nil {
		s.plain++
		return
	}
	f := e.Fields()
	s.frames[f.TX]++
	if f.NoKey {
		s.noKey++
	}
	if h.Src() == keyClusterMAC(ourPlace) {
		n := nonce{h.Src(), f.TX, f.Seq}
		if l.nonces[n] {
			l.twice++
		}
		l.nonces[n] = true
	}
}

// of returns what a station has sent since forget.
func (l *sealLog) of(mac frame.MAC) sealed {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.by[mac]; s != nil {
		return *s
	}
	return sealed{}
}

// forget begins to count anew, but for nonces.
func (l *sealLog) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.by)
}

// repeated is how many of our nonces were seen twice, ever.
func (l *sealLog) repeated() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.twice
}
