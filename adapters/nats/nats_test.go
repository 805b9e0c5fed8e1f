// SPDX-License-Identifier: Apache-2.0

package tipcnats_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	tipcnats "github.com/utipc/utipc/adapters/nats"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/nodes"
)

const limit = time.Minute // for anything to happen

var name = stack.Service{Type: 18888, Instance: 4222}

// start starts a server.
func start(t *testing.T, o server.Options) *server.Server {
	t.Helper()
	o.NoLog, o.NoSigs = true, true
	s, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(limit) {
		t.Fatal("the server is not ready")
	}
	return s
}

// requests has one client ask another, and returns how long that took.
func requests(t *testing.T, from, to *nats.Conn) time.Duration {
	t.Helper()
	const most = 1000
	if _, err := to.Subscribe("questions", func(m *nats.Msg) { m.Respond(append(m.Data, '!')) }); err != nil {
		t.Fatal(err)
	}
	if err := to.Flush(); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	for i := range most {
		question := fmt.Sprint(i)
		if m, err := from.Request("questions", []byte(question), limit); err != nil || string(m.Data) != question+"!" {
			t.Fatalf("got %v, %v to %q", m, err, question)
		}
	}
	return time.Since(begin)
}

// overTCP is requests over the loopback interface.
func overTCP(t *testing.T) time.Duration {
	t.Helper()
	s := start(t, server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT})
	var clients [2]*nats.Conn
	for i := range clients {
		var err error
		if clients[i], err = nats.Connect(s.ClientURL()); err != nil {
			t.Fatal(err)
		}
		defer clients[i].Close()
	}
	return requests(t, clients[1], clients[0])
}

// Two clients on two nodes talk through a server on a third: requests, and a long message; when
// the listener is closed those who are connected go on. Printed is how long the requests took, compared with
// NATS over TCP.
//
// Mutation it catches: join that copies one way; the end of the listener as an error.
func TestClients(t *testing.T) {
	tcp := overTCP(t)
	nodes.Each(t, 3, func(t *testing.T, all []*stack.Node) {
		ln, err := all[0].Listen(t.Context(), "tipc", name)
		if err != nil {
			t.Fatal(err)
		}
		s, served := start(t, server.Options{DontListen: true}), make(chan error, 1)
		go func() { served <- tipcnats.Serve(ln, s) }()
		var clients [2]*nats.Conn
		for i := range clients {
			if err := all[i+1].WaitFor(t.Context(), name); err != nil {
				t.Fatal(err)
			}
			if clients[i], err = nats.Connect("nats://"+name.String(), tipcnats.Options(all[i+1])...); err != nil {
				t.Fatal(err)
			}
			defer clients[i].Close()
		}
		took := requests(t, clients[1], clients[0])
		t.Logf("requests: %v, ratio to TCP %.2f", took.Round(time.Millisecond), float64(took)/float64(tcp))
		ask := func(question string) {
			t.Helper()
			m, err := clients[1].Request("questions", []byte(question), limit)
			if err != nil || string(m.Data) != question+"!" {
				t.Fatalf("got %v, %v to %d bytes", m, err, len(question))
			}
		}
		ask(string(make([]byte, 500_000)))
		if err := ln.Close(); err != nil {
			t.Fatal(err)
		}
		ask("and now?")
		for _, c := range clients {
			c.Close()
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
