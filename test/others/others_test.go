// SPDX-License-Identifier: Apache-2.0

// Package others runs software that others wrote over the stack, and over TCP or UDP in the same
// run. It is a module of its own, as what it runs is nothing for those who link the stack. What has
// an adapter is tested with that, in adapters/.
package others

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/nodes"
)

// limit is how long one piece of software may take in one place.
const limit = time.Minute

// A place is where software runs: a server's end and a client's.
type place struct {
	listen  func() (net.Listener, error)
	dial    func(ctx context.Context) (net.Conn, error)
	packets func() (server, client net.PacketConn, err error)
	host    string // of URLs; dial ignores it
}

// A software is one row of the table.
type software struct {
	name, module string // module: empty for the standard library
	what         string // what it does here
	by           string // how it is connected
	run          func(ctx context.Context, t *testing.T, p place)
}

var all = []software{
	{"net/http", "", "server, client, ReverseProxy, Shutdown", "Listener, DialContext", runHTTP1},
	{"net/http, HTTP/2", "", "the same, 10 requests at once", "Listener, DialContext", runHTTP2},
	{"gRPC", "google.golang.org/grpc", "calls, one after another", "Listener, DialContext", runGRPC},
	{"yamux", "github.com/hashicorp/yamux", "100 streams on a connection", "Listener, DialContext", runYamux},
	{"smux", "github.com/xtaci/smux", "100 streams on a connection", "Listener, DialContext", runSmux},
	{"ssh", "golang.org/x/crypto", "20 forwarded connections", "Listener, DialContext", runSSH},
	{"QUIC", "github.com/quic-go/quic-go", "100 streams on a connection", "ListenPacket", runQUIC},
}

var service = stack.Service{Type: 18888, Instance: 17}

// tipc is a place with the server on one node and the client on another, which have met.
func tipc(t *testing.T, kind nodes.Kind) place {
	two := nodes.Open(t, kind, 2)
	met := stack.Service{Type: 18888, Instance: 1}
	pc, err := two[0].ListenPacket(t.Context(), "tipcrdm", met)
	must(t, err)
	t.Cleanup(func() { pc.Close() })
	must(t, two[1].WaitFor(t.Context(), met))
	return place{
		listen: func() (net.Listener, error) {
			ln, err := two[0].Listen(t.Context(), "tipc", service)
			if err != nil {
				return nil, err
			}
			return ln, two[1].WaitFor(t.Context(), service)
		},
		dial: func(ctx context.Context) (net.Conn, error) { return two[1].DialContext(ctx, "tipc", service.String()) },
		packets: func() (server, client net.PacketConn, err error) {
			if server, err = two[0].ListenPacket(t.Context(), "tipcrdm", service); err != nil {
				return nil, nil, err
			}
			if client, err = two[1].ListenPacket(t.Context(), "tipcrdm", nil); err != nil {
				return nil, nil, err
			}
			return server, client, two[1].WaitFor(t.Context(), service)
		},
		host: service.String(),
	}
}

// loopback is a place on the loopback interface, by TCP and UDP.
func loopback(*testing.T) place {
	var address string
	return place{
		listen: func() (net.Listener, error) {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err == nil {
				address = ln.Addr().String()
			}
			return ln, err
		},
		dial: func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		},
		packets: func() (server, client net.PacketConn, err error) {
			if server, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
				return nil, nil, err
			}
			client, err = net.ListenPacket("udp", "127.0.0.1:0")
			return server, client, err
		},
		host: "127.0.0.1",
	}
}

// Each piece of software does its work on the loopback interface and over the stack, in memory, by
// UDP and attached. Printed is how long it took compared with the loopback interface in the same
// run; with UTIPC_UPDATE_DOCS=1 docs/reference/software.md is written.
//
// Mutation it catches: a PacketConn.WriteTo that drops what is for a socket's address.
func TestSoftware(t *testing.T) {
	took := map[string][]time.Duration{}
	for _, s := range all {
		run := func(t *testing.T, p place) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			begin := time.Now()
			s.run(ctx, t, p)
			took[s.name] = append(took[s.name], time.Since(begin))
		}
		t.Run(s.name+"/loopback", func(t *testing.T) { run(t, loopback(t)) })
		for _, kind := range nodes.Kinds {
			t.Run(fmt.Sprint(s.name, "/", kind), func(t *testing.T) { run(t, tipc(t, kind)) })
		}
		for i, d := range took[s.name] {
			if i > 0 {
				t.Logf("%s, %s: %v, ratio %.2f", s.name, nodes.Kinds[i-1], d.Round(time.Millisecond), float64(d)/float64(took[s.name][0]))
			}
		}
	}
	page(t, took)
}

// must ends the test with an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
