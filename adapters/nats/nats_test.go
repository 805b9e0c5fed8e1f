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

// start starts a server that does not listen.
func start(t *testing.T) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{DontListen: true, NoLog: true, NoSigs: true})
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

// Two clients on two nodes talk through a server on a third: requests, and a long message; when
// the listener is closed those who are connected go on.
//
// Mutation it catches: join that copies one way; the end of the listener as an error.
func TestClients(t *testing.T) {
	nodes.Each(t, 3, func(t *testing.T, all []*stack.Node) {
		ln, err := all[0].Listen(t.Context(), "tipc", name)
		if err != nil {
			t.Fatal(err)
		}
		s, served := start(t), make(chan error, 1)
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
		answer := func(m *nats.Msg) { m.Respond(append(m.Data, '!')) }
		if _, err := clients[0].Subscribe("questions", answer); err != nil {
			t.Fatal(err)
		}
		if err := clients[0].Flush(); err != nil {
			t.Fatal(err)
		}
		ask := func(question string) {
			t.Helper()
			m, err := clients[1].Request("questions", []byte(question), limit)
			if err != nil || string(m.Data) != question+"!" {
				t.Fatalf("got %v, %v to %d bytes", m, err, len(question))
			}
		}
		for i := range 100 {
			ask(fmt.Sprint(i))
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
