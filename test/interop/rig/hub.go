// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"io"
	"sync"
	"sync/atomic"
)

// A Port is one socket of a Hub, such as a *Wire. Close ends a ReadFrame that
// waits. ReadFrame is called by one goroutine, WriteFrame by several.
type Port interface {
	ReadFrame(b []byte) (int, error)
	WriteFrame(b []byte) error
	io.Closer
}

// A Hub carries each frame that enters one of its ports to all others.
type Hub struct {
	ports  []Port
	filter atomic.Pointer[func(from int, frame []byte) bool]
	frames atomic.Uint64
	wg     sync.WaitGroup
}

// NewHub starts carrying frames. Close ends that.
func NewHub(ports ...Port) *Hub {
	h := &Hub{ports: ports}
	for i := range ports {
		h.wg.Go(func() { h.carry(i) })
	}
	return h
}

// Filter sets which frames pass, given the port's index and the frame, which
// it may read, and change in place, until it returns. It is called by one goroutine for each port.
// Nil lets all pass.
func (h *Hub) Filter(pass func(from int, frame []byte) bool) {
	if pass == nil {
		h.filter.Store(nil)
		return
	}
	h.filter.Store(&pass)
}

// Frames counts the frames that passed.
func (h *Hub) Frames() uint64 { return h.frames.Load() }

// Close closes all ports and waits until no frame is under way.
func (h *Hub) Close() error {
	for _, p := range h.ports {
		p.Close()
	}
	h.wg.Wait()
	return nil
}

func (h *Hub) carry(from int) {
	b := make([]byte, 1<<16)
	for {
		n, err := h.ports[from].ReadFrame(b)
		if err != nil {
			return
		}
		if pass := h.filter.Load(); pass != nil && !(*pass)(from, b[:n]) {
			continue
		}
		h.frames.Add(1)
		for i, p := range h.ports {
			if i != from {
				p.WriteFrame(b[:n]) // a port that is gone is no matter for the others
			}
		}
	}
}
