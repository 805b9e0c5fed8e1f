// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
)

// Limits of a server.
const (
	mostPerfs     = 16               // measurements at a time
	perfTimeout   = 30 * time.Second // for the other program, beyond the time it asked for
	perfQuiet     = time.Second      // without a message, then the rest is lost
	perfQueue     = 8 << 20          // bytes that may wait to be read
	perfQuietLook = 10 * time.Millisecond
)

// server measures with others until ctx is done.
func (p *perf) server(ctx context.Context, n *stack.Node, std cmdline.Stdio) error {
	l, err := n.Listen(ctx, "tipcpacket", p.to)
	if err != nil {
		return err
	}
	defer l.Close()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	fmt.Fprintf(std.Out, "perf: node %v serves as %v\n", n.Addr(), p.to)
	var all sync.WaitGroup
	defer all.Wait()
	var busy atomic.Int32
	for {
		c, err := l.AcceptConn()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if busy.Add(1) > mostPerfs {
			busy.Add(-1)
			perfAnswer(c, perfTell{Error: fmt.Sprintf("%d others measure now", mostPerfs)})
			c.Close()
			continue
		}
		all.Go(func() {
			defer busy.Add(-1)
			defer c.Close()
			defer context.AfterFunc(ctx, func() { c.Close() })()
			if err := servePerf(ctx, n, c); err != nil && ctx.Err() == nil {
				perfAnswer(c, perfTell{Error: err.Error()})
			}
		})
	}
}

// perfAnswer writes an answer; that it cannot be is the asker's to find out.
func perfAnswer(c *stack.Conn, t perfTell) error {
	b, err := json.Marshal(t)
	if err != nil {
		return err
	}
	c.SetWriteDeadline(time.Now().Add(perfTimeout))
	_, err = c.Write(b)
	return err
}

// perfRead reads what is asked.
func perfRead(c *stack.Conn, wait time.Duration) (ask perfAsk, err error) {
	c.SetReadDeadline(time.Now().Add(wait))
	b := make([]byte, longestPerf)
	k, size, err := c.ReadMsg(b)
	switch {
	case err != nil:
		return ask, err
	case size > k:
		return ask, errors.New("too long")
	}
	return ask, json.Unmarshal(b[:k], &ask)
}

// servePerf does one measurement.
func servePerf(ctx context.Context, n *stack.Node, control *stack.Conn) error {
	ask, err := perfRead(control, perfTimeout)
	switch {
	case err != nil:
		return err
	case ask.Test != "latency" && ask.Test != "throughput":
		return errors.New("a test that is not known")
	case ask.Size < 1 || ask.Size > frame.MaxPayload || ask.Time < leastPerf || ask.Time > mostPerf:
		return errors.New("a size or time that cannot be")
	}
	if err := (socketKind{network: ask.Network}).check(); err != nil {
		return err
	}
	s, err := newPerfSink(ctx, n, ask)
	if err != nil {
		return err
	}
	defer s.close()
	if err := perfAnswer(control, perfTell{At: s.at.String()}); err != nil {
		return err
	}
	cpu := cpuTime()
	end, err := perfRead(control, ask.Time+perfTimeout)
	if err != nil {
		return err
	}
	if end.Test != "end" {
		return errors.New("the end was to be told")
	}
	if ask.Test == "throughput" {
		s.settle(ctx, end.Sent)
	}
	messages, over := s.told()
	return perfAnswer(control, perfTell{Messages: messages, Over: over, CPU: cpuTime() - cpu})
}

// A perfSink takes what is sent for a measurement, and sends it back if it is round trips.
type perfSink struct {
	ask    perfAsk
	at     net.Addr
	closer func()
	all    sync.WaitGroup

	bytes       atomic.Uint64
	messages    atomic.Uint64
	first, last atomic.Int64 // ns since began
	began       time.Time
}

func newPerfSink(ctx context.Context, n *stack.Node, ask perfAsk) (*perfSink, error) {
	s := &perfSink{ask: ask, began: time.Now()}
	if !(socketKind{network: ask.Network}).connected() {
		c, err := stack.SocketConfig{ReceiveLimit: perfQueue}.ListenPacket(ctx, n, ask.Network, nil)
		if err != nil {
			return nil, err
		}
		s.at, s.closer = c.LocalAddr(), func() { c.Close() }
		s.all.Go(func() { s.packets(c) })
		return s, nil
	}
	l, err := stack.SocketConfig{ReceiveLimit: perfQueue, NoDelay: true}.Listen(ctx, n, ask.Network, nil)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var open *stack.Conn
	closed := false
	s.at = l.LocalAddr()
	s.closer = func() {
		mu.Lock()
		defer mu.Unlock()
		closed = true
		l.Close()
		if open != nil {
			open.Close()
		}
	}
	s.all.Go(func() {
		c, err := l.AcceptConn()
		if err != nil {
			return
		}
		defer c.Close()
		mu.Lock()
		open = c
		late := closed
		mu.Unlock()
		if !late {
			s.conn(c)
		}
	})
	return s, nil
}

func (s *perfSink) close() {
	s.closer()
	s.all.Wait()
}

// packets takes messages without a connection.
func (s *perfSink) packets(c *stack.PacketConn) {
	b := make([]byte, frame.MaxPayload)
	for {
		k, m, err := c.ReadMsg(b)
		if err != nil {
			return
		}
		if m.Error != frame.OK {
			continue
		}
		s.took(k)
		if s.ask.Test == "latency" {
			c.SetWriteDeadline(time.Now().Add(perfTimeout))
			c.WriteTo(b[:k], m.From)
		}
	}
}

// conn takes what comes over a connection.
func (s *perfSink) conn(c *stack.Conn) {
	b := make([]byte, frame.MaxPayload)
	echo := s.ask.Test == "latency"
	if echo && s.ask.Network == "tipc" {
		b = b[:s.ask.Size]
	}
	for {
		var k int
		var err error
		if echo {
			k, err = readPerf(c, s.ask.Network, b)
		} else {
			k, err = c.Read(b)
		}
		if err != nil {
			return
		}
		s.took(k)
		if echo {
			if _, err := c.Write(b[:k]); err != nil {
				return
			}
		}
	}
}

// took counts what came.
func (s *perfSink) took(bytes int) {
	now := int64(time.Since(s.began))
	s.first.CompareAndSwap(0, now)
	s.last.Store(now)
	s.bytes.Add(uint64(bytes))
	s.messages.Add(1)
}

// told is how many messages came, and over what time.
func (s *perfSink) told() (messages uint64, over time.Duration) {
	messages = s.messages.Load()
	if s.ask.Network == "tipc" {
		messages = s.bytes.Load() / uint64(s.ask.Size)
	}
	return messages, time.Duration(s.last.Load() - s.first.Load())
}

// settle waits until all messages that were sent have come, or none comes any more. A
// connection loses none: its receiver is only late.
func (s *perfSink) settle(ctx context.Context, sent uint64) {
	quiet := perfQuiet
	if (socketKind{network: s.ask.Network}).connected() {
		quiet = perfTimeout
	}
	have, since := uint64(0), time.Now()
	for {
		now, _ := s.told()
		if now != have {
			have, since = now, time.Now()
		}
		if now >= sent || time.Since(since) > quiet {
			return
		}
		select {
		case <-time.After(perfQuietLook):
		case <-ctx.Done():
			return
		}
	}
}
