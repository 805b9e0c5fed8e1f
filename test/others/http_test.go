// SPDX-License-Identifier: Apache-2.0

package others

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"golang.org/x/sync/errgroup"
)

func runHTTP1(ctx context.Context, t testing.TB, p place) { runHTTP(ctx, t, p, 1, new(http.Protocols)) }

func runHTTP2(ctx context.Context, t testing.TB, p place) {
	only := new(http.Protocols)
	only.SetUnencryptedHTTP2(true)
	runHTTP(ctx, t, p, 10, only)
}

// runHTTP asks a server, itself and through a proxy, several requests at once, and ends it while
// a request is under way.
func runHTTP(ctx context.Context, t testing.TB, p place, atOnce int, only *http.Protocols) {
	if *only == (http.Protocols{}) {
		only.SetHTTP1(true)
	}
	begun, finish := make(chan bool, 1), make(chan bool)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body) // first: HTTP/1 ends the request's body with the first answer
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Write(b)
	})
	mux.HandleFunc("GET /slow", func(w http.ResponseWriter, _ *http.Request) {
		begun <- true
		<-finish
		io.WriteString(w, "done")
	})
	ln, err := p.listen()
	must(t, err)
	server := &http.Server{Handler: mux, Protocols: only}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	transport := &http.Transport{
		Protocols:   only,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return p.dial(ctx) },
	}
	defer transport.CloseIdleConnections()
	direct := "http://" + p.host
	origin, err := url.Parse(direct)
	must(t, err)
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Transport: transport,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(origin) },
	})
	defer proxy.Close()

	client := &http.Client{Transport: transport}
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range 300 {
		group.Go(func() error { return echo(ctx, client, direct, bytes.Repeat([]byte{byte(i)}, 1000)) })
	}
	for i := range 4 {
		group.Go(func() error { return echo(ctx, client, direct, bytes.Repeat([]byte{byte(i)}, 1<<20)) })
		group.Go(func() error { return echo(ctx, proxy.Client(), proxy.URL, bytes.Repeat([]byte{byte(i)}, 1<<16)) })
	}
	must(t, group.Wait())

	answer, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		r, err := client.Get(direct + "/slow")
		if err == nil {
			var b []byte
			if b, err = io.ReadAll(r.Body); err == nil && string(b) != "done" {
				err = fmt.Errorf("the last answer is %q", b)
			}
			r.Body.Close()
		}
		answer <- err
	}()
	<-begun
	go func() { ended <- server.Shutdown(ctx) }()
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("the server ended with %v", err)
	}
	close(finish)
	must(t, errors.Join(<-answer, <-ended))
}

// echo posts a body, which must come back.
func echo(ctx context.Context, c *http.Client, host string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, "POST", host+"/echo", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r, err := c.Do(request)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	got, err := io.ReadAll(r.Body)
	if err == nil && !bytes.Equal(got, body) {
		err = fmt.Errorf("%s: of %d bytes came back %d, others", r.Status, len(body), len(got))
	}
	return err
}
