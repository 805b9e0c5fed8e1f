// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
)

// maxEchoConns is how many connections an echo serves at a time; more wait in the
// listener's backlog.
const maxEchoConns = 1000

// An echoCount is what an echo tells of its connections at the end.
type echoCount struct {
	mu     sync.Mutex // guards what follows
	conns  int
	bytes  uint64
	broken int
	why    error // of the last that was broken off
}

// echoConns sends everything back on all connections, until ctx is done.
func echoConns(ctx context.Context, l *stack.Listener, out io.Writer) error {
	defer l.Close()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	var count echoCount
	var serving sync.WaitGroup
	room := make(chan struct{}, maxEchoConns)
	var err error
	for {
		var c *stack.Conn
		if c, err = l.AcceptConn(); err != nil {
			break
		}
		room <- struct{}{} // a connection ends when its peer does, or with ctx
		serving.Go(func() {
			defer func() { <-room }()
			count.add(echoConn(ctx, c))
		})
	}
	serving.Wait() // they end with ctx, or with the node
	fmt.Fprintf(out, "echo: %d connections, %d bytes sent back, %d connections broken off\n", count.conns, count.bytes, count.broken)
	if count.why != nil {
		fmt.Fprintf(out, "echo: the last one: %v\n", count.why)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// echoConn sends back what it reads, until the peer closes.
func echoConn(ctx context.Context, c net.Conn) (sent uint64, err error) {
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	b := make([]byte, frame.MaxPayload)
	for {
		k, err := c.Read(b)
		if err == nil {
			_, err = c.Write(b[:k])
		}
		switch {
		case err == io.EOF, ctx.Err() != nil:
			return sent, nil
		case err != nil:
			return sent, err
		}
		sent += uint64(k)
	}
}

func (e *echoCount) add(sent uint64, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.conns++
	e.bytes += sent
	if err != nil {
		e.broken++
		e.why = err
	}
}
