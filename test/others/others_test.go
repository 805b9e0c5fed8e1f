// SPDX-License-Identifier: Apache-2.0

// Package others runs software that others wrote over the stack, and over TCP or UDP in the same
// run. It is a module of its own, as what it runs is nothing for those who link the stack. What has
// an adapter is tested with that, in adapters/.
package others

import (
	"context"
	"fmt"
	"net"
	"slices"
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
	run          func(ctx context.Context, t testing.TB, p place)
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
func tipc(t testing.TB, kind nodes.Kind) place {
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
func loopback() place {
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
// UDP and attached. docs/reference/software.md has a row for each.
//
// Mutation it catches: a PacketConn.WriteTo that drops what is for a socket's address; the page has
// another version of yamux than go.mod.
func TestSoftware(t *testing.T) {
	for _, s := range all {
		t.Run(s.name+"/loopback", func(t *testing.T) { s.timed(t, loopback()) })
		for _, kind := range nodes.Kinds {
			t.Run(fmt.Sprint(s.name, "/", kind), func(t *testing.T) { s.timed(t, tipc(t, kind)) })
		}
	}
	comparePage(t)
}

// timed returns how long the work takes in a place.
func (s software) timed(t testing.TB, p place) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	begin := time.Now()
	s.run(ctx, t, p)
	return time.Since(begin)
}

// rounds is how often the work is done in each place, one place after the other.
const rounds = 5

// BenchmarkSoftware measures how long the work takes compared with the loopback interface: medians of
// five rounds. With UTIPC_UPDATE_DOCS=1 it writes them into docs/reference/software.md.
func BenchmarkSoftware(b *testing.B) {
	ratios := map[string][]float64{}
	for _, s := range all {
		b.Run(s.name, func(b *testing.B) {
			took := make([][]time.Duration, 1+len(nodes.Kinds))
			for range rounds {
				took[0] = append(took[0], s.timed(b, loopback()))
				for i, kind := range nodes.Kinds {
					o := &once{TB: b}
					took[i+1] = append(took[i+1], s.timed(o, tipc(o, kind)))
					o.end()
				}
			}
			for _, ds := range took {
				slices.Sort(ds)
			}
			base := took[0][rounds/2]
			ratios[s.name] = nil
			for i, kind := range nodes.Kinds {
				ratio := float64(took[i+1][rounds/2]) / float64(base)
				ratios[s.name] = append(ratios[s.name], ratio)
				b.ReportMetric(ratio, fmt.Sprint(kind, "/loopback"))
			}
			b.ReportMetric(base.Seconds()*1000, "ms-loopback")
			b.ReportMetric(0, "ns/op")
		})
	}
	updatePage(b, ratios)
}

// A once is a testing.TB of which some part ends before the rest.
type once struct {
	testing.TB
	cleanups []func()
}

func (o *once) Cleanup(f func()) { o.cleanups = append(o.cleanups, f) }

func (o *once) end() {
	for _, f := range slices.Backward(o.cleanups) {
		f()
	}
}

// must ends the test with an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
