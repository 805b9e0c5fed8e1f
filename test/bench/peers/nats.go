// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/worker"
)

// Subjects: what is asked, and what is published.
const (
	asked     = "ask"
	published = "pour"
)

const (
	// credit is what a publisher has on its way at most, in bytes, and fewest the
	// messages that it has at least: NATS itself holds nobody back, and cuts off a
	// subscriber that is behind. The last message of each half asks the subscriber for a
	// word that it is there.
	credit = 1 << 20
	fewest = 16
	// timeout is for an answer.
	timeout = 5 * time.Second
)

// A natsEnd is a client. At end 1 the server is in its process besides.
type natsEnd struct {
	server *server.Server
	client *nats.Conn
	in     inbox
}

var _ load.Load = (*natsEnd)(nil)

func openNATS(o worker.Open) (load.Load, error) {
	e := &natsEnd{}
	if err := e.open(o); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *natsEnd) open(o worker.Open) (err error) {
	if o.Socket != "tcp" {
		return fmt.Errorf("NATS is not measured over %q", o.Socket)
	}
	at := port(o, 1)
	options := []nats.Option{nats.NoReconnect(), nats.NoCallbacksAfterClientClose()}
	if o.End == 0 {
		e.client, err = nats.Connect("nats://"+at, options...)
		return err
	}
	if err := e.serve(at); err != nil {
		return err
	}
	if e.client, err = nats.Connect("", append(options, nats.InProcessServer(e.server))...); err != nil {
		return err
	}
	_, err = e.client.Subscribe(asked, func(m *nats.Msg) {
		if m.Respond(m.Data) == nil {
			e.in.answered()
		}
	})
	if err != nil {
		return err
	}
	s, err := e.client.Subscribe(published, func(m *nats.Msg) {
		e.in.add(roundOf(m.Data), len(m.Data))
		if m.Reply != "" {
			m.Respond(nil)
		}
	})
	return errors.Join(err, s.SetPendingLimits(-1, -1), e.client.Flush())
}

// serve starts the server.
func (e *natsEnd) serve(at string) error {
	host, portName, err := net.SplitHostPort(at)
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(portName)
	if err != nil {
		return err
	}
	e.server, err = server.NewServer(&server.Options{Host: host, Port: number, NoLog: true, NoSigs: true})
	if err != nil {
		return err
	}
	go e.server.Start()
	if !e.server.ReadyForConnections(timeout) {
		return errors.New("the NATS server does not take connections")
	}
	return nil
}

// Info says how NATS was set.
func (e *natsEnd) Info() load.Info {
	return load.Info{Settings: fmt.Sprintf("nats.go %s, nats-server %s in end 1's process, whose client connects within it; no TLS, no log; published with %d KiB or %d messages on the way",
		nats.Version, server.VERSION, credit>>10, fewest)}
}

// Close ends the client and the server.
func (e *natsEnd) Close() error {
	if e.client != nil {
		e.client.Close()
	}
	if e.server != nil {
		e.server.Shutdown()
		e.server.WaitForShutdown()
	}
	return nil
}

// Run does one job.
func (e *natsEnd) Run(ctx context.Context, j load.Job) (load.Result, error) {
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
	stop := load.StopOn(ctx)
	defer stop.Release()
	switch j.Kind {
	case load.Ping:
		return ping(stop, j, func() error {
			m, err := e.client.RequestWithContext(ctx, asked, b)
			if err == nil && len(m.Data) != len(b) {
				err = fmt.Errorf("an answer of %d bytes to %d", len(m.Data), len(b))
			}
			return err
		})
	case load.Send:
		return e.publish(stop, b)
	}
	return load.Result{}, fmt.Errorf("NATS cannot %q", j.Kind)
}

// publish publishes b again and again, half the credit behind what has arrived.
func (e *natsEnd) publish(stop *load.Stop, b []byte) (load.Result, error) {
	half := max(fewest, credit/len(b)) / 2
	inbox := e.client.NewRespInbox()
	words, err := e.client.SubscribeSync(inbox)
	if err != nil {
		return load.Result{}, err
	}
	defer words.Unsubscribe()
	n := 0 // published
	return send(stop, func() error {
		if n++; n%half != 0 {
			return e.client.Publish(published, b)
		}
		if err := e.client.PublishRequest(published, inbox, b); err != nil {
			return err
		}
		if n == half { // the other half is free
			return nil
		}
		_, err := words.NextMsg(timeout)
		return err
	})
}
