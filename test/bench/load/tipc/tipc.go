// SPDX-License-Identifier: Apache-2.0

// Package tipc runs the loads on a stack.Node: what a program of its users does.
package tipc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/test/bench/load"
)

// serviceType is the type of the services that the ends bind; the instance is the
// end's number.
const serviceType = 18888

// meeting is how long two nodes may take to find each other.
const meeting = 30 * time.Second

// roundLen is the bytes of a message that say its round.
const roundLen = 4

// A Config says which end this is. Dev is the end's from then on, also when Open
// fails.
type Config struct {
	Dev  netdev.Device
	Info load.Info
	End  int // 0 or 1; end 0 finds the other, which must be open
	Wait stack.WaitMode
	// Datagram makes the socket "tipcgram"; else it is "tipcrdm".
	Datagram bool
	// Single gives every message a frame to itself.
	Single bool
	// Call makes round trips calls, which an active port answers.
	Call bool
	// Buffers makes what goes one way be written in place and read without a copy.
	Buffers bool
	// Key is the cluster's key, with its salt; nil: frames are plain.
	Key []byte
	// Path is the socket of a daemon, whose node it is then: there is no Dev. Attach is how.
	Path   string
	Attach stack.AttachConfig
	// Node is one that is open, and stays so; there is no Dev then. Both ends may be of it.
	Node *stack.Node
}

// An End is a node with a socket.
type End struct {
	c    Config
	node *stack.Node
	conn *stack.PacketConn
	peer stack.SocketAddr // end 0's: the other's socket
	info load.Info
}

var _ load.Load = (*End)(nil)

