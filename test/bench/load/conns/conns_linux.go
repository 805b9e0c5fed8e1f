// SPDX-License-Identifier: Apache-2.0

// Package conns runs the loads on connections: a node's, or TCP's of package net.
package conns

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/load/tipc"
)

// port is where end 1 listens, of TCP.
const port = "7200"

// service is where end 1 listens, of a node.
var service = stack.Service{Type: 18888, Instance: 1}

// meeting is how long two nodes may take to find each other.
const meeting = 10 * time.Second

// tagLen is the bytes that a connection begins with: the job's round, as what was
// dialed in another may wait to be accepted still.
const tagLen = 4

// A Config says which end this is. Dev is the end's from then on, also when Open
// fails; TCP has none.
type Config struct {
	Dev     netdev.Device
	Info    load.Info
	End     int    // 0 dials, 1 listens
	Network string // "tipc", "tipcpacket" or "tcp"
	Addr    string // end 1's IPv4 address, of TCP
	Wait    stack.WaitMode
	Dials   bool   // a round trip is to connect and to close
	Key     []byte // the cluster's key, with its salt; nil: frames are plain
	// Buffers makes what goes one way be written in place and read without a copy; not TCP's.
	Buffers bool
	// Node is one that is open, and stays so; there is no Dev then. Both ends may be of it.
	Node *stack.Node
}

// An End is one end of connections, a new one for each job.
type End struct {
	c    Config
	node *stack.Node // nil: TCP
	l    listener    // at end 1
}

type listener interface {
	net.Listener
	SetDeadline(time.Time) error
}

var _ load.Load = (*End)(nil)

