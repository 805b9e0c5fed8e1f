// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/load/tipc"
	"github.com/utipc/utipc/test/bench/worker"
)

const (
	// window is what may be on its way of a stream, and of a connection, in bytes: enough
	// that nothing waits for it. With a fixed one gRPC does without its estimate of the
	// path, and the pings for it.
	window = 4 << 20
	// chunk is what gRPC reads and writes at once: as much as a call of TCP's takes here.
	chunk = 64 << 10
	// streamWorkers are goroutines that stay, so that a call need not start one.
	streamWorkers = 2
)

// where is the service at which end 1 listens, on a node.
var where = stack.Service{Type: 18888, Instance: 50051}

// A grpcEnd is a server, at end 1, or a client. The connection stays from job to job.
type grpcEnd struct {
	streams bool // round trips are over a stream
	info    load.Info
	node    *stack.Node // nil: over TCP
	in      inbox
	server  *grpc.Server     // at end 1
	served  chan error       // what its Serve has returned
	client  *grpc.ClientConn // at end 0
}

var _ load.Load = (*grpcEnd)(nil)

func openGRPC(ctx context.Context, o worker.Open) (load.Load, error) {
	e := &grpcEnd{streams: o.Load == "grpc-stream"}
	if err := e.open(ctx, o); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *grpcEnd) open(ctx context.Context, o worker.Open) error {
	how := "one call a round trip"
	if e.streams {
		how = "one stream for all round trips"
	}
	e.info.Settings = fmt.Sprintf("grpc-go %s: a codec that copies nothing, no TLS, windows of %d MiB, reads and writes of %d KiB, %d stream workers; %s",
		grpc.Version, window>>20, chunk>>10, streamWorkers, how)
	switch o.Socket {
	case "tcp":
	case "tipc":
		if err := e.openNode(ctx, o); err != nil {
			return err
		}
	default:
		return fmt.Errorf("gRPC is not measured over %q", o.Socket)
	}
	if o.End == 1 {
		return e.serve(ctx, o)
	}
	return e.dial(ctx, o)
}

// openNode opens a node on the interface, over which gRPC is to go.
func (e *grpcEnd) openNode(ctx context.Context, o worker.Open) error {
	wait, ok := worker.WaitMode(o.Wait)
	if !ok {
		return fmt.Errorf("no way to wait is called %q", o.Wait)
	}
	dev, info, err := worker.OpenDevice(o)
	if err != nil {
		return err
	}
	e.info.Driver, e.info.Reason = info.Driver, info.Reason
	e.node, err = stack.Open(ctx, stack.Config{Bearers: []stack.Bearer{dev}, Address: tipc.Address(o.End), Wait: wait, GoPoller: true, Tolerance: load.Tolerance})
	return err
}

func (e *grpcEnd) serve(ctx context.Context, o worker.Open) (err error) {
	var ln net.Listener
	if e.node != nil {
		ln, err = e.node.Listen(ctx, "tipc", where)
	} else {
		ln, err = net.Listen("tcp4", port(o, 0))
	}
	if err != nil {
		return err
	}
	e.server = grpc.NewServer(grpc.ForceServerCodecV2(codec{}), grpc.NumStreamWorkers(streamWorkers),
		grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(window), grpc.ReadBufferSize(chunk), grpc.WriteBufferSize(chunk))
	e.server.RegisterService(&service, &e.in)
	e.served = make(chan error, 1)
	go func() { e.served <- e.server.Serve(ln) }()
	return nil
}

func (e *grpcEnd) dial(ctx context.Context, o worker.Open) (err error) {
	target := "passthrough:///" + port(o, 0)
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(codec{})),
		grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(window), grpc.WithReadBufferSize(chunk), grpc.WithWriteBufferSize(chunk),
		grpc.WithIdleTimeout(0), // the connection stays between rounds
	}
	if e.node != nil {
		if err := e.node.WaitFor(ctx, where); err != nil {
			return err
		}
		target = "passthrough:///" + where.String()
		options = append(options, grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return e.node.DialContext(ctx, "tipc", address)
		}))
	}
	e.client, err = grpc.NewClient(target, options...)
	return err
}

// Info says how gRPC was set.
func (e *grpcEnd) Info() load.Info { return e.info }

// Close ends all. It does not wait long for the other end.
func (e *grpcEnd) Close() (err error) {
	if e.client != nil {
		err = e.client.Close()
	}
	if e.server != nil {
		e.server.Stop()
		err = errors.Join(err, <-e.served)
	}
	if e.node != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		err = errors.Join(err, e.node.Close(ctx))
	}
	return err
}

// Run does one job.
func (e *grpcEnd) Run(ctx context.Context, j load.Job) (load.Result, error) {
	switch j.Kind {
	case load.Pong:
		return e.in.answer(ctx), nil
	case load.Receive:
		return e.in.receive(ctx, j), nil
	}
	b, err := message(j)
	if err != nil {
		return load.Result{}, err
	}
	if e.client == nil {
		return load.Result{}, fmt.Errorf("a server cannot %q", j.Kind)
	}
	stop := load.StopOn(ctx)
	defer stop.Release()
	// Streams end with their context.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &bag{mem.BufferSlice{mem.SliceBuffer(b)}}
	switch {
	case j.Kind == load.Ping && e.streams:
		return e.talk(ctx, stop, j, out)
	case j.Kind == load.Ping:
		return e.ask(ctx, stop, j, out)
	case j.Kind == load.Send:
		return e.pour(ctx, stop, j, out)
	}
	return load.Result{}, fmt.Errorf("gRPC cannot %q", j.Kind)
}

// taken frees an answer, and refuses one that is of another length.
func (b *bag) taken(size int) error {
	n := b.data.Len()
	b.data.Free()
	if n != size {
		return fmt.Errorf("an answer of %d bytes to %d", n, size)
	}
	return nil
}

func (e *grpcEnd) ask(ctx context.Context, stop *load.Stop, j load.Job, out *bag) (load.Result, error) {
	name := method("Ask")
	var in bag
	return ping(stop, j, func() error {
		if err := e.client.Invoke(ctx, name, out, &in); err != nil {
			return err
		}
		return in.taken(j.Size)
	})
}

func (e *grpcEnd) talk(ctx context.Context, stop *load.Stop, j load.Job, out *bag) (load.Result, error) {
	s, err := e.client.NewStream(ctx, &talk, method(talk.StreamName))
	if err != nil {
		return load.Result{}, err
	}
	var in bag
	return ping(stop, j, func() error {
		if err := s.SendMsg(out); err != nil {
			return err
		}
		if err := s.RecvMsg(&in); err != nil {
			return err
		}
		return in.taken(j.Size)
	})
}

func (e *grpcEnd) pour(ctx context.Context, stop *load.Stop, j load.Job, out *bag) (load.Result, error) {
	ctx = metadata.AppendToOutgoingContext(ctx, roundKey, strconv.FormatUint(uint64(j.Round), 10))
	s, err := e.client.NewStream(ctx, &pour, method(pour.StreamName))
	if err != nil {
		return load.Result{}, err
	}
	return send(stop, func() error {
		err := s.SendMsg(out)
		if err == io.EOF {
			return errEnough
		}
		return err
	})
}
