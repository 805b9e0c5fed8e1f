// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
)

// A carried is connections from one node to another, one after the other, each with numbered
// messages until it ends.
type carried struct {
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu     sync.Mutex
	calls  []*call
	faults []error
}

// A call is one of the connections.
type call struct {
	wrote, unsent uint64  // messages that Write took, bytes that Close says are lost
	read          uint64  // messages that came
	ends          []error // of Write, Close and Read
}

const carriedSize = 500 // bytes of a message: number of the call, number of the message, and more

func carry(from, to *stack.Node) *carried {
	ctx, cancel := context.WithCancel(context.Background())
	c := &carried{stop: cancel}
	service := stack.Service{Type: 18888, Instance: 17}
	l, err := to.Listen(ctx, "tipcpacket", service)
	if err != nil {
		c.fault(err)
		return c
	}
	c.wg.Go(func() {
		for {
			in, err := l.AcceptConn()
			if err != nil {
				return
			}
			c.wg.Go(func() { c.take(in) })
		}
	})
	c.wg.Go(func() {
		defer l.Close()
		for from.WaitFor(ctx, service) == nil {
			if out, err := from.Dial(ctx, "tipcpacket", service); err == nil { // else contact is lost again
				c.give(ctx, out)
			}
		}
	})
	return c
}

func (c *carried) fault(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, err)
}

// give writes numbered messages until it is stopped or the connection ends.
func (c *carried) give(ctx context.Context, out *stack.Conn) {
	k := &call{}
	c.mu.Lock()
	c.calls = append(c.calls, k)
	number := uint64(len(c.calls) - 1)
	c.mu.Unlock()
	message := make([]byte, carriedSize)
	wrote := uint64(0)
	var failed error
	pace := time.NewTicker(time.Millisecond) // leaves the machine to the changes
	defer pace.Stop()
	for ctx.Err() == nil {
		binary.BigEndian.PutUint64(message, number)
		binary.BigEndian.PutUint64(message[8:], wrote)
		if _, failed = out.Write(message); failed != nil {
			break
		}
		wrote++
		if wrote%64 == 0 {
			<-pace.C
		}
	}
	var lost *stack.UnsentError
	err := out.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	k.wrote, k.ends = wrote, append(k.ends, failed, err)
	if errors.As(err, &lost) {
		k.unsent = uint64(lost.Bytes)
	}
}

// take reads what a connection carries, to its end.
func (c *carried) take(in *stack.Conn) {
	defer in.Close()
	message := make([]byte, 2*carriedSize)
	var k *call
	for read := uint64(0); ; read++ {
		n, err := in.Read(message)
		if err != nil || n == 0 {
			if k != nil {
				c.mu.Lock()
				k.ends = append(k.ends, err)
				c.mu.Unlock()
			}
			return
		}
		number, i := binary.BigEndian.Uint64(message), binary.BigEndian.Uint64(message[8:])
		if n != carriedSize || i != read {
			c.fault(fmt.Errorf("got %d bytes, message %d of call %d, want message %d", n, i, number, read))
			return
		}
		c.mu.Lock()
		k = c.calls[number]
		k.read = read + 1
		c.mu.Unlock()
	}
}

// end stops the calls, and compares what was read with what was written.
func (c *carried) end(t *testing.T) string {
	t.Helper()
	c.stop()
	c.wg.Wait()
	for _, err := range c.faults {
		t.Error(err)
	}
	var wrote, read, unsent uint64
	for i, k := range c.calls {
		wrote, read, unsent = wrote+k.wrote, read+k.read, unsent+k.unsent
		if k.read > k.wrote || k.read*carriedSize+k.unsent < k.wrote*carriedSize {
			t.Errorf("call %d: %d messages written, %d read, and %d bytes said to be lost; %v", i, k.wrote, k.read, k.unsent, k.ends)
		}
	}
	return fmt.Sprintf("%d calls, %d messages written, %d read, %d bytes said to be lost", len(c.calls), wrote, read, unsent)
}
