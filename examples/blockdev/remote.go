// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/binary"
	"io"
	"net"

	"github.com/utipc/utipc/stack"
)

// A remote is the disk, wherever it is. It has one request under way. When the connection ends the
// disk has moved, or its host has gone: the request is made again, of whoever has the name. To write
// the same twice does no harm, as nothing else is written in between. It is one goroutine's.
type remote struct {
	ctx   context.Context
	node  *stack.Node
	c     net.Conn // nil: none
	bytes int64
	met   map[stack.NodeAddr]bool // where the disk was
}

// newRemote waits for the disk.
func newRemote(ctx context.Context, node *stack.Node) (*remote, error) {
	r := &remote{ctx: ctx, node: node, met: map[stack.NodeAddr]bool{}}
	return r, r.find()
}

// find connects with the disk; errors are the context's, or of a node that has ended.
func (r *remote) find() error {
	for r.c == nil {
		if err := r.node.WaitFor(r.ctx, diskName); err != nil {
			return err
		}
		c, err := r.node.Dial(r.ctx, "tipc", diskName)
		if err != nil {
			continue // it has just moved
		}
		if binary.Read(c, binary.BigEndian, &r.bytes) != nil {
			c.Close()
			continue
		}
		r.met[c.RemoteAddr().(stack.SocketAddr).Node] = true
		r.c = c
	}
	return nil
}

func (r *remote) size() int64 { return r.bytes }

func (r *remote) access(write bool, b []byte, at int64) error {
	for len(b) > 0 {
		n := min(len(b), maxPiece)
		if err := r.find(); err != nil {
			return err
		}
		if r.once(write, b[:n], at) != nil {
			r.close()
			continue
		}
		b, at = b[n:], at+int64(n)
	}
	return nil
}

// once makes one request and waits for the answer.
func (r *remote) once(write bool, b []byte, at int64) error {
	w, err := binary.Append(nil, binary.BigEndian, request{write, at, uint32(len(b))})
	if err != nil {
		return err
	}
	answer := b
	if write {
		w, answer = append(w, b...), make([]byte, 1)
	}
	if _, err := r.c.Write(w); err != nil {
		return err
	}
	_, err = io.ReadFull(r.c, answer)
	return err
}

func (r *remote) close() {
	if r.c != nil {
		r.c.Close()
		r.c = nil
	}
}
