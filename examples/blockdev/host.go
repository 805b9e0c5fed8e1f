// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/utipc/utipc/stack"
)

// What the services are called.
var (
	diskName = stack.Service{Type: 18930, Instance: 1} // the node that has the disk
	hostType = uint32(18931)                           // instance i is host i, which takes a disk that is moved to it
)

// maxPiece is the bytes of one read or write between the server and a disk.
const maxPiece = 64 << 10

// A request to the disk: write, where, how much, and what is to be written. The answer is what was
// read, or one byte.
type request struct {
	Write bool
	At    int64
	Len   uint32
}

// A host is a node that can have the disk, in its memory. A disk is at one host at a time:
//
//	old ── name withdrawn, connections ended after the request under way ── disk ──► new
//	old ◄──────────────────────────────── it is all here ─────────────────────────── new
//	old ── it is yours: from here on the old host never serves it again ───────────► new
//	old ◄──────────────────────────────── the name is bound ──────────────────────── new
//
// Were the third message missing, both would serve the disk when the second is lost. Requests without an answer are asked again by the server, of whoever has the name then.
type host struct {
	node *stack.Node
	ln   *stack.Listener // for disks that are moved here

	mu     sync.Mutex // guards what follows
	disk   []byte     // nil: it is elsewhere
	served *stack.Listener
	conns  map[net.Conn]bool
	tasks  sync.WaitGroup
}

// newHost is host number i; disk is what it has from the beginning, or nil.
func newHost(ctx context.Context, node *stack.Node, i uint32, disk []byte) (*host, error) {
	ln, err := node.Listen(ctx, "tipc", stack.Service{Type: hostType, Instance: i})
	if err != nil {
		return nil, err
	}
	h := &host{node: node, ln: ln, conns: map[net.Conn]bool{}}
	if disk != nil {
		if err := h.serve(ctx, disk); err != nil {
			return nil, errors.Join(err, ln.Close())
		}
	}
	h.tasks.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			h.inherit(ctx, c) // one that comes halfway is forgotten: the old host has it still
			c.Close()
		}
	})
	return h, nil
}

// serve has the disk from now on.
func (h *host) serve(ctx context.Context, disk []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	ln, err := h.node.Listen(ctx, "tipc", diskName)
	if err != nil {
		return err
	}
	h.disk, h.served = disk, ln
	h.tasks.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			h.mu.Lock()
			if h.served != ln {
				c.Close()
			} else {
				h.conns[c] = true
				h.tasks.Go(func() { h.answer(c) })
			}
			h.mu.Unlock()
		}
	})
	return nil
}

// answer carries out the requests of a connection.
func (h *host) answer(c net.Conn) {
	defer func() {
		h.mu.Lock()
		delete(h.conns, c)
		h.mu.Unlock()
		c.Close()
	}()
	if binary.Write(c, binary.BigEndian, int64(len(h.contents()))) != nil {
		return
	}
	buf := make([]byte, maxPiece)
	for {
		var r request
		if binary.Read(c, binary.BigEndian, &r) != nil || r.Len > maxPiece {
			return
		}
		if r.Write {
			if _, err := io.ReadFull(c, buf[:r.Len]); err != nil {
				return
			}
		}
		h.mu.Lock()
		if !h.conns[c] || r.At < 0 || r.At > int64(len(h.disk))-int64(r.Len) {
			h.mu.Unlock()
			return
		}
		at, answer := h.disk[r.At:r.At+int64(r.Len)], buf[:1]
		if r.Write {
			copy(at, buf)
		} else {
			answer = buf[:copy(buf, at)]
		}
		h.mu.Unlock()
		if _, err := c.Write(answer); err != nil {
			return
		}
	}
}

func (h *host) contents() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.disk
}

// release ends that the disk is served here and returns it. What was answered is in it, and nothing
// that comes later.
func (h *host) release() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	disk := h.disk
	if disk != nil {
		h.served.Close()
		for c := range h.conns {
			c.Close()
		}
		h.disk, h.served = nil, nil
		clear(h.conns)
	}
	return disk
}

// errElsewhere is that the disk is not at this host.
var errElsewhere = errors.New("blockdev: the disk is not here")

// errUncertain is that the disk is at the new host, if anywhere.
var errUncertain = errors.New("blockdev: the new host has the disk, but did not say that it serves it")

// move waits for another host and hands the disk over to it. After an error other than errUncertain the disk is here,
// or errElsewhere.
func (h *host) move(ctx context.Context, to uint32) error {
	name := stack.Service{Type: hostType, Instance: to}
	if err := h.node.WaitFor(ctx, name); err != nil {
		return err
	}
	c, err := h.node.Dial(ctx, "tipc", name)
	if err != nil {
		return err
	}
	defer c.Close()
	disk := h.release()
	if disk == nil {
		return errElsewhere
	}
	err = binary.Write(c, binary.BigEndian, int64(len(disk)))
	if err == nil {
		_, err = c.Write(disk)
	}
	said := make([]byte, 1)
	if err == nil {
		_, err = io.ReadFull(c, said)
	}
	if err != nil {
		return errors.Join(err, h.serve(ctx, disk))
	}
	if _, err = c.Write(said); err == nil {
		_, err = io.ReadFull(c, said)
	}
	if err != nil {
		return errors.Join(errUncertain, err)
	}
	return nil
}

// inherit takes a disk.
func (h *host) inherit(ctx context.Context, c io.ReadWriter) error {
	var size int64
	if err := binary.Read(c, binary.BigEndian, &size); err != nil {
		return err
	}
	disk := make([]byte, size)
	if _, err := io.ReadFull(c, disk); err != nil {
		return err
	}
	said := []byte{1}
	if _, err := c.Write(said); err != nil {
		return err
	}
	if _, err := io.ReadFull(c, said); err != nil {
		return err
	}
	if err := h.serve(ctx, disk); err != nil {
		return err
	}
	_, err := c.Write(said)
	return err
}

// close ends the host, and with it a disk that is here.
func (h *host) close() {
	h.release()
	h.ln.Close()
	h.tasks.Wait()
}
