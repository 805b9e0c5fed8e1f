// SPDX-License-Identifier: Apache-2.0

// Package suite has connections of the stack in the form in which package net has those of TCP, for
// the tests of other software: a copy of these calls this package in place of net. All of it is between two
// nodes of the kind that the environment names. See TestSuites.
package suite

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/nodes"
)

// Kind is the variable of the environment that has the nodes' kind.
const Kind = "UTIPC_TEST_KIND"

// server and client are the nodes; Run sets them.
var server, client *stack.Node

// names counts the listeners: each has a name of its own.
var names atomic.Uint32

// Run opens the nodes, runs m's tests and returns the process's exit code. It is for a TestMain.
func Run(m *testing.M) int {
	t := &process{}
	defer t.end()
	all := nodes.Open(t, nodes.Kind(os.Getenv(Kind)), 2)
	server, client = all[0], all[1]
	if err := client.WaitNodes(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	return m.Run()
}

// Listen is net.Listen on the server's node, with a name of its own whatever the address is. As one of TCP,
// the listener takes connections before Accept is called.
func Listen(string, string) (net.Listener, error) {
	name := stack.Service{Type: 18888, Instance: names.Add(1)}
	ln, err := stack.SocketConfig{AcceptAhead: true}.Listen(context.Background(), server, "tipc", name)
	if err != nil {
		return nil, err
	}
	return ln, client.WaitFor(context.Background(), name)
}

// ListenTCP is net.ListenTCP, as Listen.
func ListenTCP(network string, _ *net.TCPAddr) (net.Listener, error) { return Listen(network, "") }

// Dial is net.Dial on the client's node.
func Dial(_, address string) (net.Conn, error) {
	return client.DialContext(context.Background(), "tipc", address)
}

// DialTimeout is net.DialTimeout on the client's node.
func DialTimeout(_, address string, limit time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return client.DialContext(ctx, "tipc", address)
}

// After is time.After, ten times as late.
func After(d time.Duration) <-chan time.Time { return time.After(10 * d) }

// Pipe is net.Pipe, but that a write does not wait for the reader.
func Pipe() (net.Conn, net.Conn) {
	ln, err := Listen("", "")
	if err != nil {
		panic(err)
	}
	defer ln.Close()
	a, err := Dial("", ln.Addr().String())
	if err != nil {
		panic(err)
	}
	b, err := ln.Accept()
	if err != nil {
		panic(err)
	}
	return a, b
}

// A process is a testing.TB that lasts as long as the process, for what a TestMain opens.
type process struct {
	testing.TB
	cleanups []func()
}

func (*process) Helper()                    {}
func (*process) Context() context.Context   { return context.Background() }
func (p *process) Cleanup(f func())         { p.cleanups = append(p.cleanups, f) }
func (*process) Errorf(f string, as ...any) { fmt.Fprintf(os.Stderr, f+"\n", as...) }
func (*process) Fatal(as ...any)            { panic(fmt.Sprint(as...)) }

func (p *process) TempDir() string {
	dir, err := os.MkdirTemp("", "utipc-suite")
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (p *process) end() {
	for len(p.cleanups) > 0 {
		last := len(p.cleanups) - 1
		f := p.cleanups[last]
		p.cleanups = p.cleanups[:last]
		f()
	}
}