// Open listens, at end 1; at end 0 it waits for contact with it.
func Open(ctx context.Context, c Config) (*End, error) {
	ctx, cancel := context.WithTimeout(ctx, meeting)
	defer cancel()
	e := &End{c: c}
	if err := e.open(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *End) open(ctx context.Context) (err error) {
	if e.c.Network == "tcp" {
		if e.c.End == 1 {
			var l net.Listener
			if l, err = net.Listen("tcp4", net.JoinHostPort(e.c.Addr, port)); err == nil {
				e.l = l.(*net.TCPListener)
			}
		}
		return err
	}
	if e.node = e.c.Node; e.node == nil {
		e.node, err = stack.Open(ctx, stack.Config{
			Bearers: []stack.Bearer{e.c.Dev}, Address: tipc.Address(e.c.End), Wait: e.c.Wait,
			Encryption: tipc.Encryption(e.c.Key), Tolerance: load.Tolerance,
		})
	}
	switch {
	case err != nil:
		return err
	case e.c.End == 0:
		return e.node.WaitFor(ctx, service)
	}
	l, err := e.node.Listen(ctx, e.c.Network, service)
	if err == nil {
		e.l = l
	}
	return err
}

// Info tells what was opened.
func (e *End) Info() load.Info { return e.c.Info }

// Close ends all. It does not wait long for the other end.
func (e *End) Close() error {
	if e.node == nil || e.c.Node != nil {
		if e.l != nil {
			return e.l.Close()
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	return e.node.Close(ctx)
}

// Run does one job. When ctx is done, waiting calls end by their deadline.
func (e *End) Run(ctx context.Context, j load.Job) (load.Result, error) {
	var r load.Result
	var err error
	switch {
	case e.c.Dials && e.c.End == 0:
		r, err = e.dials(ctx, j)
	case e.c.Dials:
		r, err = e.accepts(ctx)
	default:
		r, err = e.talk(ctx, j)
	}
	if ctx.Err() != nil && (errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.Canceled)) {
		err = nil
	}
	if e.node != nil {
		for _, l := range must.Get(e.node.Admin().Links(context.Background())) {
			r.MTU = l.MTU
		}
	}
	return r, err
}

// dial connects to end 1.
func (e *End) dial(ctx context.Context) (net.Conn, error) {
	if e.node != nil {
		c, err := e.node.Dial(ctx, e.c.Network, service)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp4", net.JoinHostPort(e.c.Addr, port))
}

// dials connects and closes.
func (e *End) dials(ctx context.Context, j load.Job) (load.Result, error) {
	t := load.NewTrips(j.For)
	for more := true; more && ctx.Err() == nil; more = t.Next() {
		c, err := e.dial(ctx)
		if err != nil {
			return t.Result(0), err
		}
		if tcp, ok := c.(*net.TCPConn); ok {
			tcp.SetLinger(0) // it leaves no port in use behind
		}
		c.Close()
	}
	return t.Result(0), nil
}

func (e *End) accepts(ctx context.Context) (load.Result, error) {
	if err := e.l.SetDeadline(time.Time{}); err != nil {
		return load.Result{}, err
	}
	defer load.OnStop(ctx, func() { e.l.SetDeadline(time.Now()) })()
	for {
		c, err := e.l.Accept()
		if err != nil {
			return load.Result{}, err
		}
		c.Close()
	}
}

// talk does a job over a connection of its own.
func (e *End) talk(ctx context.Context, j load.Job) (load.Result, error) {
	c, err := e.meet(ctx, j.Round)
	if err != nil {
		return load.Result{}, err
	}
	defer c.Close()
	defer load.OnStop(ctx, func() { c.SetDeadline(time.Now()) })()
	stop := load.StopOn(ctx)
	defer stop.Release()
	switch j.Kind {
	case load.Ping:
		return ping(c, stop, j)
	case load.Pong:
		return pong(c, j)
	case load.Send:
		if b, ok := c.(buffered); ok && e.c.Buffers {
			return sendBuffers(b, stop, j)
		}
		return send(c, stop, j)
	case load.Receive:
		if b, ok := c.(buffered); ok && e.c.Buffers {
			return receiveBuffers(b, stop, j)
		}
		return receive(c, stop, j)
	}
	return load.Result{}, fmt.Errorf("a connection cannot %q", j.Kind)
}

// meet makes the connection of a round.
func (e *End) meet(ctx context.Context, round uint32) (net.Conn, error) {
	var tag [tagLen]byte
	if e.c.End == 0 {
		c, err := e.dial(ctx)
		if err == nil {
			_, err = c.Write(binary.BigEndian.AppendUint32(tag[:0], round))
		}
		return c, err
	}
	if err := e.l.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	defer load.OnStop(ctx, func() { e.l.SetDeadline(time.Now()) })()
	for {
		c, err := e.l.Accept()
		if err != nil {
			return nil, err
		}
		c.SetReadDeadline(time.Now().Add(meeting))
		if _, err := io.ReadFull(c, tag[:]); err == nil && binary.BigEndian.Uint32(tag[:]) == round {
			return c, c.SetReadDeadline(time.Time{})
		}
		c.Close()
	}
}

func ping(c net.Conn, stop *load.Stop, j load.Job) (load.Result, error) {
	t := load.NewTrips(j.For)
	b := make([]byte, j.Size)
	for more := true; more && !stop.Load(); more = t.Next() {
		if _, err := c.Write(b); err != nil {
			return t.Result(j.Size), err
		}
		if _, err := io.ReadFull(c, b); err != nil {
			return t.Result(j.Size), err
		}
	}
	return t.Result(j.Size), nil
}

// pong answers until the deadline, or until the other end has closed.
func pong(c net.Conn, j load.Job) (r load.Result, err error) {
	var n load.Count
	defer func() { n.Fill(&r) }()
	b := make([]byte, j.Size)
	for {
		if _, err = io.ReadFull(c, b); err == nil {
			_, err = c.Write(b)
		}
		if err != nil {
			return r, ended(err)
		}
		n.Add(2)
	}
}

// ended is nil for the end of a connection whose other end has measured enough.
func ended(err error) error {
	if err == io.EOF || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

func send(c net.Conn, stop *load.Stop, j load.Job) (r load.Result, err error) {
	var n load.Count
	defer func() { n.Fill(&r) }()
	b := make([]byte, j.Size)
	for !stop.Load() {
		if _, err := c.Write(b); err != nil {
			return r, ended(err)
		}
		n.Add(1)
	}
	return r, nil
}

// receive counts messages, or what would be some of a stream.
func receive(c net.Conn, stop *load.Stop, j load.Job) (load.Result, error) {
	b := make([]byte, frame.MaxPayload)
	return count(stop, j, func() (int, error) { return c.Read(b) })
}

// count counts what read reads.
func count(stop *load.Stop, j load.Job, read func() (int, error)) (load.Result, error) {
	m := load.NewMeter(j.For)
	part := 0 // bytes of a message that has not come whole
	for !stop.Load() {
		n, err := read()
		if err != nil {
			return m.Result(), err
		}
		part += n
		if !m.Add(part/j.Size, n) {
			break
		}
		part %= j.Size
	}
	return m.Result(), nil
}
