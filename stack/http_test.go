// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

// A URL has a service as its host, with a port or without, and the URL that httptest makes
// of a Listener is one that a client on another node gets.
//
// Mutations it catches: DialContext that leaves the port; that takes every colon for one;
// Listener.Addr that returns the socket.
//
// Proves: wire.addresses
func TestHTTPHosts(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	for i, start := range []func(*httptest.Server){(*httptest.Server).Start, (*httptest.Server).StartTLS} {
		name := stack.Service{Type: 18888, Instance: uint32(17 + i)} // that of the one before may not be gone yet
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path, " of ", r.Host) }))
		s.Listener.Close() // httptest always makes one
		l := must.Get(a.Listen(within(t), "tipc", name))
		s.Listener = l
		start(s)
		if err := b.WaitFor(within(t), name); err != nil {
			t.Fatal(err)
		}
		client := s.Client()
		transport := client.Transport.(*http.Transport)
		transport.DialContext = b.DialContext
		scheme := "http://"
		if s.TLS != nil {
			transport.TLSClientConfig.ServerName = "example.com" // which httptest's certificate is for
			scheme = "https://"
		}
		scoped := stack.Service{Type: name.Type, Instance: name.Instance, Node: a.Addr()}
		for _, host := range []string{name.Host(), name.Host() + ":8080", scoped.Host(), l.LocalAddr().(stack.SocketAddr).Host(), name.String(), s.URL} {
			host = strings.TrimPrefix(host, scheme)
			r, err := client.Get(scheme + host + "/a")
			if err != nil {
				t.Error(err)
				continue
			}
			body, err := io.ReadAll(r.Body)
			r.Body.Close()
			if want := "/a of " + host; err != nil || string(body) != want {
				t.Errorf("%s: got %q, %v, want %q", host, body, err, want)
			}
		}
		client.CloseIdleConnections()
		s.Close()
	}
}
