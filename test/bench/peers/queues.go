// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/worker"
)

const (
	// look is how often a call that waits lets its job look whether it is to stop.
	look = 50 * time.Millisecond
	// queue is how many messages a socket keeps at most, each way: ZeroMQ's default.
	queue = 1000
)

// A pattern is the kind of a socket of ZeroMQ or nng.
type pattern int

const (
	request pattern = iota
	reply
	push
	pull
)

// A queueSocket is a socket of a library that keeps messages in queues of its own.
type queueSocket interface {
	Listen(at string) error
	Dial(at string) error
	Send(b []byte) error      // errAgain: it waited for look, and is to be called again
	Receive() ([]byte, error) // likewise; the bytes are the caller's until the next call
	Close() error
}

// errAgain is of a call that waited in vain.
var errAgain = errors.New("nothing came, or no room, for a while")

// A queueEnd has the sockets of an end. Those of end 1 stay; end 0 makes one for each job, so
// that what was queued in one does not come in the next.
type queueEnd struct {
	at          [2]string // where end 1 answers and pulls
	socket      func(pattern) (queueSocket, error)
	settings    string
	end         func() error // of the library
	reply, pull queueSocket
}

var _ load.Load = (*queueEnd)(nil)

// openQueues opens an end of a library: at two ports over TCP from first on, or two paths.
func openQueues(o worker.Open, first int, e *queueEnd) (load.Load, error) {
	if err := e.open(o, first); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *queueEnd) open(o worker.Open, first int) (err error) {
	switch o.Socket {
	case "tcp":
		e.at = [2]string{"tcp://" + port(o, first), "tcp://" + port(o, first+1)}
	case "ipc":
		e.at = [2]string{"ipc://" + o.Path + ".ask", "ipc://" + o.Path + ".pour"}
	default:
		return fmt.Errorf("%s is not measured over %q", o.Load, o.Socket)
	}
	if o.End == 0 {
		return nil
	}
	if e.reply, err = e.socket(reply); err != nil {
		return err
	}
	if e.pull, err = e.socket(pull); err != nil {
		return err
	}
	return errors.Join(e.reply.Listen(e.at[0]), e.pull.Listen(e.at[1]))
}

// connected makes end 0's socket of a job.
func (e *queueEnd) connected(p pattern, at string) (queueSocket, error) {
	s, err := e.socket(p)
	if err != nil {
		return nil, err
	}
	if err := s.Dial(at); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Info says how the library was set.
func (e *queueEnd) Info() load.Info { return load.Info{Settings: e.settings} }

// Close ends all.
func (e *queueEnd) Close() (err error) {
	for _, s := range []queueSocket{e.reply, e.pull} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return errors.Join(err, e.end())
}

// Run does one job.
func (e *queueEnd) Run(ctx context.Context, j load.Job) (load.Result, error) {
	b, err := message(j)
	if err != nil {
		return load.Result{}, err
	}
	stop := load.StopOn(ctx)
	defer stop.Release()
	switch {
	case j.Kind == load.Ping && e.reply == nil:
		return e.ask(stop, j, b)
	case j.Kind == load.Pong && e.reply != nil:
		return e.answer(stop)
	case j.Kind == load.Send && e.pull == nil:
		return e.push(stop, b)
	case j.Kind == load.Receive && e.pull != nil:
		return e.receive(stop, j)
	}
	return load.Result{}, fmt.Errorf("this end cannot %q", j.Kind)
}

// until calls f again while it waits in vain, and the job is not to stop.
func until(stop *load.Stop, f func() error) error {
	for {
		err := f()
		if err != errAgain || stop.Load() {
			return err
		}
	}
}

func (e *queueEnd) ask(stop *load.Stop, j load.Job, b []byte) (load.Result, error) {
	s, err := e.connected(request, e.at[0])
	if err != nil {
		return load.Result{}, err
	}
	defer s.Close()
	return ping(stop, j, func() error {
		if err := until(stop, func() error { return s.Send(b) }); err != nil {
			return err
		}
		return until(stop, func() error {
			answer, err := s.Receive()
			if err == nil && len(answer) != len(b) {
				err = fmt.Errorf("an answer of %d bytes to %d", len(answer), len(b))
			}
			return err
		})
	})
}

// answer answers until it is stopped.
func (e *queueEnd) answer(stop *load.Stop) (r load.Result, err error) {
	var n load.Count
	defer func() { n.Fill(&r) }()
	for !stop.Load() {
		b, err := e.reply.Receive()
		if err == errAgain {
			continue
		}
		if err == nil {
			err = until(stop, func() error { return e.reply.Send(b) })
		}
		if err != nil {
			return r, err
		}
		n.Add(2)
	}
	return r, nil
}

func (e *queueEnd) push(stop *load.Stop, b []byte) (load.Result, error) {
	s, err := e.connected(push, e.at[1])
	if err != nil {
		return load.Result{}, err
	}
	defer s.Close()
	return send(stop, func() error {
		return until(stop, func() error { return s.Send(b) })
	})
}

// receive counts the round's messages.
func (e *queueEnd) receive(stop *load.Stop, j load.Job) (load.Result, error) {
	m := load.NewMeter(j.For)
	for !stop.Load() {
		b, err := e.pull.Receive()
		switch {
		case err == errAgain:
		case err != nil:
			return m.Result(), err
		case roundOf(b) == j.Round && !m.Add(1, len(b)):
			return m.Result(), nil
		}
	}
	return m.Result(), nil
}
