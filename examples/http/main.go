// SPDX-License-Identifier: Apache-2.0

// Http serves and asks over TIPC with package net/http as it is: a Listener is a
// net.Listener, and Node.DialContext fits http.Transport. The host of a URL is a service
// address: http://18888-80.tipc/ is instance 80 of type 18888, on whichever node has it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/utipc/utipc/examples/internal/cluster"
	"github.com/utipc/utipc/stack"
)

var web = stack.Service{Type: 18888, Instance: 80}

func main() { cluster.Main(2, serveAndAsk) }

func serveAndAsk(ctx context.Context, nodes []*stack.Node) error {
	ln, err := nodes[0].Listen(ctx, "tipc", web)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /greet/{name}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello, %s", r.PathValue("name"))
	})
	mux.HandleFunc("POST /count", func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, "%d bytes", n)
	})
	server := &http.Server{Handler: mux}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()

	if err := nodes[1].WaitFor(ctx, web); err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DialContext: nodes[1].DialContext}}
	for _, name := range []string{"alice", "bob"} {
		if err := show(client.Get("http://" + web.Host() + "/greet/" + name)); err != nil {
			return err
		}
	}
	body := io.LimitReader(zeros{}, 1<<20)
	if err := show(client.Post("http://"+web.Host()+"/count", "application/octet-stream", body)); err != nil {
		return err
	}
	client.CloseIdleConnections()

	if err := server.Shutdown(ctx); err != nil { // withdraws the name, and lets requests end
		return err
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// show prints an answer.
func show(r *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	fmt.Printf("%s %s: %s, %s\n", r.Request.Method, r.Request.URL, r.Status, b)
	return nil
}

// zeros is an endless file.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