// Open makes a node, and at end 0 waits for contact with the other, whose socket
// has the address peer.
func Open(ctx context.Context, c Config, peer string) (*End, error) {
	ctx, cancel := context.WithTimeout(ctx, meeting)
	defer cancel()
	e := &End{c: c, info: c.Info}
	var err error
	switch {
	case c.Node != nil:
		e.node = c.Node
	case c.Path != "":
		e.node, err = c.Attach.Attach(ctx, c.Path)
	default:
		e.node, err = stack.Open(ctx, stack.Config{
			Bearers: []stack.Bearer{c.Dev}, Address: Address(c.End), Wait: c.Wait, NoBundles: c.Single,
			Encryption: Encryption(c.Key), Tolerance: load.Tolerance,
		})
	}
	if err != nil {
		return nil, err
	}
	if err := e.open(ctx, peer); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// Address is that of an end's node.
func Address(end int) stack.NodeAddr { return stack.NodeAddr(0x1001001 + end) }

// Encryption is that of a node with the cluster's key b, which has its salt; none of nil.
func Encryption(b []byte) (e stack.Encryption) {
	if k, err := seal.NewKey(frame.ClusterKey, b); err == nil {
		e.Keys = []stack.Key{{Key: k}}
	}
	return e
}

func (e *End) open(ctx context.Context, peer string) (err error) {
	network := "tipcrdm"
	if e.c.Datagram {
		network = "tipcgram"
	}
	e.conn, err = e.node.ListenPacket(ctx, network, service(e.c.End))
	if err != nil {
		return err
	}
	if e.c.Dev != nil {
		e.info.MAC = e.c.Dev.Addr().String()
	}
	e.info.Socket = e.conn.LocalAddr().String()
	if e.c.End == 1 {
		e.peer = e.conn.LocalAddr().(stack.SocketAddr) // nobody else is to be found
		return nil
	}
	a, err := stack.ParseAddr(peer)
	if err != nil {
		return err
	}
	var ok bool
	if e.peer, ok = a.(stack.SocketAddr); !ok {
		return fmt.Errorf("%q is no socket", peer)
	}
	if err := e.node.WaitFor(ctx, service(1)); err != nil {
		return fmt.Errorf("the other node's name did not come: %w", err)
	}
	return nil
}

func service(end int) stack.Service {
	return stack.Service{Type: serviceType, Instance: uint32(end)}
}

// Info tells the socket's address.
func (e *End) Info() load.Info { return e.info }

// Close ends the node, if it is the end's own, else the socket. It does not wait long for
// the other end.
func (e *End) Close() error {
	if e.c.Node != nil {
		if e.conn == nil {
			return nil
		}
		return e.conn.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	return e.node.Close(ctx)
}

// Run does one job. When ctx is done, waiting calls end by their deadline.
func (e *End) Run(ctx context.Context, j load.Job) (load.Result, error) {
	least := 1
	if j.Timed {
		least = load.TimedSize
	}
	if j.Size < least || j.Size > frame.MaxPayload {
		return load.Result{}, fmt.Errorf("messages of %d bytes, not %d to %d", j.Size, least, frame.MaxPayload)
	}
	if err := e.conn.SetDeadline(time.Time{}); err != nil {
		return load.Result{}, err
	}
	defer load.OnStop(ctx, func() { e.conn.SetDeadline(time.Now()) })()
	stop := load.StopOn(ctx)
	defer stop.Release()
	before := e.state()
	r, err := e.run(ctx, stop, j)
	if ctx.Err() != nil && stopped(err) {
		err = nil
	}
	e.state().since(before, &r)
	return r, err
}

// stopped reports whether a call ended because of its deadline.
func stopped(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.Canceled)
}

func (e *End) run(ctx context.Context, stop *load.Stop, j load.Job) (load.Result, error) {
	switch {
	case j.Kind == load.Ping && e.c.Call:
		return e.call(ctx, stop, j)
	case j.Kind == load.Pong && e.c.Call:
		return e.answer(ctx)
	case j.Kind == load.Ping:
		return e.ping(stop, j)
	case j.Kind == load.Pong:
		return e.pong()
	case j.Kind == load.Send && j.Timed:
		return e.pace(stop, j)
	case j.Kind == load.Receive && j.Timed:
		return e.delays(stop, j)
	case j.Kind == load.Send && j.Offered > 0:
		return e.offer(stop, j)
	case j.Kind == load.Send && e.c.Buffers:
		return e.sendBuffers(stop, j)
	case j.Kind == load.Receive && e.c.Buffers:
		return e.receiveBuffers(stop, j)
	case j.Kind == load.Send:
		return e.send(stop, j)
	case j.Kind == load.Receive:
		return e.receive(stop, j)
	}
	return load.Result{}, fmt.Errorf("a node cannot %q", j.Kind)
}

// A state is what is counted over a job.
type state struct {
	resets, frames, dropped, again uint64
	drops                          admin.Stats
	mtu                            int
}

func (e *End) state() (s state) {
	s.drops = must.Get(e.node.Admin().Stats(context.Background()))
	s.frames = s.drops.FramesOut
	s.dropped = s.drops.DeviceDropsIn + s.drops.DeviceDropsOut
	for _, l := range must.Get(e.node.Admin().Links(context.Background())) {
		s.resets += l.Resets
		s.again += l.Retransmits
		s.mtu = l.MTU
	}
	return s
}

// since puts what has happened between two states into r.
func (s state) since(before state, r *load.Result) {
	r.Resets, r.Frames, r.Dropped = s.resets-before.resets, s.frames-before.frames, s.dropped-before.dropped
	r.Again, r.MTU = s.again-before.again, s.mtu
	for i, n := range before.drops.Drops {
		s.drops.Drops[i] -= n
	}
	r.Refused = s.drops.Drops.String()
}

// mark writes the round into the message, as much of it as there is room for.
func mark(b []byte, round uint32) {
	var tag [roundLen]byte
	binary.LittleEndian.PutUint32(tag[:], round)
	copy(b, tag[:])
}

// belongs reports whether b is a message of the round.
func belongs(b []byte, round uint32) bool {
	var tag [roundLen]byte
	binary.LittleEndian.PutUint32(tag[:], round)
	n := min(len(b), roundLen)
	return n > 0 && string(b[:n]) == string(tag[:n])
}

// pong answers until the deadline.
func (e *End) pong() (load.Result, error) {
	var r load.Result
	var c load.Count
	defer func() { c.Fill(&r) }()
	b := make([]byte, frame.MaxPayload)
	for {
		n, from, err := e.conn.ReadFrom(b)
		if err == nil {
			_, err = e.conn.WriteTo(b[:n], from)
		}
		if err != nil {
			c.Fill(&r)
			return r, err
		}
		c.Add(2)
	}
}

// send writes one message after the other to the peer's socket.
func (e *End) send(stop *load.Stop, j load.Job) (load.Result, error) {
	var r load.Result
	var c load.Count
	var to net.Addr = e.peer
	b := make([]byte, j.Size)
	mark(b, j.Round)
	for {
		if _, err := e.conn.WriteTo(b, to); err != nil {
			c.Fill(&r)
			return r, err
		}
		c.Add(1)
		if c.N%64 == 0 && stop.Load() {
			c.Fill(&r)
			return r, nil
		}
	}
}

// receive counts messages of the round.
func (e *End) receive(stop *load.Stop, j load.Job) (load.Result, error) {
	m := load.NewMeter(j.For)
	b := make([]byte, frame.MaxPayload)
	for !stop.Load() {
		n, _, err := e.conn.ReadFrom(b)
		if err != nil {
			return m.Result(), err
		}
		if belongs(b[:n], j.Round) && !m.Add(1, n) {
			break
		}
	}
	return m.Result(), nil
}
