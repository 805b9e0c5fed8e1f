// SPDX-License-Identifier: Apache-2.0

//go:build !nozmq

package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/pebbe/zmq4"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/worker"
)

const (
	// look is how often a call that waits lets its job look whether it is to stop.
	look = 50 * time.Millisecond
	// queue is how many messages a socket keeps at most, each way: the library's default.
	queue = 1000
)

// A zmqEnd has the sockets of an end. Those of end 1 stay; end 0 makes one for each job, so
// that what was queued in one does not come in the next.
type zmqEnd struct {
	context *zmq4.Context
	at      [2]string // where end 1 answers and pulls
	reply   *zmq4.Socket
	pull    *zmq4.Socket
}

var _ load.Load = (*zmqEnd)(nil)

func openZeroMQ(o worker.Open) (load.Load, error) {
	e := &zmqEnd{}
	if err := e.open(o); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *zmqEnd) open(o worker.Open) (err error) {
	switch o.Socket {
	case "tcp":
		e.at = [2]string{"tcp://" + port(o, 2), "tcp://" + port(o, 3)}
	case "ipc":
		e.at = [2]string{"ipc://" + o.Path + ".ask", "ipc://" + o.Path + ".pour"}
	default:
		return fmt.Errorf("ZeroMQ is not measured over %q", o.Socket)
	}
	if e.context, err = zmq4.NewContext(); err != nil || o.End == 0 {
		return err
	}
	if e.reply, err = e.socket(zmq4.REP); err != nil {
		return err
	}
	if e.pull, err = e.socket(zmq4.PULL); err != nil {
		return err
	}
	return errors.Join(e.reply.Bind(e.at[0]), e.pull.Bind(e.at[1]))
}

// socket makes a socket whose calls wait for no longer than look.
func (e *zmqEnd) socket(t zmq4.Type) (*zmq4.Socket, error) {
	s, err := e.context.NewSocket(t)
	if err != nil {
		return nil, err
	}
	err = errors.Join(s.SetLinger(0), s.SetRcvtimeo(look), s.SetSndtimeo(look), s.SetSndhwm(queue), s.SetRcvhwm(queue))
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// connected makes end 0's socket of a job.
func (e *zmqEnd) connected(t zmq4.Type, at string) (*zmq4.Socket, error) {
	s, err := e.socket(t)
	if err != nil {
		return nil, err
	}
	if err := s.Connect(at); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Info says how ZeroMQ was set.
func (e *zmqEnd) Info() load.Info {
	major, minor, patch := zmq4.Version()
	return load.Info{Settings: fmt.Sprintf("libzmq %d.%d.%d through pebbe/zmq4 %s: one I/O thread, queues of %d messages, NODELAY (libzmq's own); REQ and REP, PUSH and PULL",
		major, minor, patch, version("github.com/pebbe/zmq4"), queue)}
}

// Close ends all.
func (e *zmqEnd) Close() (err error) {
	for _, s := range []*zmq4.Socket{e.reply, e.pull} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	if e.context != nil {
		err = errors.Join(err, e.context.Term())
	}
	return err
}

// Run does one job.
func (e *zmqEnd) Run(ctx context.Context, j load.Job) (load.Result, error) {
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
	return load.Result{}, fmt.Errorf("this end of ZeroMQ cannot %q", j.Kind)
}

// until calls f again while it waits in vain, and the job is not to stop.
func until(stop *load.Stop, f func() error) error {
	for {
		err := f()
		if zmq4.AsErrno(err) != zmq4.Errno(syscall.EAGAIN) || stop.Load() {
			return err
		}
	}
}

func (e *zmqEnd) ask(stop *load.Stop, j load.Job, b []byte) (load.Result, error) {
	s, err := e.connected(zmq4.REQ, e.at[0])
	if err != nil {
		return load.Result{}, err
	}
	defer s.Close()
	return ping(stop, j, func() error {
		if err := until(stop, func() error { _, err := s.SendBytes(b, 0); return err }); err != nil {
			return err
		}
		return until(stop, func() error {
			answer, err := s.RecvBytes(0)
			if err == nil && len(answer) != len(b) {
				err = fmt.Errorf("an answer of %d bytes to %d", len(answer), len(b))
			}
			return err
		})
	})
}

// answer answers until it is stopped.
func (e *zmqEnd) answer(stop *load.Stop) (r load.Result, err error) {
	var n load.Count
	defer func() { n.Fill(&r) }()
	for !stop.Load() {
		b, err := e.reply.RecvBytes(0)
		if zmq4.AsErrno(err) == zmq4.Errno(syscall.EAGAIN) {
			continue
		}
		if err == nil {
			_, err = e.reply.SendBytes(b, 0)
		}
		if err != nil {
			return r, err
		}
		n.Add(2)
	}
	return r, nil
}

func (e *zmqEnd) push(stop *load.Stop, b []byte) (load.Result, error) {
	s, err := e.connected(zmq4.PUSH, e.at[1])
	if err != nil {
		return load.Result{}, err
	}
	defer s.Close()
	return send(stop, func() error {
		return until(stop, func() error { _, err := s.SendBytes(b, 0); return err })
	})
}

// receive counts the round's messages.
func (e *zmqEnd) receive(stop *load.Stop, j load.Job) (load.Result, error) {
	m := load.NewMeter(j.For)
	for !stop.Load() {
		b, err := e.pull.RecvBytes(0)
		switch {
		case zmq4.AsErrno(err) == zmq4.Errno(syscall.EAGAIN):
		case err != nil:
			return m.Result(), err
		case roundOf(b) == j.Round && !m.Add(1, len(b)):
			return m.Result(), nil
		}
	}
	return m.Result(), nil
}
