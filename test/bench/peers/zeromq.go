// SPDX-License-Identifier: Apache-2.0

//go:build !nozmq

package main

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/pebbe/zmq4"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/worker"
)

var zmqPatterns = [...]zmq4.Type{request: zmq4.REQ, reply: zmq4.REP, push: zmq4.PUSH, pull: zmq4.PULL}

func openZeroMQ(o worker.Open) (load.Load, error) {
	c, err := zmq4.NewContext()
	if err != nil {
		return nil, err
	}
	major, minor, patch := zmq4.Version()
	return openQueues(o, 2, &queueEnd{
		socket: func(p pattern) (queueSocket, error) { return newZMQ(c, p) },
		end:    c.Term,
		settings: fmt.Sprintf("libzmq %d.%d.%d through pebbe/zmq4 %s: one I/O thread, queues of %d messages, NODELAY (libzmq's own); REQ and REP, PUSH and PULL",
			major, minor, patch, version("github.com/pebbe/zmq4"), queue),
	})
}

// A zmqSocket is a socket whose calls wait for no longer than look.
type zmqSocket struct{ s *zmq4.Socket }

func newZMQ(c *zmq4.Context, p pattern) (queueSocket, error) {
	s, err := c.NewSocket(zmqPatterns[p])
	if err != nil {
		return nil, err
	}
	err = errors.Join(s.SetLinger(0), s.SetRcvtimeo(look), s.SetSndtimeo(look), s.SetSndhwm(queue), s.SetRcvhwm(queue))
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return zmqSocket{s}, nil
}

func (z zmqSocket) Listen(at string) error { return z.s.Bind(at) }
func (z zmqSocket) Dial(at string) error   { return z.s.Connect(at) }
func (z zmqSocket) Close() error           { return z.s.Close() }

func (z zmqSocket) Send(b []byte) error {
	_, err := z.s.SendBytes(b, 0)
	return zmqAgain(err)
}

func (z zmqSocket) Receive() ([]byte, error) {
	b, err := z.s.RecvBytes(0)
	return b, zmqAgain(err)
}

// zmqAgain is errAgain of a call that waited in vain.
func zmqAgain(err error) error {
	if zmq4.AsErrno(err) == zmq4.Errno(syscall.EAGAIN) {
		return errAgain
	}
	return err
}
